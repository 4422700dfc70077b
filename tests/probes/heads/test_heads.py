"""What the head statistics say of attention whose answer is known."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import model
from model import Edits, InputProblem
from probes import heads
from probes.heads import anatomy, corpus_statistics

A, B = "my dog is cute", "he likes playing."


@pytest.fixture(scope="module")
def trace(little):
    return little.trace(A, B)


def planted(*matrices: np.ndarray) -> np.ndarray:
    """Heads with known attention, as one layer."""
    return np.stack(matrices)[None].astype(np.float32)


def with_heads(trace: model.Trace, *matrices: np.ndarray) -> model.Trace:
    """The same tokens under a model of one layer whose heads attend so."""
    attention = planted(*matrices)
    count, length = attention.shape[1:3]
    none = np.zeros((1, count, length, 1), np.float32)
    return replace(trace, attention=attention, hidden=trace.hidden[:2], query=none, key=none, value=none,
                   gates=np.ones((1, count), np.float32))


def test_entropy_is_zero_on_one_token_and_log_n_when_spread_evenly(trace):
    length = len(trace.tokens)
    found = heads.entropy(planted(np.eye(length), np.full((length, length), 1 / length)))
    assert found[0, 0] == pytest.approx(0, abs=1e-6)
    assert found[0, 1] == pytest.approx(math.log2(length), abs=1e-4)


def test_distance_counts_positions():
    assert heads.distance(np.eye(6)) == 0
    assert heads.distance(np.eye(6)[[1, 2, 3, 4, 5, 4]]) == pytest.approx(1)


def test_every_planted_pattern_gets_its_label(trace):
    length = len(trace.tokens)
    before = np.eye(length, k=-1) + np.eye(length) * (np.arange(length) == 0)
    after = np.eye(length, k=1) + np.eye(length) * (np.arange(length) == length - 1)
    to_sep = np.zeros((length, length))
    to_sep[:, -1] = 1
    broad = np.full((length, length), 1 / length)
    table = heads.summary(with_heads(trace, before, after, np.eye(length), to_sep, broad))
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
    rolled = heads.rollout(trace)
    assert rolled.shape == (2, 1, len(trace.tokens), len(trace.tokens))
    np.testing.assert_allclose(rolled.sum(-1), 1, atol=1e-5)
    alone = with_heads(trace, np.eye(len(trace.tokens)), np.eye(len(trace.tokens)))
    np.testing.assert_allclose(heads.rollout(alone)[-1, 0], np.eye(len(trace.tokens)))


def test_rollout_is_the_product_of_the_layers(trace):
    first, second = trace.attention.mean(1) / 2 + np.eye(len(trace.tokens)) / 2
    np.testing.assert_allclose(heads.rollout(trace)[1, 0], second @ first, atol=1e-6)


def test_a_head_that_is_switched_off_carries_nothing_in_any_view(little):
    off = {(0, 1), (1, 0), (1, 1), (1, 2), (1, 3)}
    trace = little.trace(A, B, Edits(heads_off=off))
    weighed = heads.norms(little, trace)
    assert {(layer, head) for layer, head in np.ndindex(2, 4) if not weighed[layer, head].any()} == off
    rolled = heads.rollout(trace)[:, 0]
    left = trace.attention[0, [0, 2, 3]].mean(0) / 2 + np.eye(len(trace.tokens)) / 2
    np.testing.assert_allclose(rolled[0], left, atol=1e-6)
    np.testing.assert_allclose(rolled[1], left, atol=1e-6)  # without a head a layer passes on what it was given
    table = heads.summary(trace)
    assert set(table.loc[table["label"] == heads.OFF, ["layer", "head"]].itertuples(index=False, name=None)) == off


def test_gates_between_open_and_closed_weigh_a_head(little):
    whole = little.trace(A, B)
    gates = torch.ones(2, 4)
    gates[0, 2] = 0.5
    np.testing.assert_allclose(heads.norms(little, little.trace(A, B, Edits(gates=gates)))[0, 2],
                               heads.norms(little, whole)[0, 2] / 2, rtol=1e-5)


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
    apart = heads.similarity(planted(one, one, other)).bits
    np.testing.assert_allclose(apart, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-5)


def many_rows(length: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Six heads that look wide at some tokens and sharply at others, and their divergences by the definition."""
    generator = np.random.default_rng(4)
    sharp = generator.choice([0.01, 0.1, 3.0], size=(1, 6, length, 1))
    weights = generator.gamma(np.broadcast_to(sharp, (1, 6, length, length))) + 1e-9
    attention = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    p, q = attention[0].astype(float)[:, None], attention[0].astype(float)[None]
    middle = (p + q) / 2
    kullback = [(x * np.log2(np.maximum(x, 1e-30) / np.maximum(middle, 1e-30))).sum(-1) for x in (p, q)]
    return attention, ((kullback[0] + kullback[1]) / 2).mean(-1)


def test_divergences_of_a_long_input_are_those_of_the_definition():
    attention, truth = many_rows()
    found = heads.similarity(attention)
    assert (found.used, found.queries, found.error) == (300, 300, 0)
    np.testing.assert_allclose(found.bits, truth, atol=1e-5)


def test_divergences_of_some_queries_say_how_far_off_they_are():
    attention, truth = many_rows()
    apart = [heads.similarity(attention, terms=15 * 300 * 60, seed=seed) for seed in range(60)]
    assert {found.used for found in apart} == {60}
    off = np.array([np.abs(found.bits - truth).max() for found in apart])
    assert off.max() > 0.01
    pairs = np.triu_indices(6, 1)
    inside = np.mean([np.abs(found.bits - truth)[pairs] <= found.error for found in apart])
    assert inside >= 0.94


def test_the_plane_keeps_twins_together_and_strangers_apart():
    one, other = np.eye(4), np.eye(4)[[1, 2, 3, 0]]
    points = heads.plane(heads.similarity(planted(one, one, other)).bits)
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


@pytest.mark.parametrize("edits", [Edits(heads_off={(1, 0), (1, 2)}), Edits(heads_off={(1, 3)}, sight="left"),
                                   Edits(blocked={(3, 0), (3, 4)})], ids=["off", "left", "blocked"])
def test_the_anatomy_of_an_edited_model_ends_where_that_does(little, edits):
    trace = little.trace(A, B, edits)
    taken = anatomy.anatomy(little, trace, layer=1, head=2, position=3)
    whole = model.activations(little, trace.encoding, ["attention", "attended", "mixed"], edits)
    np.testing.assert_allclose(taken.weights, whole["attention"][1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(taken.mixed, whole["mixed"][1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(taken.attended, whole["attended"][1, 3], atol=1e-4)
    assert taken.gate == float((1, 2) not in edits.heads_off)


def last_table(bert, *texts: str):
    *_, (_, table) = corpus_statistics.survey(bert, [bert.tokenizer.encode(text) for text in texts])
    return table


def test_a_survey_of_one_sentence_is_its_summary(little, trace):
    (done, table), = corpus_statistics.survey(little, [trace.encoding])
    assert done == 1
    np.testing.assert_allclose(table[list(heads.NUMBERS)], heads.summary(trace)[list(heads.NUMBERS)], atol=1e-5)


def test_a_sentence_in_which_something_is_not_possible_does_not_dilute_it(english):
    """Looking at the other pieces of a word: a sentence without a split word says nothing about it."""
    split, whole = "The zookeeper photographed souvenirs.", "He ran to the old house."
    alone, both = (heads.square(last_table(english, *texts), "same word").max() for texts in ((split,), (split, whole)))
    assert alone == pytest.approx(0.600, abs=5e-4)
    assert both == pytest.approx(alone, abs=1e-5)
    assert np.isnan(heads.square(last_table(english, whole), "same word")).all()
    table = last_table(english, "She saw him.", "He ran to the old house")
    np.testing.assert_allclose(table["punctuation"], last_table(english, "She saw him.")["punctuation"], atol=1e-5)


def test_a_head_that_always_does_what_is_possible_has_a_share_of_one_over_any_corpus(little):
    encodings = [little.tokenizer.encode(*texts) for texts in (("he likes playing",), ("my cat",), ("a", "the dogs!"))]
    for kind in heads.KINDS:
        sums, counts = np.zeros(1), np.zeros(1)
        for encoding in encodings:
            mask = heads.kinds(encoding)[kind]
            wanted = mask / np.maximum(mask.sum(-1, keepdims=True), 1)
            attention = np.where(mask.any(-1, keepdims=True), wanted, 1 / len(encoding))
            given, possible = heads.totals(attention[None, None], encoding)
            sums, counts = sums + given, counts + possible
        assert heads.square(heads.table(sums, counts), kind)[0, 0] == pytest.approx(1), kind


def test_special_tokens_and_punctuation_are_labelled_together_by_what_they_get_together(little):
    """One sentence ends in a sign, one does not: their shares have other denominators and do not add up."""
    sums, counts = np.zeros(1), np.zeros(1)
    for text in ("my cat sat .", "my cat sat on the mat"):
        encoding = little.tokenizer.encode(text)
        attention = np.full((len(encoding), len(encoding)), 0.4 / (len(encoding) - 1))
        attention[:, -2 if text.endswith(".") else -1] = 0.6
        given, possible = heads.totals(attention[None, None], encoding)
        sums, counts = sums + given, counts + possible
    share = heads.square(heads.table(sums, counts), "special or punctuation")[0, 0]
    assert share == pytest.approx((6 * (0.6 + 2 * 0.08) + 8 * (0.6 + 0.4 / 7)) / 14)


def test_padding_changes_nothing_in_a_survey(little):
    encodings = [little.tokenizer.encode(text) for text in ("my dog", "the cat sat on the mat.", "he is new")]
    with torch.inference_mode():
        *_, (done, together) = corpus_statistics.survey(little, encodings)
        *_, (_, alone) = corpus_statistics.survey(little, encodings, tokens_at_once=1)
    assert done == 3
    numbers = list(heads.NUMBERS)
    np.testing.assert_allclose(together[numbers], alone[numbers], atol=1e-4)
