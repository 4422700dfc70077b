"""Every fast path of model/kernels.py against torch's plain operation: what gives less than a tenth does not stay."""

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

from bench.timing import SAME, Row, compare
from model import kernels

AIM = 1.1


def rows() -> Iterator[Row]:
    rng = torch.Generator().manual_seed(0)
    for tokens in (16, 128):
        x, weight, bias = (torch.rand(*shape, generator=rng) for shape in ((tokens, 384), (1536, 384), (1536,)))
        yield _row(f"linear, {tokens} tokens, 384 to 1,536", kernels.linear, F.linear, x, weight, bias)
    embeddings, bias = torch.rand(30_522, 384, generator=rng), torch.rand(30_522, generator=rng)
    for count in (1, 8):
        states = torch.rand(count, 384, generator=rng)
        yield _row(
            f"logits over 30,522 words, {count} states", kernels.vocabulary_logits, F.linear, states, embeddings, bias
        )


def _row(name: str, fast: Callable, plain: Callable, *tensors: torch.Tensor) -> Row:
    def run(operation: Callable) -> Callable[[], None]:
        def many() -> None:
            with torch.inference_mode():
                for _ in range(50):
                    operation(*tensors)

        return many

    return compare(name, run(fast), run(plain), "torch's plain operation", AIM, repeats=9, work=SAME)
