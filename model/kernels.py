"""Faster ways to torch's own results; each is compared with the plain one at its first use, and left alone where it
is missing or differs. BERTSCOPE_PLAIN=1 leaves all of them alone."""

import os
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

FEW = 32  # states whose words are scored by halves of the table


@cache
def plain() -> bool:
    """Whether BERTSCOPE_PLAIN turns every fast path off; read once, at the first use."""
    return os.environ.get("BERTSCOPE_PLAIN", "") not in ("", "0")


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`F.linear`; where nothing is learned, by the kernel of torch's compiler: a quarter sooner on some processors."""
    learned = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad or bias.requires_grad)
    if learned or x.device.type != "cpu" or x.dtype != torch.float32 or not _pointwise_agrees():
        return F.linear(x, weight, bias)
    return _pointwise(x, weight, bias)


def vocabulary_logits(states: Tensor, words: Tensor, bias: Tensor) -> Tensor:
    """`F.linear(states, words, bias)`, for a few states two to three times as fast: both halves of the table at once."""
    columns = states.reshape(-1, states.shape[-1]).T  # (hidden, states)
    if columns.shape[1] > FEW or not _halves_agree():
        return linear(states, words, bias)
    return _halves(columns, words, bias).view(*states.shape[:-1], len(words))


def _pointwise(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _halves(columns: Tensor, words: Tensor, bias: Tensor) -> Tensor:
    half = len(words) // 2
    halves = torch.bmm(words[: 2 * half].view(2, half, -1), columns.expand(2, -1, -1))  # (half, words, states)
    odd = words[2 * half:] @ columns  # the last word of an odd number
    return torch.cat([*halves, odd]).T + bias  # (states, words)


@cache
def _pointwise_agrees() -> bool:
    return torch.backends.mkldnn.is_available() and _agrees(_pointwise)


@cache
def _halves_agree() -> bool:
    return _agrees(lambda x, weight, bias: _halves(x.T, weight, bias))


def _agrees(fast) -> bool:
    """Whether a fast path gives what `F.linear` gives, one row or many, for an odd number of outputs and an even one."""
    if plain():
        return False
    generator = torch.Generator().manual_seed(0)
    with torch.inference_mode(), torch.autocast("cpu", enabled=False):
        for rows, inputs, outputs in ((1, 24, 7), (5, 24, 7), (17, 96, 130)):
            x, weight, bias = (torch.randn(*shape, generator=generator, device="cpu", dtype=torch.float32)
                               for shape in ((rows, inputs), (outputs, inputs), (outputs,)))
            try:
                result = fast(x, weight, bias)
            except (AttributeError, RuntimeError, TypeError):  # no such operation here, or one with other arguments
                return False
            if not torch.allclose(result, F.linear(x, weight, bias), rtol=1e-4, atol=1e-4):
                return False
    return True
