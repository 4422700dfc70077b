"""What the head statistics say of attention whose answer is known."""

import math

import numpy as np
import pytest
import torch

import model
from model import Edits, InputProblem
from probes import anatomy, heads, survey

A, B = "my dog is cute", "he likes playing."


@pytest.fixture(scope="module")
def trace(little):
    return little.trace(A, B)


def planted(*matrices: np.ndarray) -> np.ndarray:
    """Heads with known attention, as one layer."""
    return np.stack(matrices)[None].astype(np.float32)


def test_entropy_is_zero_on_one_token_and_log_n_when_spread_evenly(trace):
    length = len(trace.tokens)
    found = heads.entropy(planted(np.eye(length), np.full((length, length), 1 / length)))
    assert found[0, 0] == pytest.approx(0, abs=1e-6)
    assert found[0, 1] == pytest.approx(math.log2(length), abs=1e-4)


def test_distance_counts_positions():
    assert heads.distance(np.eye(6)) == 0
    assert heads.distance(np.eye(6)[[1, 2, 3, 4, 5, 4]]) == pytest.approx(1)


def test_every_planted_pattern_gets_its_label(trace):
    encoding, length = trace.encoding, len(trace.tokens)
    before = np.eye(length, k=-1) + np.eye(length) * (np.arange(length) == 0)
    after = np.eye(length, k=1) + np.eye(length) * (np.arange(length) == length - 1)
    to_sep = np.zeros((length, length))
    to_sep[:, -1] = 1
    broad = np.full((length, length), 1 / length)
    table = heads.summary(planted(before, after, np.eye(length), to_sep, broad), encoding)
    assert list(table["label"]) == ["previous token", "next token", "itself", "[SEP]", "broad"]


def test_pieces_of_one_word_are_found_and_the_token_itself_is_not_among_them(trace):
    texts = trace.texts
    play, ing = texts.index("play"), texts.index("##ing")
    mask = heads.kinds(trace.encoding)["same word"]
    assert mask[play, ing] == mask[ing, play] == 1
    assert mask.sum() == 2 * sum(token.continues for token in trace.tokens)
    assert not mask.diagonal().any()


def test_shares_never_exceed_one_and_a_full_share_is_one(trace):
    given = heads.shares(trace.attention, trace.encoding)
    assert given.min() >= 0
    assert given.max() <= 1 + 1e-5
    length = len(trace.tokens)
    assert heads.shares(np.eye(length, k=-1), trace.encoding)[0] == pytest.approx(1)


def test_rollout_rows_sum_to_one_and_of_heads_that_look_at_themselves_is_the_identity(trace):
    rolled = heads.rollout(trace.attention)
    assert rolled.shape == (2, 1, len(trace.tokens), len(trace.tokens))
    np.testing.assert_allclose(rolled.sum(-1), 1, atol=1e-5)
    alone = np.broadcast_to(np.eye(5), (3, 2, 5, 5))
    np.testing.assert_allclose(heads.rollout(alone)[-1, 0], np.eye(5))


def test_rollout_is_the_product_of_the_layers(trace):
    first, second = trace.attention.mean(1) / 2 + np.eye(len(trace.tokens)) / 2
    np.testing.assert_allclose(heads.rollout(trace.attention)[1, 0], second @ first, atol=1e-6)


def test_norm_weights_are_the_lengths_of_what_the_model_adds(little, trace):
    weighed = heads.norms(little, trace)
    layer, head, query, key = 1, 2, 3, 4
    size = trace.value.shape[-1]
    join = little.layers[layer].attention.join.weight[:, head * size:(head + 1) * size].numpy()
    added = trace.attention[layer, head, query, key] * join @ trace.value[layer, head, key]
    assert weighed[layer, head, query, key] == pytest.approx(np.linalg.norm(added), rel=1e-4)


def test_whole_words_keep_rows_that_sum_to_one(trace):
    attention, words = heads.words(trace.attention, trace.encoding)
    assert "playing" in words
    assert len(words) == attention.shape[-1] == len(trace.tokens) - sum(t.continues for t in trace.tokens)
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-5)


def test_whole_words_sum_over_keys_and_average_over_queries(trace):
    attention, words = heads.words(trace.attention, trace.encoding)
    play, ing = trace.texts.index("play"), trace.texts.index("##ing")
    whole, dog = words.index("playing"), trace.texts.index("dog")
    raw = trace.attention
    np.testing.assert_allclose(attention[..., dog, whole], raw[..., dog, play] + raw[..., dog, ing], rtol=1e-4)
    np.testing.assert_allclose(attention[..., whole, dog], (raw[..., play, dog] + raw[..., ing, dog]) / 2, rtol=1e-4)


def test_hiding_tokens_rescales_the_rest_in_proportion(trace):
    left = [token.position for token in trace.tokens if not token.special]
    shown = heads.kept(trace.attention, left)
    np.testing.assert_allclose(shown.sum(-1), 1, atol=1e-5)
    raw = trace.attention[1, 2][np.ix_(left, left)]
    np.testing.assert_allclose(shown[1, 2, 0, 1] / shown[1, 2, 0, 2], raw[0, 1] / raw[0, 2], rtol=1e-4)


def test_the_telling_head_looks_at_far_words_not_at_neighbours_or_specials(trace):
    length = len(trace.tokens)
    near, far, special = np.eye(length, k=-1), np.zeros((length, length)), np.zeros((length, length))
    far[:, 2] = special[:, 0] = 1
    assert heads.telling(planted(near, special, far), trace.encoding) == (0, 2)


def test_similarity_is_zero_for_twins_and_one_for_strangers():
    one, other = np.eye(4), np.eye(4)[[1, 2, 3, 0]]
    apart = heads.similarity(planted(one, one, other))
    np.testing.assert_allclose(apart, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-5)


def test_the_plane_keeps_twins_together_and_strangers_apart():
    one, other = np.eye(4), np.eye(4)[[1, 2, 3, 0]]
    points = heads.plane(heads.similarity(planted(one, one, other)))
    assert np.linalg.norm(points[0] - points[1]) < 1e-3
    assert np.linalg.norm(points[0] - points[2]) == pytest.approx(1, abs=1e-3)


def test_the_difference_to_itself_is_nothing_and_to_edits_is_what_they_changed(little, trace):
    nothing, here, there = heads.difference(trace, trace)
    assert not nothing.any()
    assert here == there == list(range(len(trace.tokens)))
    changed, _, _ = heads.difference(trace, little.trace(A, B, edits=Edits(heads_off=frozenset({(0, 1)}))))
    assert not changed[0].any()
    assert changed[1].any()


def test_inputs_of_different_length_are_paired_around_what_differs(little):
    first, second = little.trace("the cat sat on my mat"), little.trace("the new dog ran on my mat")
    changed, here, there = heads.difference(first, second)
    assert [first.texts[i] for i in here] == [second.texts[i] for i in there] == [
        "[CLS]", "the", "on", "my", "mat", "[SEP]"]
    assert changed.shape == (2, 4, 6, 6)


def test_models_of_different_shape_cannot_be_compared(little, trace):
    config = model.BertConfig(little.config.vocab_size, 32, 3, 4, 64, 64)
    other = model.Bert.random(config, little.tokenizer).requires_grad_(False).trace(A, B)
    with pytest.raises(InputProblem):
        heads.difference(trace, other)


def test_the_anatomy_of_a_head_ends_where_the_model_does(little, trace):
    taken = anatomy.anatomy(little, trace, layer=1, head=2, position=3)
    np.testing.assert_allclose(taken.weights, trace.attention[1, 2, 3], atol=1e-5)
    whole = model.activations(little, trace.encoding, ["scores", "attended", "mixed"])
    np.testing.assert_allclose(taken.scores, whole["scores"][1, 2, 3], atol=1e-4)
    np.testing.assert_allclose(taken.mixed, whole["mixed"][1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(taken.attended, whole["attended"][1, 3], atol=1e-4)
    root = math.sqrt(little.config.head_size)
    assert taken.products(5).sum() / root == pytest.approx(taken.scores[5], abs=1e-5)


def test_a_survey_of_one_sentence_is_its_summary(little, trace):
    (done, table), = survey.survey(little, [trace.encoding])
    assert done == 1
    np.testing.assert_allclose(table[survey.NUMBERS], heads.summary(trace.attention, trace.encoding)[survey.NUMBERS],
                               atol=1e-5)


def test_padding_changes_nothing_in_a_survey(little):
    encodings = [little.tokenizer.encode(text) for text in ("my dog", "the cat sat on the mat.", "he is new")]
    with torch.inference_mode():
        *_, (done, together) = survey.survey(little, encodings)
        *_, (_, alone) = survey.survey(little, encodings, tokens_at_once=1)
    assert done == 3
    np.testing.assert_allclose(together[survey.NUMBERS], alone[survey.NUMBERS], atol=1e-4)
