"""The forward pass as NumPy arrays: the `Trace` of one input, and named activations of many inputs in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from .bert import ACTIVATIONS, Bert
from .interventions import Edits
from .tokenizer import Encoding, Token

EMBEDDINGS = ("token_embedding", "segment_embedding", "position_embedding")
KEY_AXIS = ("scores", "attention")  # have the sequence on both of their last axes
ARRAYS = (*EMBEDDINGS, "hidden", "attention", "gates")


@dataclass(frozen=True, repr=False)
class Trace:
    """One input through the model: arrays that agree with its tokens. Other activations come from `activations`."""

    encoding: Encoding
    token_embedding: np.ndarray  # (seq, hidden)
    segment_embedding: np.ndarray  # (seq, hidden)
    position_embedding: np.ndarray  # (seq, hidden)
    hidden: np.ndarray  # (layers + 1, seq, hidden); hidden[0] is the normalised sum of the three
    attention: np.ndarray  # (layers, heads, query, key), rows sum to one
    gates: np.ndarray  # (layers, heads) factor on each head's context: 1, or 0 where the head was switched off
    nsp: float | None  # P(IsNext); None when the checkpoint has no next-sentence head
    edits: Edits = field(default_factory=Edits)  # the interventions it was computed under

    def __post_init__(self):
        (layers, heads), length, hidden = self.attention.shape[:2], len(self.encoding), self.hidden.shape[-1]
        shapes = dict.fromkeys(EMBEDDINGS, (length, hidden)) | {
            "hidden": (layers + 1, length, hidden),
            "attention": (layers, heads, length, length),
            "gates": (layers, heads),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"trace.{name} has shape {getattr(self, name).shape}, its tokens need {shape}")
            getattr(self, name).setflags(write=False)  # one trace is shared by many readers

    def __repr__(self) -> str:
        layers, heads, length, _ = self.attention.shape
        nsp = "" if self.nsp is None or len(self.encoding.texts) < 2 else f", P(IsNext) {self.nsp:.3f}"
        return f"Trace({length} tokens, {layers} layers × {heads} heads{nsp}: {' '.join(self.wordpieces)})"

    @property
    def nbytes(self) -> int:
        """Memory of its arrays."""
        return sum(getattr(self, name).nbytes for name in ARRAYS)

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.encoding.tokens

    @cached_property
    def wordpieces(self) -> list[str]:
        """The wordpieces as text, [CLS] first."""
        return [token.text for token in self.tokens]

    @property
    def note(self) -> str:
        """What was truncated or unknown, in words; empty when all is well."""
        return self.encoding.note


def trace(bert: Bert, encoding: Encoding, edits: Edits | None = None) -> Trace:
    """One forward pass of one input."""
    edits = edits or Edits()
    layers, length, hidden = bert.config.num_hidden_layers, len(encoding), bert.config.hidden_size
    heads = bert.config.num_attention_heads
    # written layer by layer into tables of the final size: no second copy as in `activations`
    tables = {name: torch.empty(1, length, hidden) for name in EMBEDDINGS} | {
        "hidden": torch.empty(layers + 1, length, hidden),
        "attention": torch.empty(layers, heads, length, length),
    }

    def record(layer: int, **values: Tensor) -> None:
        for name in tables.keys() & values.keys():
            tables[name][layer] = values[name][0]

    with torch.inference_mode():
        last = bert(encoding, edits, record)
        nsp = None if bert.nsp is None else float(bert.nsp_logits(last).softmax(-1)[0, 0])
    arrays = {name: table.numpy() for name, table in tables.items()}
    arrays |= {name: arrays[name][0] for name in EMBEDDINGS}
    return Trace(encoding=encoding, nsp=nsp, gates=_gates(edits, layers, heads), edits=edits, **arrays)


def _gates(edits: Edits, layers: int, heads: int) -> np.ndarray:
    gates = np.ones((layers, heads), np.float32) if edits.gates is None else edits.gates.detach().cpu().numpy().copy()
    for layer, head in edits.heads_off:
        gates[layer, head] = 0
    return gates


def activations(
    bert: Bert,
    encodings: Sequence[Encoding],
    names: Sequence[str],
    edits: Edits | None = None,
    tokens_at_once: int = 2048,
    layers: Sequence[int] | None = None,
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """The index of each input and its named activations, {name: (layers, ...)}, padding cut off; shortest first.

    The names and shapes are those of `model.bert.ACTIVATIONS`; `layers` keeps only these, in this order.
    """
    if unknown := sorted(set(names) - set(ACTIVATIONS)):
        raise ValueError(f"there is no activation {', '.join(unknown)}; there are {', '.join(ACTIVATIONS)}")
    for rows in batches_by_length(encodings, tokens_at_once):
        values_by_layer: dict[str, dict[int, Tensor]] = {name: {} for name in names}

        def record(layer: int, by_layer: dict[str, dict[int, Tensor]] = values_by_layer, **values: Tensor) -> None:
            for name in by_layer.keys() & values.keys():
                if layers is None or layer in layers:
                    by_layer[name][layer] = values[name]

        with torch.inference_mode():
            bert([encodings[row] for row in rows], edits, record)
            stacked = {
                name: torch.stack([by_layer[layer] for layer in (by_layer if layers is None else layers)], dim=1)
                .cpu()
                .numpy()
                for name, by_layer in values_by_layer.items()
            }  # (batch, layers, ...)
        for index, row in enumerate(rows):
            length = len(encodings[row])
            yield (
                row,
                {
                    name: values[index, ..., :length, slice(length if name in KEY_AXIS else None)]
                    for name, values in stacked.items()
                },
            )


def hidden_states(
    bert: Bert, encodings: Sequence[Encoding], layers: Sequence[int] | None = None, tokens_at_once: int = 4096
) -> Iterator[tuple[int, np.ndarray]]:
    """The index of each input and its hidden states at some layers, or at all: (layers, seq, hidden); shortest first."""
    for row, arrays in activations(bert, encodings, ["hidden"], tokens_at_once=tokens_at_once, layers=layers):
        yield row, arrays["hidden"]


def batches_by_length(encodings: Sequence[Encoding], tokens_at_once: int = 4096) -> Iterator[list[int]]:
    """Indices of inputs in batches of similar length, shortest first, so that little is computed on padding."""
    batch: list[int] = []
    for row in sorted(range(len(encodings)), key=lambda row: len(encodings[row])):
        if batch and (len(batch) + 1) * len(encodings[row]) > tokens_at_once:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
