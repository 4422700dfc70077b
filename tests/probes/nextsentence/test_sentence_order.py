"""A document's matrix is its single pairs; a planted order is recovered and a random one is not."""

from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np
import pytest

from model import InputError
from probes import nextsentence, statistics
from probes.nextsentence import lexical_overlap, sentence_order

STORY = ["The old dog lay down by the fire.", "It was soon asleep.", "My sister put another log on."]


def planted(order: list[int], noise: float = 0.0) -> np.ndarray:
    """Scores in which each sentence is followed best by the one after it in `order`."""
    scores = np.random.default_rng(0).normal(0, noise or 1e-9, (len(order), len(order)))
    for first, second in pairwise(order):
        scores[first, second] += 5
    np.fill_diagonal(scores, np.nan)
    return scores


def test_the_matrix_is_made_of_single_calls(english):
    matrix = nextsentence.to_probability(sentence_order.matrix(english, STORY))
    for i, a in enumerate(STORY):
        for j, b in enumerate(STORY):
            if i == j:
                assert np.isnan(matrix[i, j])
            else:
                assert matrix[i, j] == pytest.approx(nextsentence.probability(english, a, b), abs=1e-5)


@pytest.mark.parametrize("method", [sentence_order.greedy, sentence_order.optimal])
def test_a_planted_order_is_recovered(method):
    scores = planted([3, 0, 4, 1, 2, 6, 5], noise=0.5)
    assert method(scores) == (3, 0, 4, 1, 2, 6, 5)
    assert sentence_order.recover(scores, method).order == (3, 0, 4, 1, 2, 6, 5)


def test_the_best_order_is_the_best_of_all_orders():
    scores = np.random.default_rng(4).normal(size=(6, 6))
    np.fill_diagonal(scores, np.nan)

    def total(order: Sequence[int]) -> float:
        return sum(scores[first, second] for first, second in pairwise(order))

    assert total(sentence_order.optimal(scores)) == pytest.approx(max(map(total, permutations(range(6)))))
    assert total(sentence_order.greedy(scores)) <= total(sentence_order.optimal(scores)) + 1e-12
    assert sorted(sentence_order.greedy(scores)) == list(range(6))


def test_the_links_of_an_order_add_up_to_the_probability_of_all_of_them():
    differences = np.array([0.0, 2.0, -3.0, np.nan])
    log_probabilities = sentence_order.log_probabilities(differences)
    assert np.allclose(np.exp(log_probabilities[:3]), nextsentence.to_probability(differences[:3]))
    assert np.isnan(log_probabilities[3])


def test_the_true_next_sentence_is_counted_where_it_is_first_in_its_row():
    assert sentence_order.successor_accuracy(planted([0, 1, 2, 3])) == 1
    assert sentence_order.successor_accuracy(planted([3, 2, 1, 0])) == 0
    constant = np.zeros((4, 4))
    np.fill_diagonal(constant, np.nan)
    assert sentence_order.successor_accuracy(constant) == pytest.approx(1 / 3)


def test_shared_words_recover_a_chain_up_to_its_direction():
    chain = ["red blue", "blue green green", "green white", "white black"]
    assert sentence_order.by_overlap(chain) == 1


def test_scores_that_are_all_equal_do_not_give_the_true_order_away():
    unrelated = [f"{name} {name}" for name in ("red", "blue", "green", "white", "black", "pink", "brown", "grey")]
    assert sentence_order.by_overlap(unrelated) < statistics.kendall_null_magnitude(8) + 0.15
    constant = np.zeros((8, 8))
    np.fill_diagonal(constant, np.nan)
    for method in (sentence_order.greedy, sentence_order.undirected, sentence_order.optimal):
        recovered = [sentence_order.recover(constant, method, seed) for seed in range(12)]
        assert len({result.order for result in recovered}) > 1
        assert abs(np.mean([result.tau for result in recovered])) < 0.4


def test_a_document_of_a_planted_order_is_put_in_order_beside_its_null():
    chain = ["red blue", "blue green green", "green white", "white black"]
    result = sentence_order.put_in_order(planted([0, 1, 2, 3]), chain)
    assert result.best.order == (0, 1, 2, 3)
    assert result.agreement.taus == result.taus == {"greedy": 1, "exact": 1, sentence_order.OVERLAP: 1}
    assert result.agreement.null_interval == statistics.kendall_null_interval(4)
    assert result.p_value == pytest.approx(1 / 24)
    assert result.successor_accuracy == 1
    assert result.overlap_successor_accuracy == sentence_order.successor_accuracy(lexical_overlap.matrix(chain))
    assert result.chance_successor_accuracy == pytest.approx(1 / 3)


def test_a_long_document_is_put_in_order_without_the_exact_search():
    count = sentence_order.EXACT + 1
    result = sentence_order.put_in_order(planted(list(range(count))), [f"word{index}" for index in range(count)])
    assert list(result.recovered) == ["greedy"]
    assert list(result.taus) == ["greedy", sentence_order.OVERLAP]
    assert result.best.tau == 1


@pytest.mark.parametrize(
    "sentences, message",
    [
        (STORY[:1], "at least two sentences"),
        (STORY * 200, "600 sentences"),
        ([*STORY, "ᚠᚢᚦ ᚨᚱᚲ."], "no word of sentence 4"),
        ([STORY[0], "dog " * 300], "Sentence 2 has 300 wordpieces"),
    ],
)
def test_what_cannot_be_ordered_is_refused(english, sentences, message):
    with pytest.raises(InputError, match=message):
        sentence_order.matrix(english, sentences)


def test_more_than_ten_sentences_have_no_exact_order():
    with pytest.raises(InputError, match="at most 10"):
        sentence_order.optimal(planted(list(range(11))))
