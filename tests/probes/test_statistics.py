"""Intervals hold what they should and are never a point; rank correlations are those of the textbooks."""

import numpy as np
import pytest

from probes import statistics
from probes.statistics import bootstrap_interval, count_by_sentence, paired_bootstrap, wilson_interval


def test_wilsons_interval_is_the_one_in_the_tables():
    assert wilson_interval(50, 50) == pytest.approx((0.9287, 1), abs=1e-4)
    assert wilson_interval(80, 100) == pytest.approx((0.7112, 0.8666), abs=1e-4)
    assert wilson_interval(0, 10)[0] == 0


def test_wilsons_interval_holds_the_share_and_narrows_with_the_count():
    low, high = wilson_interval(10, 100)
    assert low < 0.1 < high
    narrow_low, narrow_high = wilson_interval(1000, 10000)
    assert narrow_high - narrow_low < (high - low) / 5


def test_answers_are_counted_sentence_by_sentence():
    n_correct, sizes = count_by_sentence(np.array([1, 0, 1, 1]), np.array([7, 7, 3, 7]))
    assert n_correct.tolist() == [1, 2]
    assert sizes.tolist() == [1, 3]


@pytest.mark.parametrize("correct", [0, 1])
def test_where_all_answers_agree_the_interval_is_not_a_point(correct):
    low, high = bootstrap_interval(*count_by_sentence(np.full(50, correct), np.arange(50) // 5))
    assert (low, high) == pytest.approx(wilson_interval(50 * correct, 50))
    assert high - low > 0.05


def test_one_wrong_answer_does_not_make_the_interval_narrower_than_none():
    sentences = np.arange(200) // 10
    no_error = bootstrap_interval(*count_by_sentence(np.ones(200), sentences))
    one_error = bootstrap_interval(*count_by_sentence(np.arange(200) > 0, sentences))
    assert one_error[1] - one_error[0] >= no_error[1] - no_error[0]


def test_answers_that_depend_on_each_other_make_the_interval_wider():
    sentences = np.arange(600) // 20
    independent, dependent = np.arange(600) % 2, sentences % 2
    narrow, wide = (bootstrap_interval(*count_by_sentence(correct, sentences)) for correct in (independent, dependent))
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def test_an_interval_holds_the_mean_and_narrows_with_more_sentences():
    correct = np.random.default_rng(0).random(4000) < 0.8
    wide, narrow = (bootstrap_interval(*count_by_sentence(correct[:n], np.arange(n) // 10)) for n in (400, 4000))
    assert wide[0] < correct[:400].mean() < wide[1]
    assert narrow[0] < correct.mean() < narrow[1]
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        n_correct = rng.binomial(8, 0.8, size=60)
        low, high = bootstrap_interval(n_correct, np.full(60, 8), draws=300)
        covered += low <= 0.8 <= high
    assert 180 <= covered <= 200


def test_a_paired_difference_is_surer_than_two_intervals():
    rng, sizes = np.random.default_rng(0), np.full(200, 10)
    first = rng.binomial(10, rng.beta(8, 2, 200))  # sentences are of very different difficulty
    second = np.minimum(10, first + rng.binomial(1, 0.3, 200))
    difference, low, high = paired_bootstrap(first, second, sizes)
    assert difference == pytest.approx((second.sum() - first.sum()) / 2000)
    assert 0 < low < difference < high
    first_interval, second_interval = (bootstrap_interval(n_correct, sizes) for n_correct in (first, second))
    assert first_interval[1] > second_interval[0], "the two intervals overlap"


def test_two_that_answer_alike_cannot_be_distinguished_and_neither_interval_is_a_point():
    n_correct, sizes = np.full(30, 4), np.full(30, 5)
    difference, low, high = paired_bootstrap(n_correct, n_correct, sizes)
    assert difference == 0
    assert low < 0 < high
    difference, low, high = paired_bootstrap(np.zeros(30, int), sizes, sizes)
    assert difference == 1
    assert 0.9 < low < high


def test_spearman_is_a_correlation_of_ranks():
    rows = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]])
    columns = np.array([[10.0, 200, 300, 4000], [4, 3, 2, 1], [1, 1, 2, 2]])
    np.testing.assert_allclose(statistics.spearman(rows, columns), [1, -1, 0.8944], atol=1e-4)
