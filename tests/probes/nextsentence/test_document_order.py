"""A document as the page shows it: the parts of the answer are those of the single functions."""

import numpy as np

from probes import statistics
from probes.nextsentence import lexical_overlap, sentence_order

SENTENCES = ["The cat sat.", "The cat slept.", "A dog came.", "The dog barked."]


def test_planted_links_give_the_true_order_and_the_numbers_of_chance(tmp_path):
    margins = np.full((4, 4), -2.0)
    margins[np.arange(3), np.arange(1, 4)] = 3.0
    np.fill_diagonal(margins, np.nan)
    document = sentence_order.put_in_order(margins, SENTENCES)
    assert document.best.order == (0, 1, 2, 3)
    assert document.successor_accuracy == 1.0
    assert document.p_value == statistics.kendall_p_value(1.0, 4)
    assert document.overlap_successor_accuracy == sentence_order.successor_accuracy(lexical_overlap.matrix(SENTENCES))
    assert list(document.taus) == ["greedy", "exact", "shared words"]
    assert document.taus["shared words"] == sentence_order.by_overlap(SENTENCES)
    np.save(tmp_path / "margins.npy", margins[~np.eye(4, dtype=bool)])
    np.testing.assert_array_equal(sentence_order.read_matrix(tmp_path / "margins.npy"), margins)


def test_a_document_too_long_for_all_orders_is_ordered_greedily():
    count = sentence_order.EXACT + 1
    sentences = [f"Sentence {number}." for number in range(count)]
    assert list(sentence_order.put_in_order(np.zeros((count, count)), sentences).recovered) == ["greedy"]
