"""Two sides are matched on what they share, and nothing is compared that cannot be."""

import numpy as np
import pytest

import model
from model import Bert, BertConfig, tokenizer
from probes import comparison


@pytest.fixture(scope="module")
def coarse() -> Bert:
    """A model over other pieces than `little`: whole words where that has pieces, and one layer more."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = "the cat sat on mat playing lik ##es he . new york".split()
    pieces = tokenizer.from_words([*words, *letters, *(f"##{letter}" for letter in letters)])
    return Bert.random(BertConfig(pieces.size, 24, 3, 2, 48, 64, initializer_range=0.2), pieces, seed=4)


def test_two_vocabularies_meet_where_both_end_a_piece(little, coarse):
    text = "He likes playing."
    units = comparison.aligned(little.tokenizer.encode(text), coarse.tokenizer.encode(text))
    assert [unit.text for unit in units] == ["[CLS]", "He", "likes", "playing", ".", "[SEP]"]
    assert units[2].left == (2,) and units[2].right == (2, 3), "likes is one piece on the left, lik ##es on the right"
    assert units[3].left == (3, 4) and units[3].right == (4,)


def test_every_position_of_both_sides_is_in_exactly_one_unit(little, coarse):
    pair = ("the cat sat on the mat", "he likes new york, playing!")
    left, right = little.tokenizer.encode(*pair), coarse.tokenizer.encode(*pair)
    units = comparison.aligned(left, right)
    assert [p for unit in units for p in unit.left] == list(range(len(left)))
    assert [p for unit in units for p in unit.right] == list(range(len(right)))


def test_different_texts_of_as_many_words_are_matched_word_by_word(little):
    units = comparison.aligned(little.tokenizer.encode("my dog ran"), little.tokenizer.encode("the playing cat"))
    assert [unit.text for unit in units] == ["[CLS]", "my / the", "dog / playing", "ran / cat", "[SEP]"]
    assert units[2].right == (2, 3)


def test_texts_that_cannot_be_matched_are_said_to_be_incomparable(little):
    encode = little.tokenizer.encode
    with pytest.raises(model.InputProblem, match="3 and 2 words"):
        comparison.aligned(encode("my dog ran"), encode("the cat"))
    with pytest.raises(model.InputProblem, match="a pair"):
        comparison.aligned(encode("my dog ran"), encode("my dog", "ran"))


def test_merged_attention_still_sums_to_one(little, coarse):
    found = comparison.attentions(little.trace("he likes playing."), coarse.trace("he likes playing."))
    assert np.allclose(found.left.sum(axis=-1), 1, atol=1e-5) and np.allclose(found.right.sum(axis=-1), 1, atol=1e-5)
    assert found.left.shape[:2] == (2, 4) and found.right.shape[:2] == (3, 2) and not found.matched
    assert found.closest()["apart"].between(0, 1).all()


def test_a_model_does_not_differ_from_itself(little):
    trace = little.trace("my dog is cute, he likes playing.")
    heads, states = comparison.attentions(trace, trace), comparison.states(trace, trace)
    assert heads.matched and np.allclose(heads.namesakes(), 0)
    assert heads.usual() > 0.01, "its heads differ from each other"
    closest = heads.closest()
    assert closest["layer"].tolist() == closest["to_layer"].tolist()
    assert closest["head"].tolist() == closest["to_head"].tolist()
    assert np.allclose(np.diagonal(states.cka), 1)


def test_predictions_agree_on_words_not_on_places_in_a_vocabulary():
    left, right = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.9])
    assert comparison.agreement(left, ["cat", "dog", "sun"], right, ["dog", "cat"]) == pytest.approx(0.7 + 0.1)
    assert comparison.agreement(left, ["cat", "dog", "sun"], left, ["cat", "dog", "sun"]) == pytest.approx(1)
    assert comparison.agreement(left, ["cat", "dog", "sun"], right, ["a", "b"]) == 0


def test_models_of_different_size_are_compared_layer_by_layer_against_shuffled_tokens(little, coarse):
    text = "the cat sat on the mat, he likes new york, my dog is playing!"
    found = comparison.states(little.trace(text), coarse.trace(text))
    assert found.cka.shape == (3, 4)
    assert 0 < found.shuffled < 1


def test_the_english_model_is_nearer_to_itself_than_to_its_random_twin(english):
    text = "The old keys to the cabinet were lying on the table in the kitchen, but nobody could find them."
    trace, twin = english.trace(text), english.twin().trace(text)
    apart = comparison.states(trace, twin).cka
    same = comparison.states(trace, trace).cka
    assert np.diagonal(apart)[1:].max() < np.diagonal(same)[1:].min()
