"""What must hold of any BERT."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import model
from model import Batch, Bert, Edits, InputError, MissingHeadError, sinusoids
from model.bert import ACTIVATIONS, MLMHead
from model.kernels import FEW
from model.pretraining.initialisation import mimetic

TEXTS = ["the cat sat on the mat .", "my dog is cute", "he likes playing , new york !"]


def test_attention_rows_sum_to_one(tiny_bert):
    np.testing.assert_allclose(tiny_bert.trace(*TEXTS[:2]).attention.sum(-1), 1, atol=1e-6)


def test_padding_changes_nothing(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    with torch.inference_mode():
        together = tiny_bert(encodings)
    for row, encoding in enumerate(encodings):
        np.testing.assert_allclose(together[row, : len(encoding)], tiny_bert(encoding)[0], atol=1e-5)


def test_nothing_looks_at_padding(tiny_bert):
    layers = []

    def record(layer: int, attention: torch.Tensor | None = None, **_: torch.Tensor) -> None:
        if attention is not None:
            layers.append(attention)

    tiny_bert([tiny_bert.tokenizer.encode(text) for text in TEXTS], record=record)
    assert len(layers) == 2
    assert not layers[1][1, :, :, 6:].any()


def test_the_input_is_the_normalised_sum_of_three_embeddings(tiny_bert):
    trace = tiny_bert.trace(*TEXTS[:2])
    whole = torch.tensor(trace.token_embedding + trace.segment_embedding + trace.position_embedding)
    np.testing.assert_allclose(tiny_bert.embeddings.norm(whole), trace.hidden[0], atol=1e-6)


def test_output_0_of_the_next_sentence_head_is_isnext(tiny_bert):
    bert = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=1)
    with torch.no_grad():
        bert.require_nsp().classifier.weight.zero_()
        bert.require_nsp().classifier.bias.copy_(torch.tensor([3.0, 0.0]))
    assert bert.trace(TEXTS[0], TEXTS[1]).nsp == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-5)


def test_a_missing_head_is_said_and_nothing_is_invented(tiny_bert):
    bert = Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, mlm=False, nsp=False)
    assert bert.trace(TEXTS[0]).nsp is None
    with pytest.raises(MissingHeadError, match="masked-word head"):
        bert.mlm_logits(torch.zeros(1, 32))
    with pytest.raises(MissingHeadError, match="next-sentence head"):
        bert.nsp_logits(torch.zeros(1, 3, 32))


def test_the_masked_word_head_scores_by_the_embedding_matrix(tiny_bert):
    state = torch.randn(1, 32)
    direct = tiny_bert.mlm.norm(torch.nn.functional.gelu(tiny_bert.mlm.dense(state)))
    expected = tiny_bert.embeddings.token.weight @ direct[0] + tiny_bert.mlm.bias
    np.testing.assert_allclose(tiny_bert.mlm_logits(state)[0], expected, atol=1e-5)


@pytest.mark.parametrize("size", [50, 51])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (FEW + 1,)])
def test_words_are_scored_alike_for_few_states_and_many_and_for_odd_vocabularies(tiny_bert, size, shape):
    head = MLMHead(replace(tiny_bert.config, vocab_size=size))
    for part in (head.dense.weight, head.dense.bias, head.bias):
        torch.nn.init.normal_(part, generator=torch.Generator().manual_seed(size))
    states, words = torch.randn(*shape, head.dense.in_features), torch.randn(size, head.dense.in_features)
    with torch.inference_mode():
        logits = head(states, words)
        expected = head.norm(head.activation(head.dense(states))) @ words.T + head.bias
    assert logits.shape == (*shape, size)
    np.testing.assert_allclose(logits, expected, atol=1e-4)


def test_a_random_bert_is_the_same_for_the_same_seed_only(tiny_bert):
    one, same, other = (
        Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, seed=seed).trace(TEXTS[0]).hidden for seed in (5, 5, 6)
    )
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_the_random_init_copy_has_the_same_shape_and_other_weights(tiny_bert):
    copy = tiny_bert.random_init_copy(seed=9)
    assert {n: t.shape for n, t in copy.state_dict().items()} == {n: t.shape for n, t in tiny_bert.state_dict().items()}
    assert not torch.equal(copy.embeddings.token.weight, tiny_bert.embeddings.token.weight)
    assert "random weights" in copy.info.name


def test_sinusoids_turn_with_position(tiny_bert):
    table = sinusoids(50, 8)
    np.testing.assert_allclose(table[0], [0, 1] * 4, atol=1e-6)
    np.testing.assert_allclose(table[7, 0], np.sin(7), atol=1e-5)
    np.testing.assert_allclose(table[7, 7], np.cos(7 / 10000 ** (6 / 8)), atol=1e-5)


def test_an_input_longer_than_the_model_reads_is_refused(tiny_bert):
    ids = torch.full((1, 65), 7)
    with pytest.raises(InputError, match="at most 64"):
        tiny_bert(Batch(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool)))


def test_hidden_states_in_batches_are_those_of_each_input_alone(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS * 3]
    states = dict(model.hidden_states(tiny_bert, encodings, layers=[0, 2], tokens_at_once=20))
    assert sorted(states) == list(range(9))
    for row, encoding in enumerate(encodings):
        np.testing.assert_allclose(states[row], model.trace.trace(tiny_bert, encoding).hidden[[0, 2]], atol=1e-5)


@pytest.mark.parametrize("edits", [None, Edits(direction="left", heads_off={(0, 1)})], ids=["plain", "edited"])
def test_activations_in_batches_are_those_of_each_input_alone(tiny_bert, edits):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    together = dict(model.activations(tiny_bert, encodings, ACTIVATIONS, edits))
    assert sorted(together) == [0, 1, 2]
    for row, encoding in enumerate(encodings):
        ((_, alone),) = model.activations(tiny_bert, [encoding], ACTIVATIONS, edits)
        assert set(alone) == set(together[row]) == set(ACTIVATIONS)
        for name, values in alone.items():
            np.testing.assert_allclose(together[row][name], values, atol=1e-5, err_msg=name)


def test_every_activation_has_the_shape_its_name_promises(tiny_bert):
    encoding = tiny_bert.tokenizer.encode(TEXTS[0])
    ((_, arrays),) = model.activations(tiny_bert, [encoding], ACTIVATIONS)
    length, layers, heads, head_size, hidden, intermediate = len(encoding), 2, 4, 8, 32, 64
    shapes = dict.fromkeys(("token_embedding", "segment_embedding", "position_embedding"), (1, length, hidden))
    shapes |= {"hidden": (layers + 1, length, hidden), "neurons": (layers, length, intermediate)}
    shapes |= dict.fromkeys(("attention_output", "mlp_output"), (layers, length, hidden))
    shapes |= dict.fromkeys(("query", "key", "value", "context"), (layers, heads, length, head_size))
    shapes |= dict.fromkeys(("scores", "attention"), (layers, heads, length, length))
    assert {name: values.shape for name, values in arrays.items()} == shapes


def test_activations_of_some_layers_come_in_the_order_they_are_named(tiny_bert):
    encoding = tiny_bert.tokenizer.encode(TEXTS[0])
    ((_, every),) = model.activations(tiny_bert, [encoding], ["key"])
    ((_, some),) = model.activations(tiny_bert, [encoding], ["key"], layers=[1, 0])
    np.testing.assert_array_equal(some["key"], every["key"][[1, 0]])


def test_an_activation_that_does_not_exist_is_named(tiny_bert):
    with pytest.raises(ValueError, match="no activation mixed"):
        next(model.activations(tiny_bert, [tiny_bert.tokenizer.encode(TEXTS[0])], ["mixed"]))


def test_a_trace_says_what_it_is_in_one_line_and_how_much_memory_it_takes(tiny_bert):
    trace = tiny_bert.trace(*TEXTS[:2])
    assert repr(trace).startswith("Trace(14 tokens, 2 layers × 4 heads, P(IsNext) 0.")
    assert "[CLS] the cat sat" in repr(trace) and "\n" not in repr(trace)
    assert "IsNext" not in repr(tiny_bert.trace(TEXTS[0]))
    # three embeddings, three hidden states, attention, gates; four bytes each
    assert trace.nbytes == 4 * (6 * 14 * 32 + 2 * 4 * 14 * 14 + 2 * 4)


def test_a_trace_that_does_not_fit_its_tokens_is_refused(tiny_bert):
    whole = tiny_bert.trace(TEXTS[0])
    broken = vars(whole) | {"hidden": whole.hidden[:, :-1]}
    with pytest.raises(ValueError, match=r"trace\.hidden"):
        model.Trace(**{name: broken[name] for name in model.Trace.__dataclass_fields__})


def test_a_trace_cannot_be_written_to(tiny_bert):
    with pytest.raises(ValueError, match="read-only"):
        tiny_bert.trace(TEXTS[0]).attention[0] = 0


def test_recording_changes_nothing(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    for edits in (None, Edits(direction="left"), Edits(blocked={(1, 2), (0, 1, 3, 0)})):
        with torch.inference_mode():
            fused = tiny_bert(encodings, edits)
            recorded = tiny_bert(encodings, edits, record=lambda layer, **values: None)
        for row, encoding in enumerate(encodings):
            np.testing.assert_allclose(fused[row, : len(encoding)], recorded[row, : len(encoding)], atol=1e-5)


def test_training_mode_without_dropout_computes_what_evaluation_mode_does(tiny_bert):
    config = replace(tiny_bert.config, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    bert, encodings = Bert.random_init(config, tiny_bert.tokenizer), [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    evaluated, trained = bert(encodings), bert.train()(encodings)
    torch.testing.assert_close(trained, evaluated, atol=1e-5, rtol=0)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(bert(encodings), evaluated, atol=0.1, rtol=0)
    trained.sum().backward()
    for name in ("query", "key", "value"):
        assert getattr(bert.layers[0].attention, name).bias.grad is not None


def test_chosen_places_have_the_states_that_all_places_together_have(tiny_bert):
    encodings = [tiny_bert.tokenizer.encode(text) for text in ("the cat saw a dog", "a dog")]
    rows, positions = torch.tensor([0, 0, 1, 1]), torch.tensor([1, 3, 0, 2])
    for edits in (None, Edits(direction="left"), Edits(heads_off=frozenset({(1, 0)}))):
        everything = tiny_bert(encodings, edits)
        torch.testing.assert_close(tiny_bert.states_at(rows, positions, encodings, edits), everything[rows, positions])


def test_mimetic_initialisation_copies_values_and_matches_queries_with_equal_keys(tiny_bert):
    bert = mimetic(tiny_bert.random_init_copy(3), seed=3)
    weights = bert.state_dict()
    copied = weights["layers.0.attention.output.weight"] @ weights["layers.0.attention.value.weight"]
    alike = weights["layers.1.attention.query.weight"].T @ weights["layers.1.attention.key.weight"]
    for product, strength in ((copied, 1.0), (alike, 0.6)):
        assert product.diagonal().mean() == pytest.approx(strength, abs=0.2)
        assert abs((product - torch.diag(product.diagonal())).mean()) < 0.05
    assert bert.trace("the cat sat").attention.shape == (2, 4, 5, 5)
