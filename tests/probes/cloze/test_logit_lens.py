"""The logit lens: its last layer is the model, and it says from which layer an answer stays."""

import numpy as np

from probes import cloze
from probes.cloze import logit_lens
from probes.cloze.logit_lens import LogitLens


def lens(ranks: list[int], words: list[str]) -> LogitLens:
    """One position: the rank of the gold token and the first word, by layer."""
    gold_rank = np.array(ranks)[:, None]
    return LogitLens([[word] for word in words], np.ones(gold_rank.shape), np.ones(gold_rank.shape), gold_rank)


def test_the_last_layer_is_the_models_own_prediction(english):
    encoding = english.tokenizer.encode("The cat sat on the [MASK].")
    read = logit_lens.read_layers(english, encoding, encoding.ids)
    predicted = cloze.probabilities(english, encoding, range(len(encoding)))
    np.testing.assert_allclose(read.probability[-1], predicted.max(1), atol=1e-6)
    assert read.words[-1] == [english.tokenizer.vocabulary[token_id] for token_id in predicted.argmax(1)]
    np.testing.assert_array_equal(read.gold_rank[-1], cloze.rank(predicted, encoding.ids))


def test_there_is_a_prediction_of_every_layer_and_position(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat")
    read = logit_lens.read_layers(tiny_bert, encoding, encoding.ids)
    assert read.gold_rank.shape == (tiny_bert.config.num_hidden_layers + 1, len(encoding))


def test_the_answer_is_decided_from_the_layer_after_the_last_other_word():
    assert lens([9, 0, 3, 0, 0], ["a", "tea", "b", "tea", "tea"]).decided_from(0) == 3
    assert lens([0, 0, 0], ["tea", "tea", "tea"]).decided_from(0) == 0
    assert lens([9, 9, 0], ["a", "b", "tea"]).decided_from(0) == 2


def test_the_gold_token_is_first_from_the_layer_after_it_was_last_not():
    assert lens([9, 0, 3, 0, 0], list("abcde")).gold_first_from(0) == 3
    assert lens([0, 0, 0], list("abc")).gold_first_from(0) == 0
    assert lens([0, 0, 1], list("abc")).gold_first_from(0) is None
