"""Our BERT is Hugging Face's BERT, part by part, on random weights and on the shipped checkpoint."""

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

import model
from model import Batch, Bert, BertConfig, tokenizer

SIZES = {"tiny": (2, 128, 2), "mini": (4, 256, 4), "odd": (3, 96, 6), "small": (4, 512, 8)}
WORDS = tokenizer.from_vocabulary([f"w{i}" for i in range(495)])
LENGTHS = (19, 7, 12)  # the first row has no padding


@pytest.fixture(scope="module", params=SIZES)
def both(request, tmp_path_factory):
    """The same random weights in our model and in theirs, with noise so that no bias or gain is at its default."""
    layers, hidden, heads = SIZES[request.param]
    ours = Bert.random_init(BertConfig(500, hidden, layers, heads, 4 * hidden, 64), WORDS, seed=3)
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
    layers: dict[str, list[torch.Tensor]] = {}

    def record(layer: int, **values: torch.Tensor) -> None:
        for name, value in values.items():
            layers.setdefault(name, []).append(value)

    with torch.inference_mode():
        last = ours(inputs, record=record)
        return layers, ours.mlm_logits(last), ours.nsp_logits(last)


def output(theirs, inputs: Batch):
    with torch.inference_mode():
        return theirs(
            input_ids=inputs.ids,
            token_type_ids=inputs.segments,
            attention_mask=inputs.attention_mask.long(),
            output_hidden_states=True,
            output_attentions=True,
        )


@pytest.mark.parametrize("pair", [False, True], ids=["single", "pair"])
class TestParity:
    def test_embeddings_agree(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        expected = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        close(ours.embeddings(inputs.ids, inputs.segments), expected)

    def test_one_layers_attention_agrees(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        state = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        bias = torch.zeros(inputs.attention_mask.shape).masked_fill(~inputs.attention_mask, -torch.inf)[:, None, None]
        expected = theirs.bert.encoder.layer[0].attention(state, attention_mask=bias)[0]
        layer = ours.layers[0]
        close(layer.attention_norm(state + layer.attention(state, bias)), expected)

    def test_one_whole_layer_agrees(self, both, pair):
        ours, theirs = both
        inputs = batch(pair)
        state = theirs.bert.embeddings(input_ids=inputs.ids, token_type_ids=inputs.segments)
        bias = torch.zeros(inputs.attention_mask.shape).masked_fill(~inputs.attention_mask, -torch.inf)[:, None, None]
        expected = theirs.bert.encoder.layer[0](state, attention_mask=bias)
        expected = expected[0] if isinstance(expected, tuple) else expected
        close(ours.layers[0](state, bias), expected)

    def test_all_hidden_states_agree(self, both, pair):
        ours, theirs = both
        layers, _, _ = everything(ours, batch(pair))
        expected = output(theirs, batch(pair)).hidden_states
        assert len(layers["hidden"]) == len(expected) == ours.config.num_hidden_layers + 1
        for mine, their in zip(layers["hidden"], expected, strict=True):
            close(mine, their)

    def test_all_attentions_agree(self, both, pair):
        ours, theirs = both
        layers, _, _ = everything(ours, batch(pair))
        for mine, their in zip(layers["attention"], output(theirs, batch(pair)).attentions, strict=True):
            close(mine, their)

    def test_word_scores_agree(self, both, pair):
        ours, theirs = both
        close(everything(ours, batch(pair))[1], output(theirs, batch(pair)).prediction_logits)

    def test_next_sentence_scores_agree(self, both, pair):
        ours, theirs = both
        close(everything(ours, batch(pair))[2], output(theirs, batch(pair)).seq_relationship_logits)


def test_the_shipped_model_agrees(english):
    theirs = BertForPreTraining.from_pretrained(
        model.checkpoint.BUNDLED / "english", attn_implementation="eager", dtype=torch.float32
    ).eval()
    encoding = english.tokenizer.encode("My dog is [MASK].", "He likes playing.")
    expected = output(theirs, Batch.collate(encoding))
    mine = model.trace.trace(english, encoding)
    np.testing.assert_allclose(mine.hidden, torch.stack(expected.hidden_states)[:, 0], atol=1e-5)
    np.testing.assert_allclose(mine.attention, torch.stack(expected.attentions)[:, 0], atol=1e-5)
    assert mine.nsp == pytest.approx(float(expected.seq_relationship_logits.softmax(-1)[0, 0]), abs=1e-5)
    words = english.mlm_logits(torch.tensor(mine.hidden[-1]))
    np.testing.assert_allclose(words.softmax(-1), expected.prediction_logits[0].softmax(-1), atol=1e-5)


def close(mine: torch.Tensor, expected: torch.Tensor) -> None:
    np.testing.assert_allclose(mine.detach(), expected.detach(), atol=1e-5, rtol=0)
