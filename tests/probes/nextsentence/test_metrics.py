"""Metrics on data whose metrics are known."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from probes.nextsentence import metrics


def test_a_calibrated_prediction_has_no_calibration_error():
    probability = np.repeat([0.05, 0.25, 0.75], [400, 400, 400])
    truth = np.concatenate([np.arange(400) < 400 * p for p in (0.05, 0.25, 0.75)])
    result = metrics.binary(probability, truth)
    assert result.expected_calibration_error == pytest.approx(0, abs=1e-9)
    assert result.bins.predicted == pytest.approx(result.bins.observed)
    assert list(result.bins.count) == [400, 400, 400]


def test_full_confidence_and_half_correct_is_an_error_of_a_half():
    truth = np.arange(100) % 2 == 0
    assert metrics.binary(np.ones(100), truth).expected_calibration_error == pytest.approx(0.5)


def test_too_high_and_too_low_do_not_cancel_out():
    truth = np.arange(200) % 2 == 0
    assert metrics.binary(np.repeat([0.9, 0.1], 100), truth).expected_calibration_error == pytest.approx(0.4)


def test_accuracy_and_its_interval():
    truth = np.arange(100) % 2 == 0
    correct = np.arange(100) < 80
    result = metrics.binary(np.where(correct == truth, 0.9, 0.1), truth)
    assert result.accuracy == 0.8
    assert result.interval == pytest.approx((0.7112, 0.8666), abs=1e-3)


def test_the_area_is_scikit_learns_with_ties():
    rng = np.random.default_rng(2)
    truth = rng.random(500) < 0.5
    score = (rng.random(500) + truth * 0.4).round(1)
    result = metrics.binary(np.clip(score / 1.4, 0, 1), truth)
    assert result.auc == pytest.approx(roc_auc_score(truth, score))
    assert result.false_positive[0] == result.true_positive[0] == 0
    assert result.false_positive[-1] == result.true_positive[-1] == 1


def test_an_informative_score_becomes_probabilities_and_a_random_one_stays_near_the_middle():
    rng = np.random.default_rng(3)
    truth = np.arange(600) % 2 == 0
    informative = metrics.binary(metrics.cross_fitted(truth + rng.normal(0, 0.3, 600), truth), truth)
    noise = metrics.binary(metrics.cross_fitted(rng.normal(0, 1, 600), truth), truth)
    assert informative.accuracy > 0.9
    assert informative.expected_calibration_error < 0.05
    assert 0.4 < noise.accuracy < 0.6
    assert noise.expected_calibration_error < 0.08


def test_a_constant_score_gives_one_half():
    truth = np.arange(40) % 2 == 0
    assert metrics.cross_fitted(np.zeros(40), truth) == pytest.approx(0.5, abs=0.16)
