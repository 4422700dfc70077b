"""Interventions as arguments of the forward pass: nothing is ever written to the shared model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from .config import BertConfig
from .errors import InputProblem

SIGHTS = ("both", "left", "right")


@dataclass(frozen=True)
class Edits:
    """What to change on the way through the model, for one input.

    heads_off  (layer, head) pairs whose mixed values count as zero
    gates      (layers, heads) factors on the heads instead; may carry a gradient (Michel et al., 2019)
    blocked    (query, key) edges that no head may use, or (layer, head, query, key) for one head
    sight      "left": a position sees itself and what stands before it, as GPT reads; "right": the mirror image
    patches    {(layer, position): vector} put in place of hidden[layer][position]; layer 0 is the embedding output
    """

    heads_off: frozenset[tuple[int, int]] = frozenset()
    blocked: frozenset[tuple[int, ...]] = frozenset()
    sight: str = "both"
    patches: Mapping[tuple[int, int], np.ndarray | Tensor] = field(default_factory=dict)
    gates: Tensor | None = None

    def __post_init__(self):
        object.__setattr__(self, "heads_off", frozenset(self.heads_off))
        object.__setattr__(self, "blocked", frozenset(self.blocked))
        if self.sight not in SIGHTS:
            raise InputProblem(f"Sight is one of {', '.join(SIGHTS)}, not {self.sight!r}.")


@dataclass(frozen=True)
class Compiled:
    """Edits as tensors for one batch, on its device; None where nothing changes."""

    gates: Tensor | None  # (batch, layers, heads)
    bias: dict[int, Tensor]  # layer -> (batch, heads or 1, query, key), zero or minus infinity
    patches: dict[int, list[tuple[int, int, Tensor]]]  # layer -> (row, position, vector)


def compiled(edits: "Edits | Sequence[Edits] | None", config: BertConfig, mask: Tensor) -> Compiled:
    """Edits of every row of a batch, one for all or one each, checked against the model and the mask (batch, seq)."""
    batch, length = mask.shape
    rows = [Edits()] if edits is None else [edits] if isinstance(edits, Edits) else list(edits)
    if len(rows) == 1:
        rows = rows * batch
    if len(rows) != batch:
        raise InputProblem(f"{len(rows)} edits were given for {batch} inputs: give one, or one for each.")
    return Compiled(_gates(rows, config, mask.device), _bias(rows, config, mask, length),
                    _patches(rows, config, length, mask.device))


def _gates(rows: list[Edits], config: BertConfig, device: torch.device) -> Tensor | None:
    if all(row.gates is None and not row.heads_off for row in rows):
        return None
    shape = (config.num_hidden_layers, config.num_attention_heads)
    ready: dict[int, Tensor] = {}
    for row in rows:
        if id(row) in ready:
            continue
        open_ = torch.ones(shape, device=device)
        for layer, head in row.heads_off:
            _check(layer, shape[0], "layer")
            _check(head, shape[1], "head")
            open_[layer, head] = 0.0
        ready[id(row)] = open_ if row.gates is None else open_ * row.gates.to(device)
    return torch.stack([ready[id(row)] for row in rows])


def _bias(rows: list[Edits], config: BertConfig, mask: Tensor, length: int) -> dict[int, Tensor]:
    if all(row.sight == "both" and not row.blocked for row in rows):
        return {}
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    everywhere = torch.zeros(len(rows), 1, length, length, dtype=torch.bool, device=mask.device)
    single: dict[int, Tensor] = {}
    for index, row in enumerate(rows):
        if row.sight != "both":
            ones = torch.ones(length, length, dtype=torch.bool, device=mask.device)
            everywhere[index, 0] |= ones.triu(1) if row.sight == "left" else ones.tril(-1)
        for edge in row.blocked:
            for place in edge[-2:]:
                _check(place, length, "position")
            if len(edge) == 2:
                everywhere[index, 0, edge[0], edge[1]] = True
            else:
                layer, head, query, key = edge
                _check(layer, layers, "layer")
                _check(head, heads, "head")
                if layer not in single:
                    single[layer] = torch.zeros(len(rows), heads, length, length, dtype=torch.bool, device=mask.device)
                single[layer][index, head, query, key] = True
    bias = {}
    shared = None
    for layer in range(layers):
        if layer in single or shared is None:
            closed = everywhere | single[layer] if layer in single else everywhere
            seen = ~closed & mask[:, None, None, :]
            blind = (~seen.any(-1) & mask[:, None, :]).nonzero()
            if len(blind):
                raise InputProblem(f"Position {int(blind[0, 2]) + 1} has nothing left to look at: leave it one edge.")
            made = torch.zeros(closed.shape, device=mask.device).masked_fill(closed, -torch.inf)
            # a padded row that sees nothing would turn into NaN; it may look anywhere, nobody reads it
            made = made.masked_fill(~mask[:, None, :, None], 0.0)
            if layer in single:
                bias[layer] = made
                continue
            shared = made
        bias[layer] = shared
    return bias


def _patches(rows: list[Edits], config: BertConfig, length: int, device: torch.device
             ) -> dict[int, list[tuple[int, int, Tensor]]]:
    made: dict[int, list[tuple[int, int, Tensor]]] = {}
    for index, row in enumerate(rows):
        for (layer, position), vector in row.patches.items():
            _check(layer, config.num_hidden_layers + 1, "layer")
            _check(position, length, "position")
            vector = (vector if isinstance(vector, Tensor) else torch.tensor(vector, dtype=torch.float32)).to(device)
            if vector.shape != (config.hidden_size,):
                raise InputProblem(f"A state here has {config.hidden_size} numbers, not {tuple(vector.shape)}.")
            made.setdefault(layer, []).append((index, position, vector))
    return made


def _check(index: int, count: int, name: str) -> None:
    if not 0 <= index < count:
        raise InputProblem(f"There is no {name} {index + 1}: this input and model have {count}.")
