"""How text becomes input."""

from dataclasses import replace

import numpy as np
import pytest

from model import InputProblem
from probes.cloze import showcase
from probes.states import input_embeddings


def test_the_parts_are_the_three_embeddings_and_their_normalised_sum(little):
    trace = little.trace("the cat sat", "my dog ran")
    parts = input_embeddings.parts(trace)
    whole = parts[:3].sum(0)
    centred = whole - whole.mean(-1, keepdims=True)
    np.testing.assert_allclose(parts[3], centred / whole.std(-1, keepdims=True), atol=1e-4)


def test_a_position_is_most_like_itself_and_sinusoids_fall_off(little):
    learned = input_embeddings.position_similarity(little, 20)
    fixed = input_embeddings.sinusoid_similarity(128, 20)
    np.testing.assert_allclose(np.diag(learned), 1, atol=1e-5)
    assert (fixed[0, :-1] >= fixed[0, 1:])[:5].all()
    np.testing.assert_allclose(fixed[3, 7], fixed[10, 14], atol=1e-5)


def test_ledgers_stand_beside_base_and_large(little):
    found = input_embeddings.ledgers(little)
    assert list(found) == [little.about.name, "BERT-base", "BERT-large"]
    assert sum(part.count for part in found["BERT-base"][1]) == 110_106_428
    assert sum(part.count for part in found[little.about.name][1]) == sum(p.numel() for p in little.parameters())


def test_blanking_a_word_splits_the_text_around_all_its_pieces(english):
    trace = english.trace("It was unbelievably hot.", "So hot.")
    word = next(index for index, name in showcase.words(trace) if name == "unbelievably")
    assert showcase.blanked(trace, word) == ("It was ", "unbelievably", " hot.")
    assert showcase.worth_hiding(showcase.words(trace)) == word


def test_the_telling_head_has_a_strong_far_link_and_is_busy_with_words(little):
    trace = little.trace("the cat sat on the mat")
    attention = np.zeros_like(trace.attention)
    attention[:, :, :, 0] = 1  # every head looks at [CLS] only, but for two
    attention[0, 1, 1] = attention[1, 2, 1] = np.eye(8)[5]
    attention[1, 2, 2:7] = np.eye(8)[1:6]
    assert showcase.telling_head(replace(trace, attention=attention.copy()), 0) == (1, 2)
    attention[1, 2, 1] = np.eye(8)[2]  # a link to the next word tells little
    assert showcase.telling_head(replace(trace, attention=attention.copy()), 0) == (0, 1)


def test_a_sentence_of_signs_only_is_said_to_have_no_word(english):
    with pytest.raises(InputProblem, match="no word"):
        showcase.words(english.trace("?! ..."))
