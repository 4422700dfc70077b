"""A model on another device computes there: nothing of the forward pass is left on this one.

There is no second device on most machines, so one is played: tensors that say they live on cuda:0 and, as CUDA does,
refuse to be computed together with tensors of this processor.
"""

import copy

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from model import Batch, Bert, Edits, finetuning, trace

OTHER = torch.device("cuda", 0)
TEXTS = ["the cat sat on the mat .", "my dog is cute", "he likes playing , new york !"]
# CUDA too takes indices from the processor, and copies between devices where it is told to write
ACROSS = (torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.Tensor.copy_)


class Elsewhere(torch.Tensor):
    """A tensor of the other device."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function == torch.Tensor.device.__get__:
            return OTHER
        if function is torch.Tensor.numpy:
            raise TypeError("cannot convert a tensor of another device to numpy")
        if function is torch.Tensor.cpu:
            with torch._C.DisableTorchFunctionSubclass():
                return args[0].as_subclass(torch.Tensor)
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if function not in ACROSS and any(not isinstance(one, Elsewhere) and one.dim() for one in tensors):
            raise RuntimeError(f"{function} was given tensors of two devices")
        return super().__torch_function__(function, types, args, kwargs)


def _devices(args, kwargs) -> list:
    return [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.device)]


class TwoDevices(TorchFunctionMode):
    """Whoever asks for the other device, in making a tensor or in moving it, gets tensors of it."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if OTHER not in _devices(args, kwargs):
            return function(*args, **kwargs)

        def here(leaf):
            return torch.device("cpu") if isinstance(leaf, torch.device) else leaf

        with torch._C.DisableTorchFunctionSubclass():
            made = function(*map(here, args), **{name: here(value) for name, value in kwargs.items()})
            return made.as_subclass(Elsewhere)


@pytest.fixture
def away(little):
    """The little model on the other device; whatever is computed meanwhile knows both devices."""
    bert = copy.deepcopy(little)
    for module in bert.modules():
        for name, parameter in module.named_parameters(recurse=False):
            setattr(module, name, torch.nn.Parameter(parameter.data.as_subclass(Elsewhere), requires_grad=False))
    with TwoDevices():
        yield bert


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
    "left": Edits(sight="left"),
    "an edge": Edits(blocked={(1, 2)}),
    "an edge of a head": Edits(blocked={(0, 1, 3, 0)}, sight="right"),
    "an array put in": Edits(patches={(1, 2): np.ones(32)}),
    "a tensor put in": Edits(patches={(1, 2): torch.ones(32)}),
}


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_a_batch_is_computed_where_the_weights_are(little, away, edits):
    encodings = [little.tokenizer.encode(text) for text in TEXTS]
    states = away(encodings, edits)
    assert states.device == OTHER
    torch.testing.assert_close(states.cpu(), little(encodings, edits))
    rows, positions = torch.tensor([0, 2, 2]), torch.tensor([1, 0, 3])
    places = (rows, positions, encodings, edits)
    torch.testing.assert_close(away.at(*places).cpu(), little.at(*places))
    assert away.words(states[:, 1]).device == away.follows(states).device == OTHER


@pytest.mark.parametrize("edits", EDITS.values(), ids=EDITS)
def test_a_trace_is_arrays_wherever_the_model_is(little, away, edits):
    there, here = away.trace(*TEXTS[:2], edits=edits), little.trace(*TEXTS[:2], edits=edits)
    np.testing.assert_allclose(there.hidden, here.hidden, atol=1e-6)
    np.testing.assert_allclose(there.attention, here.attention, atol=1e-6)
    assert there.nsp == pytest.approx(here.nsp)


def test_activations_and_states_are_arrays_wherever_the_model_is(little, away):
    encodings = [little.tokenizer.encode(text) for text in TEXTS]
    np.testing.assert_allclose(trace.activations(away, encodings[0], ["mixed"])["mixed"],
                               trace.activations(little, encodings[0], ["mixed"])["mixed"], atol=1e-6)
    for (row, there), (same, here) in zip(trace.states(away, encodings), trace.states(little, encodings), strict=True):
        assert row == same
        np.testing.assert_allclose(there, here, atol=1e-6)


def test_a_batch_that_is_ready_is_moved_to_nobody(little, away):
    batch = Batch.of([little.tokenizer.encode(text) for text in TEXTS], device=OTHER)
    assert {part.device for part in (batch.ids, batch.segments, batch.mask, batch.bias) if part is not None} == {OTHER}
    assert batch.bias is not None
    assert Batch.of(batch) is batch


def test_gates_elsewhere_are_reached_by_a_gradient_here(away):
    gates = torch.ones(2, 4, requires_grad=True)
    away(away.tokenizer.encode(TEXTS[0]), Edits(gates=gates)).square().sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs() > 0).all()


def test_a_random_model_and_its_fixed_positions_are_made_here(little):
    assert {parameter.device.type for parameter in Bert.random(little.config, little.tokenizer).parameters()} == {"cpu"}


def test_a_fine_tuned_model_answers_wherever_it_is(little, away):
    tuned = finetuning.Tuned(little, ["yes", "no"], "token").eval().requires_grad_(False)
    given = finetuning.Labelled([little.tokenizer.encode(text) for text in TEXTS],
                              np.array([(0, 1), (1, 2), (2, 1), (2, 3)]), np.array([0, 1, 0, 1]))
    here = finetuning.probabilities(tuned, given)
    tuned.bert = away
    tuned.output.weight, tuned.output.bias = (torch.nn.Parameter(part.data.as_subclass(Elsewhere), requires_grad=False)
                                              for part in (tuned.output.weight, tuned.output.bias))
    away.mlm = away.nsp = None
    np.testing.assert_allclose(finetuning.probabilities(tuned, given), here, atol=1e-6)
