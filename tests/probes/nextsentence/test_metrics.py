"""Marks on data whose marks are known."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from probes.nextsentence import metrics


def test_a_calibrated_answer_has_no_calibration_error():
    probability = np.repeat([0.05, 0.25, 0.75], [400, 400, 400])
    truth = np.concatenate([np.arange(400) < 400 * p for p in (0.05, 0.25, 0.75)])
    found = metrics.given(probability, truth)
    assert found.error == pytest.approx(0, abs=1e-9)
    assert found.bins.said == pytest.approx(found.bins.true)
    assert list(found.bins.count) == [400, 400, 400]


def test_one_who_is_always_sure_and_right_half_the_time_errs_by_a_half():
    truth = np.arange(100) % 2 == 0
    assert metrics.given(np.ones(100), truth).error == pytest.approx(0.5)


def test_too_sure_and_too_unsure_do_not_cancel_out():
    truth = np.arange(200) % 2 == 0
    assert metrics.given(np.repeat([0.9, 0.1], 100), truth).error == pytest.approx(0.4)


def test_accuracy_and_its_interval():
    truth = np.arange(100) % 2 == 0
    right = np.arange(100) < 80
    found = metrics.given(np.where(right == truth, 0.9, 0.1), truth)
    assert found.accuracy == 0.8
    assert found.interval == pytest.approx((0.7112, 0.8666), abs=1e-3)


def test_the_area_is_scikit_learns_with_ties():
    generator = np.random.default_rng(2)
    truth = generator.random(500) < 0.5
    score = (generator.random(500) + truth * 0.4).round(1)
    found = metrics.given(np.clip(score / 1.4, 0, 1), truth)
    assert found.area == pytest.approx(roc_auc_score(truth, score))
    assert found.false_positive[0] == found.true_positive[0] == 0
    assert found.false_positive[-1] == found.true_positive[-1] == 1


def test_a_telling_score_becomes_probabilities_and_a_random_one_stays_near_the_middle():
    generator = np.random.default_rng(3)
    truth = np.arange(600) % 2 == 0
    telling = metrics.given(metrics.fitted(truth + generator.normal(0, 0.3, 600), truth), truth)
    nothing = metrics.given(metrics.fitted(generator.normal(0, 1, 600), truth), truth)
    assert telling.accuracy > 0.9 and telling.error < 0.05
    assert 0.4 < nothing.accuracy < 0.6 and nothing.error < 0.08


def test_a_score_that_never_differs_says_one_half():
    truth = np.arange(40) % 2 == 0
    assert metrics.fitted(np.zeros(40), truth) == pytest.approx(0.5, abs=0.16)
