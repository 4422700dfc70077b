"""One encoding through the model -> Trace, arrays on the far side of torch; and batches of states for probes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from .bert import Bert
from .interventions import Edits
from .tokenizer import Encoding, Token


@dataclass(frozen=True)
class Trace:
    """Everything one input became inside the model, as NumPy arrays that agree with its tokens."""

    encoding: Encoding
    token: np.ndarray  # (seq, hidden) embedding of each token,
    segment: np.ndarray  # (seq, hidden) of its segment
    position: np.ndarray  # (seq, hidden) and of its position
    hidden: np.ndarray  # (layers + 1, seq, hidden); hidden[0] is the normalised sum of the three
    attention: np.ndarray  # (layers, heads, query, key), rows sum to one
    query: np.ndarray  # (layers, heads, seq, head_size)
    key: np.ndarray
    value: np.ndarray
    gates: np.ndarray  # (layers, heads) by how much what a head mixes was multiplied: 1, or 0 where it was switched off
    nsp: float | None  # probability of IsNext; None when the checkpoint has no such head

    def __post_init__(self):
        layers, heads, length = self.attention.shape[0], self.attention.shape[1], len(self.encoding)
        size, hidden = self.query.shape[-1], self.hidden.shape[-1]
        expected = {"token": (length, hidden), "segment": (length, hidden), "position": (length, hidden),
                    "hidden": (layers + 1, length, hidden), "attention": (layers, heads, length, length),
                    "query": (layers, heads, length, size), "key": (layers, heads, length, size),
                    "value": (layers, heads, length, size), "gates": (layers, heads)}
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"trace.{name} has shape {getattr(self, name).shape}, its tokens need {shape}")
            getattr(self, name).setflags(write=False)  # one trace is shown to many readers

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.encoding.tokens

    @cached_property
    def texts(self) -> list[str]:
        """The wordpieces as text, [CLS] first."""
        return [token.text for token in self.tokens]

    @property
    def note(self) -> str:
        """What was cut or unknown, in words; empty when all is well."""
        return self.encoding.note


def trace(bert: Bert, encoding: Encoding, edits: Edits | None = None) -> Trace:
    """Run one input and keep what it became."""
    layers, length, hidden = bert.config.num_hidden_layers, len(encoding), bert.config.hidden_size
    heads, size = bert.config.num_attention_heads, bert.config.head_size
    split = ("query", "key", "value")  # kept as the model has them in memory, heads side by side, and seen by head after
    kept = ({name: torch.empty(1, length, hidden) for name in ("token", "segment", "position")}
            | {"hidden": torch.empty(layers + 1, length, hidden), "attention": torch.empty(layers, heads, length, length)}
            | {name: torch.empty(layers, length, heads, size) for name in split})

    def watch(name: str, layer: int, value: Tensor) -> None:
        if name in kept:
            kept[name][layer] = value[0].transpose(0, 1) if name in split else value[0]

    with torch.inference_mode():
        last = bert(encoding, edits, watch)
        nsp = None if bert.nsp is None else float(bert.follows(last).softmax(-1)[0, 0])
    arrays = {name: value.numpy() for name, value in kept.items()}
    arrays |= {name: arrays[name][0] for name in ("token", "segment", "position")}
    arrays |= {name: arrays[name].swapaxes(1, 2) for name in split}
    return Trace(encoding=encoding, nsp=nsp, gates=_gates(edits or Edits(), layers, heads), **arrays)


def _gates(edits: Edits, layers: int, heads: int) -> np.ndarray:
    gates = np.ones((layers, heads), np.float32) if edits.gates is None else edits.gates.detach().numpy().copy()
    for place in edits.heads_off:
        gates[place] = 0
    return gates


def activations(bert: Bert, encoding: Encoding, names: Sequence[str], edits: Edits | None = None
                ) -> dict[str, np.ndarray]:
    """Any activations named in `bert.Watch` for one input, stacked over layers: {name: (layers, ...)}."""
    kept: dict[str, list[Tensor]] = {name: [] for name in names}

    def watch(name: str, layer: int, value: Tensor) -> None:
        if name in kept:
            kept[name].append(value[0])

    with torch.inference_mode():
        bert(encoding, edits, watch)
        return {name: torch.stack(parts).cpu().numpy() for name, parts in kept.items()}


def states(bert: Bert, encodings: Sequence[Encoding], layers: Sequence[int] | None = None,
           tokens_at_once: int = 4096) -> Iterator[tuple[int, np.ndarray]]:
    """The index of each input and its states (layers, seq, hidden), in batches of similar length, shortest first."""
    wanted = range(bert.config.num_hidden_layers + 1) if layers is None else layers
    for rows in alike(encodings, tokens_at_once):
        kept: dict[int, Tensor] = {}

        def watch(name: str, layer: int, value: Tensor, kept: dict[int, Tensor] = kept) -> None:
            if name == "hidden" and layer in wanted:
                kept[layer] = value

        with torch.inference_mode():
            bert([encodings[row] for row in rows], None, watch)
            stacked = torch.stack([kept[layer] for layer in wanted], dim=1).cpu().numpy()  # (batch, layers, seq, hidden)
        for place, row in enumerate(rows):
            yield row, stacked[place, :, : len(encodings[row])]


def alike(encodings: Sequence[Encoding], tokens_at_once: int = 4096) -> Iterator[list[int]]:
    """Indices of inputs in groups of similar length, so that little is computed on padding."""
    group: list[int] = []
    for row in sorted(range(len(encodings)), key=lambda row: len(encodings[row])):
        if group and (len(group) + 1) * len(encodings[row]) > tokens_at_once:
            yield group
            group = []
        group.append(row)
    if group:
        yield group
