"""Intervals that are never a point, hold what they should, and tell two apart only where they are."""

import numpy as np
import pytest

from probes import statistics
from probes.probing import baselines


def test_wilsons_interval_is_the_one_in_the_tables():
    assert statistics.wilson(50, 50) == pytest.approx((0.9287, 1), abs=1e-4)
    assert statistics.wilson(80, 100) == pytest.approx((0.7112, 0.8666), abs=1e-4)
    assert statistics.wilson(0, 10)[0] == 0


@pytest.mark.parametrize("right", [0, 1])
def test_where_all_answers_agree_the_interval_is_not_a_point(right):
    low, high = baselines.interval(np.full(50, right), np.arange(50) // 5)
    assert (low, high) == pytest.approx(statistics.wilson(50 * right, 50)) and high - low > 0.05


def test_one_wrong_answer_does_not_make_the_interval_narrower_than_none():
    sentences = np.arange(200) // 10
    none = baselines.interval(np.ones(200), sentences)
    one = baselines.interval(np.arange(200) > 0, sentences)
    assert one[1] - one[0] >= none[1] - none[0]


def test_answers_that_lean_on_each_other_make_the_interval_wider():
    sentences = np.arange(600) // 20
    apart, together = np.arange(600) % 2, sentences % 2
    widths = [high - low for low, high in (baselines.interval(one, sentences) for one in (apart, together))]
    assert widths[1] > 2 * widths[0]


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    draw, held = np.random.default_rng(0), 0
    for _ in range(200):
        hits = draw.binomial(8, 0.8, size=60)
        low, high = statistics.bootstrap(hits, np.full(60, 8), draws=300)
        held += low <= 0.8 <= high
    assert 180 <= held <= 200


def test_a_paired_difference_is_surer_than_two_intervals():
    draw = np.random.default_rng(0)
    sizes = np.full(200, 10)
    first = draw.binomial(10, draw.beta(8, 2, 200))  # sentences are of very different hardness
    second = np.minimum(10, first + draw.binomial(1, 0.3, 200))
    difference, low, high = statistics.paired(first, second, sizes)
    assert low < difference < high and difference == pytest.approx((second.sum() - first.sum()) / 2000)
    one, other = (statistics.bootstrap(hits, sizes) for hits in (first, second))
    assert low > 0 and one[1] > other[0]  # told apart, though the two intervals overlap


def test_two_that_answer_alike_cannot_be_told_apart_and_neither_interval_is_a_point():
    hits, sizes = np.full(30, 4), np.full(30, 5)
    difference, low, high = statistics.paired(hits, hits, sizes)
    assert difference == 0 and low < 0 < high
    difference, low, high = statistics.paired(np.zeros(30, int), sizes, sizes)
    assert difference == 1 and 0.9 < low < high
