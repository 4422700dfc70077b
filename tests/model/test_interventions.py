"""Interventions are arguments: each does what it says, and leaves the shared model as it was."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from model import Edits, InputProblem
from model.trace import activations, trace

A, B = "the cat sat on the mat .", "my dog is cute !"


@pytest.fixture(scope="module")
def plain(little):
    return little.trace(A, B)


def test_a_head_that_is_off_adds_nothing(little):
    encoding = little.tokenizer.encode(A)
    mixed = activations(little, encoding, ["mixed"], Edits(heads_off={(1, 2)}))["mixed"]
    assert not mixed[1, 2].any()
    assert mixed[1, 1].any()
    assert mixed[0, 2].any()


def test_switching_a_head_off_is_cutting_its_columns_out_of_the_join(little):
    encoding = little.tokenizer.encode(A)
    expected = activations(little, encoding, ["mixed", "attended"])
    size = little.config.head_size
    own = torch.tensor(expected["mixed"][1, 3]) @ little.layers[1].attention.join.weight[:, 3 * size:].T
    off = activations(little, encoding, ["attended"], Edits(heads_off={(1, 3)}))["attended"]
    np.testing.assert_allclose(expected["attended"][1] - own.numpy(), off[1], atol=1e-5)


def test_a_blocked_edge_carries_nothing_and_rows_still_sum_to_one(little, plain):
    seen = little.trace(A, B, Edits(blocked={(2, 5)})).attention
    assert not seen[:, :, 2, 5].any()
    np.testing.assert_allclose(seen.sum(-1), 1, atol=1e-6)
    kept = np.delete(plain.attention[0, :, 2], 5, axis=-1)
    np.testing.assert_allclose(np.delete(seen[0, :, 2], 5, axis=-1), kept / kept.sum(-1, keepdims=True), atol=1e-6)


def test_an_edge_can_be_blocked_in_one_head_only(little):
    seen = little.trace(A, B, Edits(blocked={(1, 3, 2, 5)})).attention
    assert seen[1, 3, 2, 5] == 0
    assert (seen[1, :3, 2, 5] > 0).all()
    assert (seen[0, :, 2, 5] > 0).all()


@pytest.mark.parametrize(("sight", "unseen"), [("left", np.triu_indices), ("right", np.tril_indices)])
def test_one_sided_sight_sees_one_side(little, sight, unseen):
    seen = little.trace(A, B, Edits(sight=sight)).attention
    rows, columns = unseen(seen.shape[-1], 1 if sight == "left" else -1)
    assert not seen[:, :, rows, columns].any()
    np.testing.assert_allclose(seen.sum(-1), 1, atol=1e-6)


def test_left_sight_makes_a_state_depend_on_nothing_to_its_right(little):
    one = little.trace("the cat sat on the mat .", edits=Edits(sight="left")).hidden
    other = little.trace("the cat sat on a dog !", edits=Edits(sight="left")).hidden
    np.testing.assert_allclose(one[:, :5], other[:, :5], atol=1e-6)
    assert not np.allclose(one[-1, 5], other[-1, 5], atol=1e-3)


def test_a_patched_state_is_what_the_next_layer_reads(little, plain):
    other = little.trace("my dog ran on a mat .", B)
    whole = {(1, position): other.hidden[1, position] for position in range(len(plain.tokens))}
    patched = little.trace(A, B, Edits(patches=whole))
    np.testing.assert_allclose(patched.hidden[1:], other.hidden[1:], atol=1e-5)
    np.testing.assert_allclose(patched.hidden[0], plain.hidden[0])


def test_each_row_of_a_batch_has_its_own_edits(little):
    encoding = little.tokenizer.encode(A, B)
    edits = [Edits(), Edits(heads_off={(0, 1)}), Edits(blocked={(1, 2)}), Edits(sight="left")]
    with torch.inference_mode():
        together = little([encoding] * 4, edits)
    for row, edit in enumerate(edits):
        np.testing.assert_allclose(together[row], trace(little, encoding, edit).hidden[-1], atol=1e-5)


def test_gates_carry_a_gradient_and_the_parameters_do_not(little):
    gates = torch.ones(2, 4, requires_grad=True)
    little(little.tokenizer.encode(A), Edits(gates=gates)).square().sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs() > 0).all()
    assert all(parameter.grad is None for parameter in little.parameters())


def test_sixteen_threads_with_different_edits_get_what_each_gets_alone(english):
    encodings = [english.tokenizer.encode("My dog is cute.", "He likes playing.") for _ in range(16)]
    edits = [Edits(heads_off={(thread % 6, thread % 12)}, blocked={(1, 2 + thread % 8)},
                   sight=("both", "left", "right")[thread % 3]) for thread in range(16)]
    alone = [trace(english, encoding, edit) for encoding, edit in zip(encodings, edits, strict=True)]
    before = {name: tensor.clone() for name, tensor in english.state_dict().items()}
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda pair: [trace(english, *pair) for _ in range(4)][-1],
                                 zip(encodings, edits, strict=True)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.hidden, other.hidden, atol=1e-6)
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-6)
    assert all(torch.equal(before[name], tensor) for name, tensor in english.state_dict().items())


@pytest.mark.parametrize(("edits", "said"), [
    (Edits(heads_off={(2, 0)}), "no layer 3"), (Edits(heads_off={(0, 4)}), "no head 5"),
    (Edits(blocked={(0, 99)}), "no position 100"),
    (Edits(blocked={(1, key) for key in range(9)}), "nothing left to look at"),
    (Edits(patches={(0, 0): np.zeros(5)}), "has 32 numbers"),
    ([Edits(), Edits()], "2 edits were given for 1"),
])
def test_an_edit_that_cannot_be_is_refused_in_words(little, edits, said):
    with pytest.raises(InputProblem, match=said):
        little(little.tokenizer.encode(A), edits)


def test_a_sight_that_is_none_is_refused():
    with pytest.raises(InputProblem, match="Sight"):
        Edits(sight="up")
