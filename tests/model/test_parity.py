"""Our BERT is Hugging Face's BERT, part by part, on random weights and on the shipped checkpoint."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import model
from model import Batch, Bert, BertConfig, tokenizer

SIZES = {"tiny": (2, 128, 2), "mini": (4, 256, 4), "odd": (3, 96, 6), "small": (4, 512, 8)}
WORDS = tokenizer.from_words([f"w{i}" for i in range(495)])
LENGTHS = (19, 7, 12)  # the first row has no padding


@pytest.fixture(scope="module", params=SIZES)
def both(request, tmp_path_factory):
    """The same random weights in our model and in theirs, made noisy so that no bias or gain is at its default."""
    layers, hidden, heads = SIZES[request.param]
    ours = Bert.random(BertConfig(500, hidden, layers, heads, 4 * hidden, 64), WORDS, seed=3)
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.02)
    folder = ours.save(tmp_path_factory.mktemp("parity") / "ours")
    theirs = BertForPreTraining.from_pretrained(folder, attn_implementation="eager").eval()
    return model.load(folder), theirs


def batch(pair: bool) -> Batch:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 500, (len(LENGTHS), max(LENGTHS)), generator=generator)
    mask = torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]
    segments = (torch.arange(max(LENGTHS))[None] >= torch.tensor(LENGTHS)[:, None] // 2) & mask & pair
    return Batch(ids * mask, segments.long(), mask)


def everything(ours: Bert, inputs: Batch):
    seen: dict[str, list] = {}
    with torch.inference_mode():
        last = ours(inputs, watch=lambda name, layer, value: seen.setdefault(name, []).append(value))
        return seen, ours.words(last), ours.follows(last)


def output(theirs, inputs: Batch):
    with torch.inference_mode():
        return theirs(input_ids=inputs.ids, token_type_ids=inputs.segments, attention_mask=inputs.mask.long(),
                      output_hidden_states=True, output_attentions=True)


@pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])
class TestParity:
    def test_embeddings_agree(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        expected = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        close(ours.embeddings(inputs.ids, inputs.segments, lambda *_: None), expected)

    def test_one_layers_attention_agrees(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        state = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        bias = torch.zeros(inputs.mask.shape).masked_fill(~inputs.mask, -torch.inf)[:, None, None]
        expected = theirs.bert.encoder.layer[0].attention(state, attention_mask=bias)[0]
        layer = ours.layers[0]
        attended = layer.attention(state, bias, None, 0, lambda *_: None)
        close(layer.attention_norm(state + attended), expected)

    def test_one_whole_layer_agrees(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        state = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        bias = torch.zeros(inputs.mask.shape).masked_fill(~inputs.mask, -torch.inf)[:, None, None]
        expected = theirs.bert.encoder.layer[0](state, attention_mask=bias)
        expected = expected[0] if isinstance(expected, tuple) else expected
        close(ours.layers[0](state, bias, None, 0, lambda *_: None), expected)

    def test_all_hidden_states_agree(self, both, pair):
        ours, theirs = both
        seen, _, _ = everything(ours, batch(pair))
        expected = output(theirs, batch(pair)).hidden_states
        assert len(seen["hidden"]) == len(expected) == ours.config.num_hidden_layers + 1
        for mine, their in zip(seen["hidden"], expected, strict=True):
            close(mine, their)

    def test_all_attentions_agree(self, both, pair):
        ours, theirs = both
        seen, _, _ = everything(ours, batch(pair))
        for mine, their in zip(seen["attention"], output(theirs, batch(pair)).attentions, strict=True):
            close(mine, their)

    def test_word_scores_agree(self, both, pair):
        ours, theirs = both
        close(everything(ours, batch(pair))[1], output(theirs, batch(pair)).prediction_logits)

    def test_next_sentence_scores_agree(self, both, pair):
        ours, theirs = both
        close(everything(ours, batch(pair))[2], output(theirs, batch(pair)).seq_relationship_logits)


def test_the_shipped_model_agrees(english):
    theirs = BertForPreTraining.from_pretrained(
        model.checkpoint.SHIPPED / "english", attn_implementation="eager", dtype=torch.float32).eval()
    encoding = english.tokenizer.encode("My dog is [MASK].", "He likes playing.")
    expected = output(theirs, Batch.of(encoding))
    mine = model.trace.trace(english, encoding)
    np.testing.assert_allclose(mine.hidden, torch.stack(expected.hidden_states)[:, 0], atol=1e-5)
    np.testing.assert_allclose(mine.attention, torch.stack(expected.attentions)[:, 0], atol=1e-5)
    assert mine.nsp == pytest.approx(float(expected.seq_relationship_logits.softmax(-1)[0, 0]), abs=1e-5)
    words = english.words(torch.tensor(mine.hidden[-1]))
    np.testing.assert_allclose(words.softmax(-1), expected.prediction_logits[0].softmax(-1), atol=1e-5)


def close(mine: torch.Tensor, expected: torch.Tensor) -> None:
    np.testing.assert_allclose(mine.detach(), expected.detach(), atol=1e-5, rtol=0)
