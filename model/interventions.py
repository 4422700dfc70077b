"""Interventions as arguments of the forward pass: nothing is ever written to the shared model."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from .config import BertConfig
from .errors import InputError

DIRECTIONS = ("both", "left", "right")


@dataclass(frozen=True)
class Edits:
    """Interventions on the forward pass of one input.

    heads_off  (layer, head) pairs whose context is multiplied by 0
    blocked    (query, key) edges closed in every head, or (layer, head, query, key) in one
    direction  "left": a position attends to itself and to those before it, as in GPT; "right": the mirror image
    patches    {(layer, position): vector} instead of hidden[layer][position]; layer 0 is the embedding output
    gates      (layers, heads) factors on the context of each head; may carry a gradient (Michel et al., 2019)
    """

    heads_off: Set[tuple[int, int]] = frozenset()
    blocked: Set[tuple[int, ...]] = frozenset()
    direction: str = "both"
    patches: Mapping[tuple[int, int], np.ndarray | Tensor] = field(default_factory=dict)
    gates: Tensor | None = None

    def __post_init__(self):
        object.__setattr__(self, "heads_off", frozenset(self.heads_off))
        object.__setattr__(self, "blocked", frozenset(self.blocked))
        if self.direction not in DIRECTIONS:
            raise InputError(f"direction must be one of {', '.join(map(repr, DIRECTIONS))}, not {self.direction!r}.")


@dataclass(frozen=True)
class CompiledEdits:
    """Edits of a batch as tensors on its device; None or empty where nothing changes."""

    gates: Tensor | None  # (batch, layers, heads)
    bias: dict[int, Tensor]  # layer -> (batch, heads or 1, query, key) of 0 and -inf
    patches: dict[int, list[tuple[int, int, Tensor]]]  # layer -> (row, position, vector)


def compile_edits(edits: Edits | Sequence[Edits] | None, config: BertConfig, attention_mask: Tensor) -> CompiledEdits:
    """Check edits, one for all inputs or one for each, against the model and the mask (batch, seq)."""
    batch, length = attention_mask.shape
    rows = [Edits()] if edits is None else [edits] if isinstance(edits, Edits) else list(edits)
    if len(rows) == 1:
        rows = rows * batch
    if len(rows) != batch:
        raise InputError(f"There are {len(rows)} edits for {batch} inputs; one is needed, or one for each.")
    return CompiledEdits(
        _gates(rows, config, attention_mask.device),
        _bias(rows, config, attention_mask),
        _patches(rows, config, length, attention_mask.device),
    )


def _gates(rows: list[Edits], config: BertConfig, device: torch.device) -> Tensor | None:
    if all(row.gates is None and not row.heads_off for row in rows):
        return None
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    compiled: dict[int, Tensor] = {}  # by identity: a batch often repeats one object
    for row in rows:
        if id(row) in compiled:
            continue
        gates = torch.ones(layers, heads, device=device)
        for layer, head in row.heads_off:
            _check_index(layer, layers, "layer")
            _check_index(head, heads, "head")
            gates[layer, head] = 0.0
        compiled[id(row)] = gates if row.gates is None else gates * row.gates.to(device)
    return torch.stack([compiled[id(row)] for row in rows])


def _bias(rows: list[Edits], config: BertConfig, attention_mask: Tensor) -> dict[int, Tensor]:
    if all(row.direction == "both" and not row.blocked for row in rows):
        return {}
    everywhere, by_layer = _closed_edges(rows, config, attention_mask)
    shared = _to_bias(everywhere, attention_mask) if len(by_layer) < config.num_hidden_layers else None
    bias = {}
    for layer in range(config.num_hidden_layers):
        closed = by_layer.get(layer)
        bias[layer] = shared if closed is None else _to_bias(everywhere | closed, attention_mask)
    return bias


def _closed_edges(rows: list[Edits], config: BertConfig, attention_mask: Tensor) -> tuple[Tensor, dict[int, Tensor]]:
    """Edges closed in all heads, (batch, 1, query, key), and in single heads, layer -> (batch, heads, query, key)."""
    length, device = attention_mask.shape[1], attention_mask.device
    heads = config.num_attention_heads
    everywhere = torch.zeros(len(rows), 1, length, length, dtype=torch.bool, device=device)
    by_layer: dict[int, Tensor] = {}
    for index, row in enumerate(rows):
        if row.direction != "both":
            ones = torch.ones(length, length, dtype=torch.bool, device=device)
            everywhere[index, 0] |= ones.triu(1) if row.direction == "left" else ones.tril(-1)
        for edge in row.blocked:
            for position in edge[-2:]:
                _check_index(position, length, "position")
            if len(edge) == 2:
                everywhere[index, 0, edge[0], edge[1]] = True
                continue
            layer, head, query, key = edge
            _check_index(layer, config.num_hidden_layers, "layer")
            _check_index(head, heads, "head")
            if layer not in by_layer:
                by_layer[layer] = torch.zeros(len(rows), heads, length, length, dtype=torch.bool, device=device)
            by_layer[layer][index, head, query, key] = True
    return everywhere, by_layer


def _to_bias(closed: Tensor, attention_mask: Tensor) -> Tensor:
    """-inf on closed edges, 0 elsewhere: (batch, heads or 1, query, key)."""
    has_key = (~closed & attention_mask[:, None, None, :]).any(-1)  # (batch, heads or 1, query)
    without_key = (~has_key & attention_mask[:, None, :]).nonzero()
    if len(without_key):
        raise InputError(f"Position {int(without_key[0, 2]) + 1} has no key left to attend to; it needs at least one.")
    bias = torch.zeros(closed.shape, device=closed.device).masked_fill(closed, -torch.inf)
    # the softmax of a row of -inf is NaN: a padded query, which nothing depends on, may attend to everything
    return bias.masked_fill(~attention_mask[:, None, :, None], 0.0)


def _patches(
    rows: list[Edits], config: BertConfig, length: int, device: torch.device
) -> dict[int, list[tuple[int, int, Tensor]]]:
    patches: dict[int, list[tuple[int, int, Tensor]]] = {}
    for index, row in enumerate(rows):
        for (layer, position), vector in row.patches.items():
            _check_index(layer, config.num_hidden_layers + 1, "layer")
            _check_index(position, length, "position")
            vector = (vector if isinstance(vector, Tensor) else torch.tensor(vector, dtype=torch.float32)).to(device)
            if vector.shape != (config.hidden_size,):
                raise InputError(f"A patch has shape {tuple(vector.shape)}; this model needs {config.hidden_size} numbers.")
            patches.setdefault(layer, []).append((index, position, vector))
    return patches


def _check_index(index: int, count: int, name: str) -> None:
    if not 0 <= index < count:
        raise InputError(f"There is no {name} {index + 1}: this input and model have {count}.")
