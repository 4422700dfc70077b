"""A model on another device computes there: nothing of the forward pass is left on this one."""

import numpy as np
import pytest
import torch

from model import Batch, Bert, Edits, finetuning, trace
from tests.second_device import OTHER, Elsewhere, TwoDevices

TEXTS = ["the cat sat on the mat .", "my dog is cute", "he likes playing , new york !"]


def test_the_played_device_refuses_company_as_a_real_one_does():
    with TwoDevices():
        there = torch.zeros(3, device=OTHER)
        assert there.device == OTHER
        assert (there + 1).device == torch.ones_like(there).device == OTHER
        with pytest.raises(RuntimeError, match="two devices"):
            there + torch.zeros(3)
        with pytest.raises(TypeError, match="numpy"):
            there.numpy()
        assert there.cpu().device.type == "cpu"
        assert torch.zeros(3).to(OTHER).device == OTHER


EDITS = {
    "none": None,
    "a head off": Edits(heads_off={(1, 2)}),
    "gates": Edits(gates=torch.full((2, 4), 0.5)),
    "both": Edits(heads_off={(0, 1)}, gates=torch.full((2, 4), 0.5)),
    "left": Edits(direction="left"),
    "an edge": Edits(blocked={(1, 2)}),
    "an edge of a head": Edits(blocked={(0, 1, 3, 0)}, direction="right"),
    "an array put in": Edits(patches={(1, 2): np.ones(32)}),
    "a tensor put in": Edits(patches={(1, 2): torch.ones(32)}),
}


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_a_batch_is_computed_where_the_weights_are(tiny_bert, away, edits):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    states = away(encodings, edits)
    assert states.device == OTHER
    torch.testing.assert_close(states.cpu(), tiny_bert(encodings, edits))
    rows, positions = torch.tensor([0, 2, 2]), torch.tensor([1, 0, 3])
    places = (rows, positions, encodings, edits)
    torch.testing.assert_close(away.states_at(*places).cpu(), tiny_bert.states_at(*places))
    assert away.mlm_logits(states[:, 1]).device == away.nsp_logits(states).device == OTHER


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_a_trace_is_arrays_wherever_the_model_is(tiny_bert, away, edits):
    there, here = away.trace(*TEXTS[:2], edits=edits), tiny_bert.trace(*TEXTS[:2], edits=edits)
    np.testing.assert_allclose(there.hidden, here.hidden, atol=1e-6)
    np.testing.assert_allclose(there.attention, here.attention, atol=1e-6)
    assert there.nsp == pytest.approx(here.nsp)


def test_activations_and_states_are_arrays_wherever_the_model_is(tiny_bert, away):
    encodings = [tiny_bert.tokenizer.encode(text) for text in TEXTS]
    names, edits = ["context", "attention", "query"], Edits(heads_off={(1, 2)}, direction="left")
    there, here = (dict(trace.activations(bert, encodings, names, edits)) for bert in (away, tiny_bert))
    for row in range(len(encodings)):
        for name in names:
            np.testing.assert_allclose(there[row][name], here[row][name], atol=1e-6)
    for (row, there), (same, here) in zip(
        trace.hidden_states(away, encodings), trace.hidden_states(tiny_bert, encodings), strict=True
    ):
        assert row == same
        np.testing.assert_allclose(there, here, atol=1e-6)


def test_a_batch_that_is_ready_is_moved_to_nobody(tiny_bert, away):
    batch = Batch.collate([tiny_bert.tokenizer.encode(text) for text in TEXTS], device=OTHER)
    assert {
        part.device for part in (batch.ids, batch.segments, batch.attention_mask, batch.padding_bias) if part is not None
    } == {OTHER}
    assert batch.padding_bias is not None
    assert Batch.collate(batch) is batch


def test_gates_elsewhere_are_reached_by_a_gradient_here(away):
    gates = torch.ones(2, 4, requires_grad=True)
    away(away.tokenizer.encode(TEXTS[0]), Edits(gates=gates)).square().sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs() > 0).all()


def test_a_random_model_and_its_fixed_positions_are_made_here(tiny_bert):
    assert {parameter.device.type for parameter in Bert.random_init(tiny_bert.config, tiny_bert.tokenizer).parameters()} == {
        "cpu"
    }


def test_a_fine_tuned_model_answers_wherever_it_is(tiny_bert, away):
    tuned = finetuning.FinetunedBert(tiny_bert, ["yes", "no"], "token").eval().requires_grad_(False)
    inputs = finetuning.LabelledInputs(
        [tiny_bert.tokenizer.encode(text) for text in TEXTS],
        np.array([(0, 1), (1, 2), (2, 1), (2, 3)]),
        np.array([0, 1, 0, 1]),
    )
    here = finetuning.probabilities(tuned, inputs)
    tuned.bert = away
    tuned.output.weight, tuned.output.bias = (
        torch.nn.Parameter(part.data.as_subclass(Elsewhere), requires_grad=False)
        for part in (tuned.output.weight, tuned.output.bias)
    )
    away.mlm = away.nsp = None
    np.testing.assert_allclose(finetuning.probabilities(tuned, inputs), here, atol=1e-6)
