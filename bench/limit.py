"""The bare matrix products of a piece of work on this machine: no program that multiplies these matrices is faster."""

from collections.abc import Callable, Sequence

import torch

from model import BertConfig


def forward(config: BertConfig, lengths: Sequence[int], scored: int, batch: int = 1) -> Callable[[], None]:
    """The products of a forward pass over inputs of these lengths; logits over the vocabulary at `scored` tokens."""
    passes = [_products(config, length, scored, batch) for length in lengths]

    def run() -> None:
        with torch.inference_mode():
            for products in passes:
                for left, right in products:
                    torch.matmul(left, right)

    return run


def training(config: BertConfig, shapes: Sequence[tuple[int, int, int]]) -> Callable[[], None]:
    """The products of steps over batches (inputs, length, selected tokens): forward, and backward for both factors."""
    passes = [_products(config, length, selected, batch) for batch, length, selected in shapes]

    def run() -> None:
        with torch.inference_mode():
            for products in passes:
                for left, right in products:
                    output = torch.matmul(left, right)
                    torch.matmul(output, right.transpose(-1, -2))
                    torch.matmul(left.transpose(-1, -2), output)

    return run


def _products(config: BertConfig, length: int, scored: int, batch: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    hidden, inner, heads = config.hidden_size, config.intermediate_size, config.num_attention_heads
    rng = torch.Generator().manual_seed(0)

    def matrix(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=rng)

    tokens = batch * length
    layer = [(matrix(tokens, hidden), matrix(hidden, hidden)) for _ in range(4)]  # query, key, value, output
    layer += [
        (matrix(batch, heads, length, hidden // heads), matrix(batch, heads, hidden // heads, length)),
        (matrix(batch, heads, length, length), matrix(batch, heads, length, hidden // heads)),
        (matrix(tokens, hidden), matrix(hidden, inner)),
        (matrix(tokens, inner), matrix(inner, hidden)),
    ]
    head = [
        (matrix(batch, hidden), matrix(hidden, hidden)),  # pooler
        (matrix(scored, hidden), matrix(hidden, hidden)),
        (matrix(scored, hidden), matrix(hidden, config.vocab_size)),
    ]
    # each layer has weights of its own, which must be read from memory anew
    return [*layer, *([(left, right.clone()) for _ in range(config.num_hidden_layers - 1) for left, right in layer]), *head]
