"""The score of a sentence is the sum over its wordpieces, and its surprise is its least probable piece."""

import numpy as np
import pytest

from probes import cloze
from probes.cloze import attention_shift, attribution, sentence_score


def test_totals_are_those_of_cloze_score_and_every_piece_has_its_number(tiny_bert):
    texts = ["my dog is cute", "he likes playing."]
    scores = sentence_score.score(tiny_bert, [tiny_bert.tokenizer.encode(text) for text in texts])
    np.testing.assert_allclose([score.total for score in scores], cloze.score(tiny_bert, texts), rtol=1e-6)
    for score, text in zip(scores, texts, strict=True):
        assert score.text == text
        assert len(score.pieces) == len(score.log_probs)
        assert score.mean == pytest.approx(score.total / len(score.pieces))


def test_the_most_surprising_piece_has_the_lowest_probability(tiny_bert):
    (score,) = sentence_score.score(tiny_bert, [tiny_bert.tokenizer.encode("my dog is cute")])
    piece, probability = score.most_surprising
    assert probability == pytest.approx(np.exp(score.log_probs).min())
    assert score.log_probs[score.pieces.index(piece)] == score.log_probs.min()


def test_masks_of_the_text_are_not_scored(tiny_bert):
    (score,) = sentence_score.score(tiny_bert, [tiny_bert.tokenizer.encode("my [MASK] is cute")])
    assert "[MASK]" not in score.pieces


def test_the_head_that_shifted_most_shifted_most(tiny_bert):
    before = tiny_bert.tokenizer.encode("my dog is cute")
    shift = attention_shift.measure(tiny_bert, before, cloze.mask(tiny_bert, before, [2]))
    (layer, head), fraction = shift.largest
    assert fraction == pytest.approx(shift.total_variation.max())
    assert shift.total_variation[layer, head] == shift.total_variation.max()
    assert 0 < shift.mean <= fraction


def test_the_strongest_word_by_occlusion_changes_log_p_most():
    scores = attribution.Attribution(np.array([0.0, 0.2, -0.7, 0.0]), np.zeros(4), 0.0)
    assert scores.strongest_by_occlusion == (2, -0.7)
