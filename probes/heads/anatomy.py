"""One attention head step by step: from the states of the input to what the head adds to one of them."""

import math
from dataclasses import dataclass

import numpy as np

from model import Bert, Trace, activations


@dataclass(frozen=True, repr=False)
class HeadAnatomy:
    """The steps of one head for one query position; `head_size` is hidden / heads."""

    states: np.ndarray  # (seq, hidden) input of the layer
    queries: np.ndarray  # (heads, head_size) of the query position, all heads of the layer
    query: np.ndarray  # (head_size,) of this head
    keys: np.ndarray  # (seq, head_size)
    values: np.ndarray  # (seq, head_size)
    scores: np.ndarray  # (seq,) query · key / √head_size
    weights: np.ndarray  # (seq,) softmax of the scores, over the keys that are not blocked
    gate: float  # factor on the context: 1, or 0 where the head is switched off
    context: np.ndarray  # (head_size,) attention-weighted values, times the gate
    head_outputs: np.ndarray  # (heads, hidden) what each head of the layer adds to the state
    bias: np.ndarray  # (hidden,) of the output projection

    def __repr__(self) -> str:
        return f"HeadAnatomy({len(self.keys)} keys, head_size {len(self.query)}, largest weight {self.weights.max():.3f})"

    @property
    def attention_output(self) -> np.ndarray:
        """What the whole layer's attention adds to the state of this position, (hidden,)."""
        return self.head_outputs.sum(0) + self.bias

    @property
    def head_output_norms(self) -> np.ndarray:
        """The norm of what each head of the layer adds, (heads,)."""
        return np.linalg.norm(self.head_outputs, axis=1)

    @property
    def state_length(self) -> float:
        """The mean norm of the layer's input states, to compare with."""
        return float(np.linalg.norm(self.states, axis=1).mean())

    @property
    def strongest_key(self) -> int:
        """The position that gets the largest weight."""
        return int(self.weights.argmax())

    @property
    def strongest_head(self) -> tuple[int, float]:
        """The head of the layer that adds the longest vector, and that length."""
        norms = self.head_output_norms
        return int(norms.argmax()), float(norms.max())

    def dot_product(self, key: int) -> float:
        """query · key, before the division by √head_size."""
        return float(self.products(key).sum())

    def products(self, key: int) -> np.ndarray:
        """Element-wise query × key, (head_size,): their sum over √head_size is the score."""
        return self.query * self.keys[key]


def dissect(bert: Bert, trace: Trace, layer: int, head: int, position: int) -> HeadAnatomy:
    """The steps of one head for the query at `position`. Vaswani et al. (2017), 3.2."""
    ((_, arrays),) = activations(bert, [trace.encoding], ["query", "key", "value"], trace.edits, layers=[layer])
    queries, keys, values = (arrays[name][0] for name in ("query", "key", "value"))  # (heads, seq, head_size)
    query = queries[head, position]
    context = np.einsum("hk,hkd->hd", trace.attention[layer, :, position], values)  # (heads, head_size)
    context = context * trace.gates[layer][:, None]
    output = bert.layers[layer].attention.output
    matrix = output.weight.detach().cpu().numpy().reshape(-1, *context.shape)  # (hidden, heads, head_size)
    return HeadAnatomy(
        states=trace.hidden[layer],
        queries=queries[:, position],
        query=query,
        keys=keys[head],
        values=values[head],
        scores=keys[head] @ query / math.sqrt(len(query)),
        weights=trace.attention[layer, head, position],
        gate=float(trace.gates[layer, head]),
        context=context[head],
        head_outputs=np.einsum("ohd,hd->ho", matrix, context),
        bias=output.bias.detach().cpu().numpy(),
    )
