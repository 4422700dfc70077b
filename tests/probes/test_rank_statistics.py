"""Kendall's tau and its null are the count of all orders; ROC and calibration are what they are by definition."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from probes import statistics


def test_kendall_is_one_for_the_same_order_and_minus_one_for_the_reverse():
    assert statistics.kendall_tau([0, 1, 2, 3]) == 1
    assert statistics.kendall_tau([3, 2, 1, 0]) == -1
    assert statistics.kendall_tau([1, 0, 2, 3]) == pytest.approx(2 / 3)


def test_the_null_of_kendall_is_the_count_of_all_orders():
    taus = np.array([statistics.kendall_tau(order) for order in permutations(range(5))])
    values, probabilities = statistics.kendall_null(5)
    assert probabilities.tolist() == pytest.approx([np.isclose(taus, value).mean() for value in values])
    assert statistics.kendall_p_value(0.6, 5) == pytest.approx((taus >= 0.6 - 1e-9).mean())
    assert statistics.kendall_null_magnitude(5) == pytest.approx(np.abs(taus).mean())


def test_the_null_interval_is_the_smallest_that_holds_its_level():
    taus = np.array([statistics.kendall_tau(order) for order in permutations(range(5))])
    low, high = statistics.kendall_null_interval(5)
    assert low == -high
    assert (np.abs(taus) <= high + 1e-9).mean() >= 0.95 > (np.abs(taus) < high - 1e-9).mean()


def test_the_area_under_the_roc_curve_is_scikit_learns_with_ties():
    rng = np.random.default_rng(2)
    labels = rng.random(500) < 0.5
    scores = (rng.random(500) + labels * 0.4).round(1)
    assert statistics.auc(*statistics.roc_curve(scores, labels)) == pytest.approx(roc_auc_score(labels, scores))


def test_the_calibration_error_weighs_each_bin_by_its_count():
    error = statistics.expected_calibration_error(np.array([0.1, 0.9]), np.array([0.2, 0.5]), np.array([3, 1]))
    assert error == pytest.approx((3 * 0.1 + 1 * 0.4) / 4)
