"""A document's matrix is its single pairs; a planted order is found again; chance is known exactly."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from model import InputProblem
from probes import nextsentence
from probes.nextsentence import sentence_order

STORY = ["The old dog lay down by the fire.", "It was soon asleep.", "My sister put another log on."]


def planted(true: list[int], noise: float = 0.0) -> np.ndarray:
    """Scores in which each sentence is followed best by the one after it in `true`."""
    scores = np.random.default_rng(0).normal(0, noise or 1e-9, (len(true), len(true)))
    for first, second in pairwise(true):
        scores[first, second] += 5
    np.fill_diagonal(scores, np.nan)
    return scores


def test_the_matrix_is_made_of_single_calls(english):
    matrix = nextsentence.probabilities(sentence_order.matrix(english, STORY))
    for i, a in enumerate(STORY):
        for j, b in enumerate(STORY):
            if i == j:
                assert np.isnan(matrix[i, j])
            else:
                assert matrix[i, j] == pytest.approx(nextsentence.probability(english, a, b), abs=1e-5)


@pytest.mark.parametrize("method", [sentence_order.greedy, sentence_order.best])
def test_a_planted_order_is_found_again(method):
    scores = planted([3, 0, 4, 1, 2, 6, 5], noise=0.5)
    assert method(scores) == (3, 0, 4, 1, 2, 6, 5)
    assert sentence_order.recovered(scores, method).order == (3, 0, 4, 1, 2, 6, 5)


def test_the_best_order_is_the_best_of_all_orders():
    scores = np.random.default_rng(4).normal(size=(6, 6))
    np.fill_diagonal(scores, np.nan)

    def total(chosen):
        return sum(scores[a, b] for a, b in pairwise(chosen))

    assert total(sentence_order.best(scores)) == pytest.approx(max(map(total, permutations(range(6)))))
    assert total(sentence_order.greedy(scores)) <= total(sentence_order.best(scores)) + 1e-12
    assert sorted(sentence_order.greedy(scores)) == list(range(6))


def test_kendall_is_one_for_the_same_and_minus_one_for_the_reverse():
    assert sentence_order.tau([0, 1, 2, 3]) == 1
    assert sentence_order.tau([3, 2, 1, 0]) == -1
    assert sentence_order.tau([1, 0, 2, 3]) == pytest.approx(2 / 3)


def test_chance_is_the_count_of_all_orders():
    values = np.array([sentence_order.tau(chosen) for chosen in permutations(range(5))])
    assert sentence_order.as_good_by_chance(0.6, 5) == pytest.approx((values >= 0.6 - 1e-9).mean())
    assert sentence_order.chance_size(5) == pytest.approx(np.abs(values).mean())
    band = sentence_order.chance_band(5)
    assert (np.abs(values) <= band + 1e-9).mean() >= 0.95 > (np.abs(values) < band - 1e-9).mean()


def test_the_links_of_an_order_add_up_to_the_probability_of_all_of_them():
    margins = np.array([0.0, 2.0, -3.0, np.nan])
    assert np.allclose(np.exp(sentence_order.links(margins)[:3]), nextsentence.probabilities(margins[:3]))
    assert np.isnan(sentence_order.links(margins)[3])


def test_the_true_next_sentence_is_counted_where_it_is_first_in_its_row():
    assert sentence_order.true_next_first(planted([0, 1, 2, 3])) == 1
    assert sentence_order.true_next_first(planted([3, 2, 1, 0])) == 0
    level = np.zeros((4, 4))
    np.fill_diagonal(level, np.nan)
    assert sentence_order.true_next_first(level) == pytest.approx(1 / 3)


def test_shared_words_recover_a_chain_up_to_its_direction():
    chain = ["red blue", "blue green green", "green white", "white black"]
    assert sentence_order.by_overlap(chain) == 1


def test_scores_that_are_all_equal_do_not_give_the_true_order_away():
    nothing = [f"{name} {name}" for name in ("red", "blue", "green", "white", "black", "pink", "brown", "grey")]
    assert sentence_order.by_overlap(nothing) < sentence_order.chance_size(8) + 0.15
    level = np.zeros((8, 8))
    np.fill_diagonal(level, np.nan)
    for method in (sentence_order.greedy, sentence_order.undirected, sentence_order.best):
        found = [sentence_order.recovered(level, method, seed) for seed in range(12)]
        assert len({one.order for one in found}) > 1
        assert abs(np.mean([one.tau for one in found])) < 0.4


@pytest.mark.parametrize("sentences, said", [
    (STORY[:1], "at least two sentences"), (STORY * 200, "600 sentences"),
    ([*STORY, "ᚠᚢᚦ ᚨᚱᚲ."], "no word of sentence 4"), ([STORY[0], "dog " * 300], "Sentence 2 has 300 wordpieces"),
])
def test_what_cannot_be_ordered_is_said(english, sentences, said):
    with pytest.raises(InputProblem, match=said):
        sentence_order.matrix(english, sentences)


def test_more_than_ten_sentences_have_no_exact_order():
    with pytest.raises(InputProblem, match="at most 10"):
        sentence_order.best(planted(list(range(11))))
