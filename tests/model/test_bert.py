"""What must hold of any BERT."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import model
from model import Batch, Bert, Edits, InputProblem, MissingHead, sinusoids
from model.bert import MaskedWordHead
from model.kernels import FEW
from model.pretraining.initialisation import quickened

TEXTS = ["the cat sat on the mat .", "my dog is cute", "he likes playing , new york !"]


def test_attention_rows_sum_to_one(little):
    np.testing.assert_allclose(little.trace(*TEXTS[:2]).attention.sum(-1), 1, atol=1e-6)


def test_padding_changes_nothing(little):
    encodings = [little.tokenizer.encode(text) for text in TEXTS]
    with torch.inference_mode():
        together = little(encodings)
    for row, encoding in enumerate(encodings):
        np.testing.assert_allclose(together[row, : len(encoding)], little(encoding)[0], atol=1e-5)


def test_nothing_looks_at_padding(little):
    seen = []
    little([little.tokenizer.encode(text) for text in TEXTS],
           watch=lambda name, layer, value: name == "attention" and seen.append(value))
    assert not seen[1][1, :, :, 6:].any()


def test_the_input_is_the_normalised_sum_of_three_embeddings(little):
    trace = little.trace(*TEXTS[:2])
    whole = torch.tensor(trace.token + trace.segment + trace.position)
    np.testing.assert_allclose(little.embeddings.norm(whole), trace.hidden[0], atol=1e-6)


def test_output_0_of_the_next_sentence_head_is_isnext(little):
    bert = Bert.random(little.config, little.tokenizer, seed=1)
    with torch.no_grad():
        bert.need_nsp().classifier.weight.zero_()
        bert.need_nsp().classifier.bias.copy_(torch.tensor([3.0, 0.0]))
    assert bert.trace(*TEXTS[:2]).nsp == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-5)


def test_a_missing_head_is_said_and_nothing_is_invented(little):
    bert = Bert.random(little.config, little.tokenizer, mlm=False, nsp=False)
    assert bert.trace(TEXTS[0]).nsp is None
    with pytest.raises(MissingHead, match="masked-word head"):
        bert.words(torch.zeros(1, 32))
    with pytest.raises(MissingHead, match="next-sentence head"):
        bert.follows(torch.zeros(1, 3, 32))


def test_the_masked_word_head_scores_by_the_embedding_matrix(little):
    state = torch.randn(1, 32)
    direct = little.mlm.norm(torch.nn.functional.gelu(little.mlm.dense(state)))
    expected = little.embeddings.token.weight @ direct[0] + little.mlm.bias
    np.testing.assert_allclose(little.words(state)[0], expected, atol=1e-5)


@pytest.mark.parametrize("size", [50, 51])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (FEW + 1,)])
def test_words_are_scored_alike_for_few_states_and_many_and_for_odd_vocabularies(little, size, shape):
    head = MaskedWordHead(replace(little.config, vocab_size=size))
    for part in (head.dense.weight, head.dense.bias, head.bias):
        torch.nn.init.normal_(part, generator=torch.Generator().manual_seed(size))
    states, words = torch.randn(*shape, head.dense.in_features), torch.randn(size, head.dense.in_features)
    with torch.inference_mode():
        found = head(states, words)
        expected = head.norm(head.activation(head.dense(states))) @ words.T + head.bias
    assert found.shape == (*shape, size)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_random_bert_is_the_same_for_the_same_seed_only(little):
    one, same, other = (Bert.random(little.config, little.tokenizer, seed=seed).trace(TEXTS[0]).hidden for seed in (5, 5, 6))
    assert np.array_equal(one, same)
    assert not np.allclose(one, other)


def test_the_twin_has_the_same_shape_and_other_weights(little):
    twin = little.twin(seed=9)
    assert {n: t.shape for n, t in twin.state_dict().items()} == {n: t.shape for n, t in little.state_dict().items()}
    assert not torch.equal(twin.embeddings.token.weight, little.embeddings.token.weight)
    assert "random weights" in twin.about.name


def test_sinusoids_turn_with_position(little):
    table = sinusoids(50, 8)
    np.testing.assert_allclose(table[0], [0, 1] * 4, atol=1e-6)
    np.testing.assert_allclose(table[7, 0], np.sin(7), atol=1e-5)
    np.testing.assert_allclose(table[7, 7], np.cos(7 / 10000 ** (6 / 8)), atol=1e-5)


def test_a_text_longer_than_the_model_is_refused_where_it_was_not_cut(little):
    ids = torch.full((1, 65), 7)
    with pytest.raises(InputProblem, match="at most 64"):
        little(Batch(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool)))


def test_states_in_batches_are_the_states_alone(little):
    encodings = [little.tokenizer.encode(text) for text in TEXTS * 3]
    seen = dict(model.states(little, encodings, layers=[0, 2], tokens_at_once=20))
    assert sorted(seen) == list(range(9))
    for row, encoding in enumerate(encodings):
        np.testing.assert_allclose(seen[row], model.trace.trace(little, encoding).hidden[[0, 2]], atol=1e-5)


def test_a_trace_that_does_not_fit_its_tokens_is_refused(little):
    whole = little.trace(TEXTS[0])
    broken = vars(whole) | {"hidden": whole.hidden[:, :-1]}
    with pytest.raises(ValueError, match=r"trace\.hidden"):
        model.Trace(**{name: broken[name] for name in model.Trace.__dataclass_fields__})


def test_a_trace_cannot_be_written_to(little):
    with pytest.raises(ValueError, match="read-only"):
        little.trace(TEXTS[0]).attention[0] = 0


def test_watching_changes_nothing(little):
    encodings = [little.tokenizer.encode(text) for text in TEXTS]
    for edits in (None, Edits(sight="left"), Edits(blocked={(1, 2), (0, 1, 3, 0)})):
        with torch.inference_mode():
            unwatched = little(encodings, edits)
            watched = little(encodings, edits, watch=lambda name, layer, value: None)
        for row, encoding in enumerate(encodings):
            np.testing.assert_allclose(unwatched[row, : len(encoding)], watched[row, : len(encoding)], atol=1e-5)


def test_training_computes_what_asking_computes(little):
    config = replace(little.config, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    bert, encodings = Bert.random(config, little.tokenizer), [little.tokenizer.encode(text) for text in TEXTS]
    asked, learning = bert(encodings), bert.train()(encodings)
    torch.testing.assert_close(learning, asked, atol=1e-5, rtol=0)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(bert(encodings), asked, atol=0.1, rtol=0)
    learning.sum().backward()
    for name in ("query", "key", "value"):
        assert getattr(bert.layers[0].attention, name).bias.grad is not None


def test_chosen_places_have_the_states_that_all_places_together_have(little):
    encodings = [little.tokenizer.encode(text) for text in ("the cat saw a dog", "a dog")]
    rows, positions = torch.tensor([0, 0, 1, 1]), torch.tensor([1, 3, 0, 2])
    for edits in (None, Edits(sight="left"), Edits(heads_off=frozenset({(1, 0)}))):
        everything = little(encodings, edits)
        torch.testing.assert_close(little.at(rows, positions, encodings, edits), everything[rows, positions])


def test_a_quickened_model_copies_what_it_looks_at_and_looks_at_what_is_alike(little):
    bert = quickened(little.twin(3), seed=3)
    weights = bert.state_dict()
    copied = weights["layers.0.attention.join.weight"] @ weights["layers.0.attention.value.weight"]
    alike = weights["layers.1.attention.query.weight"].T @ weights["layers.1.attention.key.weight"]
    for product, strength in ((copied, 1.0), (alike, 0.6)):
        assert product.diagonal().mean() == pytest.approx(strength, abs=0.2)
        assert abs((product - torch.diag(product.diagonal())).mean()) < 0.05
    assert bert.trace("the cat sat").attention.shape == (2, 4, 5, 5)
