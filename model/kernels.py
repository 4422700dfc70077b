"""Faster ways to torch's own results, and the private operations behind them.

A fast operation is compared with the plain one at its first use and left alone where it is missing or differs.
BERTSCOPE_PLAIN=1 turns all of them off.
"""

import contextlib
import ctypes
import os
import sys
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor

FEW = 32  # states up to which the vocabulary is scored by halves of its table

# glibc's mallopt: sizes from which memory is mapped from the system, kept when free, requested at a time (bytes)
M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD = -3, -1, -2
MALLOC_OPTIONS = {M_MMAP_THRESHOLD: 1 << 30, M_TRIM_THRESHOLD: (1 << 31) - 1, M_TOP_PAD: 1 << 28}
ONEDNN_PRIMITIVES = 16384  # by default 1,024


@cache
def plain() -> bool:
    """Whether BERTSCOPE_PLAIN turns every fast path off; read once, at the first use."""
    return os.environ.get("BERTSCOPE_PLAIN", "") not in ("", "0")


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """`F.linear`; without a gradient, by the kernel of torch's compiler: a quarter less time on some processors."""
    differentiable = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad or bias.requires_grad)
    if differentiable or x.device.type != "cpu" or x.dtype != torch.float32 or not _pointwise_agrees():
        return F.linear(x, weight, bias)
    return _pointwise(x, weight, bias)


def vocabulary_logits(states: Tensor, embeddings: Tensor, bias: Tensor) -> Tensor:
    """`F.linear(states, embeddings, bias)`; for a few states by both halves of the table at once: half the time or less."""
    columns = states.reshape(-1, states.shape[-1]).T  # (hidden, states)
    if columns.shape[1] > FEW or not _halves_agree():
        return linear(states, embeddings, bias)
    return _halves(columns, embeddings, bias).view(*states.shape[:-1], len(embeddings))


def fastest_precision() -> str:
    """The precision in which this machine multiplies fastest; always the same on the same machine."""
    if torch.cuda.is_available():
        bfloat16 = torch.cuda.is_bf16_supported()
    else:
        bfloat16 = not plain() and (torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    return "bfloat16" if bfloat16 else "float32"


def keep_freed_memory() -> None:
    """Let glibc keep the memory one training step frees for the next: requesting it anew took a seventh of the time."""
    if sys.platform == "linux" and not plain():
        with contextlib.suppress(OSError, AttributeError):  # another C library
            for option, size in MALLOC_OPTIONS.items():
                ctypes.CDLL("libc.so.6").mallopt(option, size)


def cache_primitives() -> None:
    """Let oneDNN keep a compiled product for every shape of a batch: a small model trains a fifth faster in bfloat16.

    Read by oneDNN at its first product in bfloat16.
    """
    if not plain():
        os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(ONEDNN_PRIMITIVES))


def _pointwise(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def _halves(columns: Tensor, embeddings: Tensor, bias: Tensor) -> Tensor:
    half = len(embeddings) // 2
    halves = torch.bmm(embeddings[: 2 * half].view(2, half, -1), columns.expand(2, -1, -1))  # (2, half, states)
    last = embeddings[2 * half :] @ columns  # of a vocabulary of odd size
    return torch.cat([*halves, last]).T + bias  # (states, vocabulary)


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
            x, weight, bias = (
                torch.randn(*shape, generator=generator, device="cpu", dtype=torch.float32)
                for shape in ((rows, inputs), (outputs, inputs), (outputs,))
            )
            try:
                result = fast(x, weight, bias)
            except (AttributeError, RuntimeError, TypeError):  # no such operation here, or one with other arguments
                return False
            if not torch.allclose(result, F.linear(x, weight, bias), rtol=1e-4, atol=1e-4):
                return False
    return True
