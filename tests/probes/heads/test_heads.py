"""What the head statistics say of attention whose answer is known."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import model
from model import Edits, InputError
from probes import heads
from probes.heads import anatomy, corpus_statistics

A, B = "my dog is cute", "he likes playing."


@pytest.fixture(scope="module")
def trace(tiny_bert):
    return tiny_bert.trace(A, B)


def planted(*matrices: np.ndarray) -> np.ndarray:
    """Heads with known attention, as one layer."""
    return np.stack(matrices)[None].astype(np.float32)


def with_heads(trace: model.Trace, *matrices: np.ndarray) -> model.Trace:
    """The same tokens under a model of one layer whose heads attend so."""
    attention = planted(*matrices)
    gates = np.ones(attention.shape[:2], np.float32)
    return replace(trace, attention=attention, hidden=trace.hidden[:2], gates=gates)


def test_entropy_is_zero_on_one_token_and_log_n_when_spread_evenly(trace):
    length = len(trace.tokens)
    sharp, uniform = heads.entropy(planted(np.eye(length), np.full((length, length), 1 / length)))[0]
    assert sharp == pytest.approx(0, abs=1e-6)
    assert uniform == pytest.approx(math.log2(length), abs=1e-4)


def test_distance_counts_positions():
    assert heads.mean_distance(np.eye(6)) == 0
    assert heads.mean_distance(np.eye(6)[[1, 2, 3, 4, 5, 4]]) == pytest.approx(1)


def test_every_planted_pattern_gets_its_label(trace):
    length = len(trace.tokens)
    before = np.eye(length, k=-1) + np.eye(length) * (np.arange(length) == 0)
    after = np.eye(length, k=1) + np.eye(length) * (np.arange(length) == length - 1)
    to_sep = np.zeros((length, length))
    to_sep[:, -1] = 1
    broad = np.full((length, length), 1 / length)
    table = heads.summary(with_heads(trace, before, after, np.eye(length), to_sep, broad))
    assert list(table["label"]) == ["previous token", "next token", "itself", "[SEP]", "broad"]


def test_pieces_of_one_word_are_a_target_and_the_token_itself_is_not_among_them(trace):
    texts = trace.wordpieces
    play, ing = texts.index("play"), texts.index("##ing")
    mask = heads.target_masks(trace.encoding)["same word"]
    assert mask[play, ing] == mask[ing, play] == 1
    assert mask.sum() == 2 * sum(token.is_continuation for token in trace.tokens)
    assert not mask.diagonal().any()


def test_shares_never_exceed_one_and_a_full_share_is_one(trace):
    shares = heads.target_shares(trace.attention, trace.encoding)
    assert shares.min() >= 0
    assert shares.max() <= 1 + 1e-5
    length = len(trace.tokens)
    assert heads.target_shares(np.eye(length, k=-1), trace.encoding)[0] == pytest.approx(1)


def test_rollout_rows_sum_to_one_and_of_heads_that_look_at_themselves_is_the_identity(trace):
    rolled = heads.rollout(trace)
    assert rolled.shape == (2, 1, len(trace.tokens), len(trace.tokens))
    np.testing.assert_allclose(rolled.sum(-1), 1, atol=1e-5)
    alone = with_heads(trace, np.eye(len(trace.tokens)), np.eye(len(trace.tokens)))
    np.testing.assert_allclose(heads.rollout(alone)[-1, 0], np.eye(len(trace.tokens)))


def test_rollout_is_the_product_of_the_layers(trace):
    first, second = trace.attention.mean(1) / 2 + np.eye(len(trace.tokens)) / 2
    np.testing.assert_allclose(heads.rollout(trace)[1, 0], second @ first, atol=1e-6)


def test_a_head_that_is_switched_off_carries_nothing_in_any_view(tiny_bert):
    off = {(0, 1), (1, 0), (1, 1), (1, 2), (1, 3)}
    trace = tiny_bert.trace(A, B, Edits(heads_off=off))
    weighed = heads.norms(tiny_bert, trace)
    assert {(layer, head) for layer, head in np.ndindex(2, 4) if not weighed[layer, head].any()} == off
    rolled = heads.rollout(trace)[:, 0]
    left = trace.attention[0, [0, 2, 3]].mean(0) / 2 + np.eye(len(trace.tokens)) / 2
    np.testing.assert_allclose(rolled[0], left, atol=1e-6)
    np.testing.assert_allclose(rolled[1], left, atol=1e-6)  # without a head a layer is the identity
    table = heads.summary(trace)
    assert set(table.loc[table["label"] == heads.OFF, ["layer", "head"]].itertuples(index=False, name=None)) == off


def test_gates_between_open_and_closed_weigh_a_head(tiny_bert):
    whole = tiny_bert.trace(A, B)
    gates = torch.ones(2, 4)
    gates[0, 2] = 0.5
    np.testing.assert_allclose(
        heads.norms(tiny_bert, tiny_bert.trace(A, B, Edits(gates=gates)))[0, 2],
        heads.norms(tiny_bert, whole)[0, 2] / 2,
        rtol=1e-5,
    )


def test_norm_weights_are_the_lengths_of_what_the_model_adds(tiny_bert, trace):
    norms = heads.norms(tiny_bert, trace)
    layer, head, query, key = 1, 2, 3, 4
    ((_, arrays),) = model.activations(tiny_bert, [trace.encoding], ["value"])
    size = tiny_bert.config.head_size
    projection = tiny_bert.layers[layer].attention.output.weight[:, head * size : (head + 1) * size].numpy()
    added = trace.attention[layer, head, query, key] * projection @ arrays["value"][layer, head, key]
    assert norms[layer, head, query, key] == pytest.approx(np.linalg.norm(added), rel=1e-4)


def test_norms_of_an_edited_model_use_the_values_it_computed(tiny_bert):
    """Off in layer 1, a head changes the input of layer 2, and with it the values there."""
    whole, edited = tiny_bert.trace(A, B), tiny_bert.trace(A, B, Edits(heads_off={(0, 1)}))
    lengths = [(heads.norms(tiny_bert, trace) / trace.attention)[1, :, 0] for trace in (whole, edited)]
    assert not np.allclose(*lengths, rtol=1e-3)
    ((_, arrays),) = model.activations(tiny_bert, [edited.encoding], ["value"], edited.edits, layers=[1])
    weight = tiny_bert.layers[1].attention.output.weight.numpy().reshape(32, 4, 8)
    expected = np.linalg.norm(np.einsum("ohd,hkd->hko", weight, arrays["value"][0]), axis=-1)
    np.testing.assert_allclose(lengths[1], expected, rtol=1e-4)


def merged(trace: model.Trace) -> tuple[np.ndarray, list[str]]:
    """Attention between whole words, and the words."""
    spans = heads.word_spans(trace.encoding)
    return heads.merge_wordpieces(trace.attention, spans), heads.word_texts(trace.encoding, spans)


def test_the_spans_of_words_partition_the_input(trace):
    spans = heads.word_spans(trace.encoding)
    assert [position for start, stop in spans for position in range(start, stop)] == list(range(len(trace.tokens)))
    assert heads.word_texts(trace.encoding, spans) == "[CLS] my dog is cute [SEP] he likes playing . [SEP]".split()


def test_positions_outside_all_spans_are_left_out(trace):
    spans = heads.word_spans(trace.encoding)
    whole, some = (heads.merge_wordpieces(trace.attention, chosen) for chosen in (spans, spans[1:3]))
    np.testing.assert_allclose(some, whole[..., 1:3, 1:3], rtol=1e-6)


def test_whole_words_keep_rows_that_sum_to_one(trace):
    attention, words = merged(trace)
    assert "playing" in words
    assert len(words) == attention.shape[-1] == len(trace.tokens) - sum(t.is_continuation for t in trace.tokens)
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-5)


def test_whole_words_sum_over_keys_and_average_over_queries(trace):
    attention, words = merged(trace)
    play, ing = trace.wordpieces.index("play"), trace.wordpieces.index("##ing")
    whole, dog = words.index("playing"), trace.wordpieces.index("dog")
    raw = trace.attention
    np.testing.assert_allclose(attention[..., dog, whole], raw[..., dog, play] + raw[..., dog, ing], rtol=1e-4)
    np.testing.assert_allclose(attention[..., whole, dog], (raw[..., play, dog] + raw[..., ing, dog]) / 2, rtol=1e-4)


def test_hiding_tokens_rescales_the_rest_in_proportion(trace):
    left = [token.position for token in trace.tokens if not token.is_special]
    shown = heads.renormalise(trace.attention, left)
    np.testing.assert_allclose(shown.sum(-1), 1, atol=1e-5)
    raw = trace.attention[1, 2][np.ix_(left, left)]
    np.testing.assert_allclose(shown[1, 2, 0, 1] / shown[1, 2, 0, 2], raw[0, 1] / raw[0, 2], rtol=1e-4)


def test_the_most_informative_head_attends_to_distant_words_not_to_neighbours_or_specials(trace):
    length = len(trace.tokens)
    near, far, special = np.eye(length, k=-1), np.zeros((length, length)), np.zeros((length, length))
    far[:, 2] = special[:, 0] = 1
    assert heads.most_informative(planted(near, special, far), trace.encoding) == (0, 2)


def test_pieces_of_one_word_are_not_distant(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("xyz is he")  # [CLS] x ##y ##z is he [SEP]
    within, across = np.zeros((7, 7)), np.zeros((7, 7))
    within[1, 3], across[1, 5] = 1.0, 0.2
    assert heads.most_informative(planted(within, across), encoding) == (0, 1)


def test_the_most_informative_head_of_a_word_links_that_word_and_others(tiny_bert):
    trace = tiny_bert.trace("the cat sat on the mat")
    to_cls, once, often, neighbour = (np.zeros((8, 8)) for _ in range(4))
    for matrix in (to_cls, once, often, neighbour):
        matrix[:, 0] = 1
    once[1] = often[1] = np.eye(8)[5]
    often[2:4] = np.eye(8)[6]
    neighbour[1:7] = np.eye(8)[2:8]
    attention = planted(to_cls, neighbour, once, often)
    assert heads.most_informative(attention, trace.encoding, [1]) == (0, 3)
    assert heads.most_informative(attention[:, :3], trace.encoding, [1]) == (0, 2)


def test_divergence_is_zero_for_equal_heads_and_one_for_disjoint_ones():
    one, other = np.eye(4), np.eye(4)[[1, 2, 3, 0]]
    divergence = heads.js_divergence(planted(one, one, other))
    assert repr(divergence) == "Divergence(3 heads, 4 of 4 queries, mean 0.667 bits)"
    np.testing.assert_allclose(divergence.bits, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-5)


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
    divergence = heads.js_divergence(attention)
    assert (divergence.used, divergence.queries, divergence.error) == (300, 300, 0)
    np.testing.assert_allclose(divergence.bits, truth, atol=1e-5)


def test_divergences_of_some_queries_say_how_far_off_they_are():
    attention, truth = many_rows()
    samples = [heads.js_divergence(attention, terms=15 * 300 * 60, seed=seed) for seed in range(60)]
    assert {sample.used for sample in samples} == {60}
    errors = np.array([np.abs(sample.bits - truth).max() for sample in samples])
    assert errors.max() > 0.01
    pairs = np.triu_indices(6, 1)
    inside = np.mean([np.abs(sample.bits - truth)[pairs] <= sample.error for sample in samples])
    assert inside >= 0.94


def test_scaling_keeps_equal_heads_together_and_disjoint_ones_apart():
    one, other = np.eye(4), np.eye(4)[[1, 2, 3, 0]]
    points = heads.classical_mds(heads.js_divergence(planted(one, one, other)).bits)
    assert np.linalg.norm(points[0] - points[1]) < 1e-3
    assert np.linalg.norm(points[0] - points[2]) == pytest.approx(1, abs=1e-3)


def test_the_difference_to_itself_is_nothing_and_to_edits_is_what_they_changed(tiny_bert, trace):
    nothing, here, there = heads.attention_difference(trace, trace)
    assert not nothing.any()
    assert here == there == list(range(len(trace.tokens)))
    changed, _, _ = heads.attention_difference(trace, tiny_bert.trace(A, B, edits=Edits(heads_off=frozenset({(0, 1)}))))
    assert not changed[0].any()
    assert changed[1].any()


def test_inputs_of_different_length_are_paired_around_what_differs(tiny_bert):
    first, second = tiny_bert.trace("the cat sat on my mat"), tiny_bert.trace("the new dog ran on my mat")
    changed, here, there = heads.attention_difference(first, second)
    assert (
        [first.wordpieces[i] for i in here]
        == [second.wordpieces[i] for i in there]
        == ["[CLS]", "the", "on", "my", "mat", "[SEP]"]
    )
    assert changed.shape == (2, 4, 6, 6)


def test_models_of_different_shape_cannot_be_compared(tiny_bert, trace):
    config = model.BertConfig(tiny_bert.config.vocab_size, 32, 3, 4, 64, 64)
    other = model.Bert.random_init(config, tiny_bert.tokenizer).requires_grad_(False).trace(A, B)
    with pytest.raises(InputError):
        heads.attention_difference(trace, other)


def test_the_anatomy_of_a_head_ends_where_the_model_does(tiny_bert, trace):
    steps = anatomy.dissect(tiny_bert, trace, layer=1, head=2, position=3)
    np.testing.assert_allclose(steps.weights, trace.attention[1, 2, 3], atol=1e-5)
    ((_, whole),) = model.activations(tiny_bert, [trace.encoding], ["query", "scores", "attention_output", "context"])
    np.testing.assert_array_equal(steps.queries, whole["query"][1, :, 3])
    np.testing.assert_array_equal(steps.query, steps.queries[2])
    np.testing.assert_allclose(steps.scores, whole["scores"][1, 2, 3], atol=1e-4)
    np.testing.assert_allclose(steps.context, whole["context"][1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(steps.attention_output, whole["attention_output"][1, 3], atol=1e-4)
    root = math.sqrt(tiny_bert.config.head_size)
    assert steps.products(5).sum() / root == pytest.approx(steps.scores[5], abs=1e-5)


@pytest.mark.parametrize(
    "edits",
    [Edits(heads_off={(1, 0), (1, 2)}), Edits(heads_off={(1, 3)}, direction="left"), Edits(blocked={(3, 0), (3, 4)})],
    ids=["off", "left", "blocked"],
)
def test_the_anatomy_of_an_edited_model_ends_where_that_does(tiny_bert, edits):
    trace = tiny_bert.trace(A, B, edits)
    steps = anatomy.dissect(tiny_bert, trace, layer=1, head=2, position=3)
    ((_, whole),) = model.activations(
        tiny_bert, [trace.encoding], ["attention", "attention_output", "context", "value"], edits
    )
    np.testing.assert_array_equal(steps.values, whole["value"][1, 2])
    np.testing.assert_allclose(steps.weights, whole["attention"][1, 2, 3], atol=1e-6)
    np.testing.assert_allclose(steps.context, whole["context"][1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(steps.attention_output, whole["attention_output"][1, 3], atol=1e-4)
    assert steps.gate == float((1, 2) not in edits.heads_off)


def last_table(bert, *texts: str):
    *_, (_, table) = corpus_statistics.summarise(bert, [bert.tokenizer.encode(text) for text in texts])
    return table


def test_the_statistics_of_one_sentence_are_its_summary(tiny_bert, trace):
    ((done, table),) = corpus_statistics.summarise(tiny_bert, [trace.encoding])
    assert done == 1
    np.testing.assert_allclose(table[list(heads.NUMBERS)], heads.summary(trace)[list(heads.NUMBERS)], atol=1e-5)


def test_a_sentence_in_which_something_is_not_possible_does_not_dilute_it(english):
    """Looking at the other pieces of a word: a sentence without a split word says nothing about it."""
    split, whole = "The zookeeper photographed souvenirs.", "He ran to the old house."
    alone, both = (heads.as_grid(last_table(english, *texts), "same word").max() for texts in ((split,), (split, whole)))
    assert alone == pytest.approx(0.600, abs=5e-4)
    assert both == pytest.approx(alone, abs=1e-5)
    assert np.isnan(heads.as_grid(last_table(english, whole), "same word")).all()
    table = last_table(english, "She saw him.", "He ran to the old house")
    np.testing.assert_allclose(table["punctuation"], last_table(english, "She saw him.")["punctuation"], atol=1e-5)


def test_a_head_that_always_does_what_is_possible_has_a_share_of_one_over_any_corpus(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(*texts) for texts in (("he likes playing",), ("my cat",), ("a", "the dogs!"))]
    for kind in heads.TARGETS:
        sums, counts = np.zeros(1), np.zeros(1)
        for encoding in encodings:
            mask = heads.target_masks(encoding)[kind]
            wanted = mask / np.maximum(mask.sum(-1, keepdims=True), 1)
            attention = np.where(mask.any(-1, keepdims=True), wanted, 1 / len(encoding))
            totals = heads.totals(attention[None, None], encoding)
            sums, counts = sums + totals[0], counts + totals[1]
        assert heads.as_grid(heads.table(sums, counts), kind)[0, 0] == pytest.approx(1), kind


def test_special_tokens_and_punctuation_are_labelled_together_by_what_they_get_together(tiny_bert):
    """One sentence ends in a sign, one does not: their shares have other denominators and do not add up."""
    sums, counts = np.zeros(1), np.zeros(1)
    for text in ("my cat sat .", "my cat sat on the mat"):
        encoding = tiny_bert.tokenizer.encode(text)
        attention = np.full((len(encoding), len(encoding)), 0.4 / (len(encoding) - 1))
        attention[:, -2 if text.endswith(".") else -1] = 0.6
        totals = heads.totals(attention[None, None], encoding)
        sums, counts = sums + totals[0], counts + totals[1]
    share = heads.as_grid(heads.table(sums, counts), "special or punctuation")[0, 0]
    assert share == pytest.approx((6 * (0.6 + 2 * 0.08) + 8 * (0.6 + 0.4 / 7)) / 14)


def test_padding_changes_nothing_in_corpus_statistics(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in ("my dog", "the cat sat on the mat.", "he is new")]
    with torch.inference_mode():
        *_, (done, together) = corpus_statistics.summarise(tiny_bert, encodings)
        *_, (_, alone) = corpus_statistics.summarise(tiny_bert, encodings, tokens_at_once=1)
    assert done == 3
    numbers = list(heads.NUMBERS)
    np.testing.assert_allclose(together[numbers], alone[numbers], atol=1e-4)
