"""Two sides are matched on what they share, and nothing is compared that cannot be."""

import numpy as np
import pytest

import model
from model import Bert, BertConfig, tokenizer
from probes import comparison


@pytest.fixture(scope="module")
def coarse() -> Bert:
    """A model over other pieces than `tiny_bert`: whole words where that has pieces, and one layer more."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = "the cat sat on mat playing lik ##es he . new york".split()
    pieces = tokenizer.from_vocabulary([*words, *letters, *(f"##{letter}" for letter in letters)])
    return Bert.random_init(BertConfig(pieces.vocab_size, 24, 3, 2, 48, 64, initializer_range=0.2), pieces, seed=4)


def test_two_vocabularies_meet_where_both_end_a_piece(tiny_bert, coarse):
    text = "He likes playing."
    units = comparison.align(tiny_bert.tokenizer.encode(text), coarse.tokenizer.encode(text))
    assert [unit.text for unit in units] == ["[CLS]", "He", "likes", "playing", ".", "[SEP]"]
    assert units[2].left == (2,) and units[2].right == (2, 3), "likes is one piece on the left, lik ##es on the right"
    assert units[3].left == (3, 4) and units[3].right == (4,)


def test_every_position_of_both_sides_is_in_exactly_one_unit(tiny_bert, coarse):
    pair = ("the cat sat on the mat", "he likes new york, playing!")
    left, right = tiny_bert.tokenizer.encode(*pair), coarse.tokenizer.encode(*pair)
    units = comparison.align(left, right)
    assert [p for unit in units for p in unit.left] == list(range(len(left)))
    assert [p for unit in units for p in unit.right] == list(range(len(right)))


def test_different_texts_of_as_many_words_are_matched_word_by_word(tiny_bert):
    units = comparison.align(tiny_bert.tokenizer.encode("my dog ran"), tiny_bert.tokenizer.encode("the playing cat"))
    assert [unit.text for unit in units] == ["[CLS]", "my / the", "dog / playing", "ran / cat", "[SEP]"]
    assert units[2].right == (2, 3)


def test_texts_that_cannot_be_matched_are_said_to_be_incomparable(tiny_bert):
    encode = tiny_bert.tokenizer.encode
    with pytest.raises(model.InputError, match="3 and 2 words"):
        comparison.align(encode("my dog ran"), encode("the cat"))
    with pytest.raises(model.InputError, match="a pair"):
        comparison.align(encode("my dog ran"), encode("my dog", "ran"))


def test_merged_attention_still_sums_to_one(tiny_bert, coarse):
    attentions = comparison.attentions(tiny_bert.trace("he likes playing."), coarse.trace("he likes playing."))
    for side in (attentions.left, attentions.right):
        np.testing.assert_allclose(side.sum(axis=-1), 1, atol=1e-5)
    assert attentions.left.shape[:2] == (2, 4) and attentions.right.shape[:2] == (3, 2) and not attentions.matched
    assert repr(attentions) == "AttentionComparison(6 units, 2 × 4 and 3 × 2 heads)"
    assert attentions.nearest_heads()["apart"].between(0, 1).all()


def test_a_model_does_not_differ_from_itself(tiny_bert):
    trace = tiny_bert.trace("my dog is cute, he likes playing.")
    heads, states = comparison.attentions(trace, trace), comparison.states(trace, trace)
    assert heads.matched and np.allclose(heads.same_index_distance(), 0)
    assert heads.baseline_distance() > 0.01, "its heads differ from each other"
    closest = heads.nearest_heads()
    assert closest["layer"].tolist() == closest["to_layer"].tolist()
    assert closest["head"].tolist() == closest["to_head"].tolist()
    assert np.allclose(np.diagonal(states.cka), 1)


def test_predictions_agree_on_words_not_on_places_in_a_vocabulary():
    left, right = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.9])
    assert comparison.agreement(left, ["cat", "dog", "sun"], right, ["dog", "cat"]) == pytest.approx(0.7 + 0.1)
    assert comparison.agreement(left, ["cat", "dog", "sun"], left, ["cat", "dog", "sun"]) == pytest.approx(1)
    assert comparison.agreement(left, ["cat", "dog", "sun"], right, ["a", "b"]) == 0


def test_models_of_different_size_are_compared_layer_by_layer_against_shuffled_tokens(tiny_bert, coarse):
    text = "the cat sat on the mat, he likes new york, my dog is playing!"
    states = comparison.states(tiny_bert.trace(text), coarse.trace(text))
    assert states.cka.shape == (3, 4)
    assert 0 < states.shuffled < 1


def test_the_english_model_is_nearer_to_itself_than_to_its_random_init_copy(english):
    text = "The old keys to the cabinet were lying on the table in the kitchen, but nobody could find them."
    trace, random_init = english.trace(text), english.random_init_copy().trace(text)
    other = comparison.states(trace, random_init).cka
    same = comparison.states(trace, trace).cka
    assert np.diagonal(other)[1:].max() < np.diagonal(same)[1:].min()
