"""Interventions are arguments: each does what it says, and leaves the shared model as it was."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from model import Edits, InputError
from model.trace import activations, trace

A, B = "the cat sat on the mat .", "my dog is cute !"


@pytest.fixture(scope="module")
def plain(tiny_bert):
    return tiny_bert.trace(A, B)


def test_a_head_that_is_off_adds_nothing(tiny_bert):
    encoding = tiny_bert.tokenizer.encode(A)
    ((_, arrays),) = activations(tiny_bert, [encoding], ["context"], Edits(heads_off={(1, 2)}))
    assert not arrays["context"][1, 2].any()
    assert arrays["context"][1, 1].any()
    assert arrays["context"][0, 2].any()


def test_switching_a_head_off_is_removing_its_columns_from_the_output_projection(tiny_bert):
    encoding = tiny_bert.tokenizer.encode(A)
    ((_, expected),) = activations(tiny_bert, [encoding], ["context", "attention_output"])
    size = tiny_bert.config.head_size
    own = torch.tensor(expected["context"][1, 3]) @ tiny_bert.layers[1].attention.output.weight[:, 3 * size :].T
    ((_, off),) = activations(tiny_bert, [encoding], ["attention_output"], Edits(heads_off={(1, 3)}))
    np.testing.assert_allclose(expected["attention_output"][1] - own.numpy(), off["attention_output"][1], atol=1e-5)


def test_a_blocked_edge_carries_nothing_and_rows_still_sum_to_one(tiny_bert, plain):
    attention = tiny_bert.trace(A, B, Edits(blocked={(2, 5)})).attention
    assert not attention[:, :, 2, 5].any()
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-6)
    others = np.delete(plain.attention[0, :, 2], 5, axis=-1)
    expected = others / others.sum(-1, keepdims=True)
    np.testing.assert_allclose(np.delete(attention[0, :, 2], 5, axis=-1), expected, atol=1e-6)


def test_an_edge_can_be_blocked_in_one_head_only(tiny_bert):
    attention = tiny_bert.trace(A, B, Edits(blocked={(1, 3, 2, 5)})).attention
    assert attention[1, 3, 2, 5] == 0
    assert (attention[1, :3, 2, 5] > 0).all()
    assert (attention[0, :, 2, 5] > 0).all()


@pytest.mark.parametrize(("direction", "other_side"), [("left", np.triu_indices), ("right", np.tril_indices)])
def test_one_direction_attends_to_one_side(tiny_bert, direction, other_side):
    attention = tiny_bert.trace(A, B, Edits(direction=direction)).attention
    queries, keys = other_side(attention.shape[-1], 1 if direction == "left" else -1)
    assert not attention[:, :, queries, keys].any()
    np.testing.assert_allclose(attention.sum(-1), 1, atol=1e-6)


def test_the_direction_left_makes_a_state_depend_on_nothing_to_its_right(tiny_bert):
    one = tiny_bert.trace("the cat sat on the mat .", edits=Edits(direction="left")).hidden
    other = tiny_bert.trace("the cat sat on a dog !", edits=Edits(direction="left")).hidden
    np.testing.assert_allclose(one[:, :5], other[:, :5], atol=1e-6)
    assert not np.allclose(one[-1, 5], other[-1, 5], atol=1e-3)


def test_a_patched_state_is_what_the_next_layer_reads(tiny_bert, plain):
    other = tiny_bert.trace("my dog ran on a mat .", B)
    whole = {(1, position): other.hidden[1, position] for position in range(len(plain.tokens))}
    patched = tiny_bert.trace(A, B, Edits(patches=whole))
    np.testing.assert_allclose(patched.hidden[1:], other.hidden[1:], atol=1e-5)
    np.testing.assert_allclose(patched.hidden[0], plain.hidden[0])


def test_each_row_of_a_batch_has_its_own_edits(tiny_bert):
    encoding = tiny_bert.tokenizer.encode(A, B)
    edits = [Edits(), Edits(heads_off={(0, 1)}), Edits(blocked={(1, 2)}), Edits(direction="left")]
    with torch.inference_mode():
        together = tiny_bert([encoding] * 4, edits)
    for row, edit in enumerate(edits):
        np.testing.assert_allclose(together[row], trace(tiny_bert, encoding, edit).hidden[-1], atol=1e-5)


def test_gates_carry_a_gradient_and_the_parameters_do_not(tiny_bert):
    gates = torch.ones(2, 4, requires_grad=True)
    tiny_bert(tiny_bert.tokenizer.encode(A), Edits(gates=gates)).square().sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs() > 0).all()
    assert all(parameter.grad is None for parameter in tiny_bert.parameters())


def test_sixteen_threads_with_different_edits_get_what_each_gets_alone(english):
    encodings = [english.tokenizer.encode("My dog is cute.", "He likes playing.") for _ in range(16)]
    edits = [
        Edits(
            heads_off={(thread % 6, thread % 12)},
            blocked={(1, 2 + thread % 8)},
            direction=("both", "left", "right")[thread % 3],
        )
        for thread in range(16)
    ]
    alone = [trace(english, encoding, edit) for encoding, edit in zip(encodings, edits, strict=True)]
    before = {name: tensor.clone() for name, tensor in english.state_dict().items()}
    with ThreadPoolExecutor(16) as pool:
        together = list(
            pool.map(lambda pair: [trace(english, *pair) for _ in range(4)][-1], zip(encodings, edits, strict=True))
        )
    for expected, concurrent in zip(alone, together, strict=True):
        np.testing.assert_allclose(expected.hidden, concurrent.hidden, atol=1e-6)
        np.testing.assert_allclose(expected.attention, concurrent.attention, atol=1e-6)
    assert all(torch.equal(before[name], tensor) for name, tensor in english.state_dict().items())


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (Edits(heads_off={(2, 0)}), "no layer 3"),
        (Edits(heads_off={(0, 4)}), "no head 5"),
        (Edits(blocked={(0, 99)}), "no position 100"),
        (Edits(blocked={(1, key) for key in range(9)}), "no key left"),
        (Edits(patches={(0, 0): np.zeros(5)}), "needs 32"),
        ([Edits(), Edits()], "2 edits for 1 inputs"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_words(tiny_bert, edits, message):
    with pytest.raises(InputError, match=message):
        tiny_bert(tiny_bert.tokenizer.encode(A), edits)


def test_an_unknown_direction_is_refused():
    with pytest.raises(InputError, match="direction must be one of 'both', 'left', 'right', not 'up'"):
        Edits(direction="up")
