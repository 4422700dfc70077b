"""One attention head taken apart: every number on the way from the states of a sentence to what the head adds."""

import math
from dataclasses import dataclass

import numpy as np

from model import Bert, Trace


@dataclass(frozen=True)
class Anatomy:
    """The steps of one head for one position that looks; `head_size` is hidden / heads."""

    states: np.ndarray  # (seq, hidden) what the layer is given
    query: np.ndarray  # (head_size,) of the position that looks
    keys: np.ndarray  # (seq, head_size)
    values: np.ndarray  # (seq, head_size)
    scores: np.ndarray  # (seq,) query · key / √head_size
    weights: np.ndarray  # (seq,) softmax of the scores, over the keys that may be seen
    gate: float  # what the mix is multiplied by: 1, or 0 where the head is switched off
    mixed: np.ndarray  # (head_size,) values mixed by the weights, times the gate
    written: np.ndarray  # (heads, hidden) what each head of the layer adds to the state, joined
    bias: np.ndarray  # (hidden,) what is added whatever the heads say

    @property
    def attended(self) -> np.ndarray:
        """What attention as a whole adds to the state of this position, (hidden,)."""
        return self.written.sum(0) + self.bias

    @property
    def lengths(self) -> np.ndarray:
        """How long a vector each head of the layer adds, (heads,)."""
        return np.linalg.norm(self.written, axis=1)

    @property
    def state_length(self) -> float:
        """The mean length of the states the layer is given, to compare with."""
        return float(np.linalg.norm(self.states, axis=1).mean())

    def products(self, key: int) -> np.ndarray:
        """Element-wise query × key, (head_size,): their sum over √head_size is the score."""
        return self.query * self.keys[key]


def anatomy(bert: Bert, trace: Trace, layer: int, head: int, position: int) -> Anatomy:
    """The steps of one head for the token at `position`. Vaswani et al. (2017), 3.2."""
    query, keys, values = trace.query[layer, head, position], trace.key[layer, head], trace.value[layer, head]
    weights = trace.attention[layer, head, position]
    mixed = np.einsum("hk,hkd->hd", trace.attention[layer, :, position], trace.value[layer])  # (heads, head_size)
    mixed = mixed * trace.gates[layer][:, None]
    join = bert.get_submodule(f"layers.{layer}.attention.join")
    matrix = join.weight.detach().numpy().reshape(-1, *mixed.shape)  # (hidden, heads, head_size)
    written = np.einsum("ohd,hd->ho", matrix, mixed)
    return Anatomy(trace.hidden[layer], query, keys, values, keys @ query / math.sqrt(len(query)), weights,
                   float(trace.gates[layer, head]), mixed[head], written, join.bias.detach().numpy())
