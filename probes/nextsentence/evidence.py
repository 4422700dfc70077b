"""Where in the model the answer about a pair comes from: tokens, attention of [CLS], heads, layers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model import Bert, Edits, Encoding

from .. import nextsentence

PARTS = ("[CLS]", "A", "[SEP]", "B")
RUNS = 128  # readings of an occluded input; in longer inputs neighbouring tokens are hidden together


@dataclass(frozen=True)
class Evidence:
    """Everything found out about one pair, as arrays that agree with its tokens."""

    encoding: Encoding
    margin: float  # of the pair as it is
    occlusion: np.ndarray  # (seq,) how much the margin falls when a token is hidden; NaN for [CLS] and [SEP]
    window: int  # how many neighbours were hidden together
    attention: np.ndarray  # (layers, parts) of [CLS], mean over the heads; the parts are PARTS
    uniform: np.ndarray  # (parts,) what an even look at all tokens would give
    heads: np.ndarray  # (layers, heads) P(IsNext) with this head off
    layers: np.ndarray  # (layers + 1,) P(IsNext) read from [CLS] after each layer


def gather(bert: Bert, encoding: Encoding) -> Iterator[float | Evidence]:
    """The share of the readings that are done, again and again, and at last the Evidence."""
    config = bert.config
    attention, layers = _one_reading(bert, encoding)
    hidden, window = occluded(encoding, bert.tokenizer.mask)
    off = [Edits(heads_off=frozenset({(layer, head)})) for layer in range(config.num_hidden_layers)
           for head in range(config.num_attention_heads)]
    inputs = [encoding, *(masked for _, masked in hidden), *[encoding] * len(off)]
    edits = [Edits()] * (len(inputs) - len(off)) + off
    margins, done = np.zeros(len(inputs)), 0
    for rows, part in nextsentence.judged(bert, inputs, edits):
        margins[rows] = part
        done += len(rows)
        yield done / len(inputs)
    occlusion = np.full(len(encoding), np.nan)
    for (positions, _), margin in zip(hidden, margins[1:], strict=False):
        occlusion[positions] = margins[0] - margin
    heads = nextsentence.probabilities(margins[len(inputs) - len(off):])
    counts = np.array([[part == name for name in PARTS] for part in parts(encoding)]).mean(0)
    yield Evidence(encoding, float(margins[0]), occlusion, window, attention, counts,
                   heads.reshape(config.num_hidden_layers, config.num_attention_heads), layers)


def of(bert: Bert, encoding: Encoding) -> Evidence:
    """All the evidence at once."""
    *_, found = gather(bert, encoding)
    assert isinstance(found, Evidence)
    return found


def occluded(encoding: Encoding, mask: int) -> tuple[list[tuple[list[int], Encoding]], int]:
    """Each token of A and B in turn replaced by [MASK]: the positions hidden and the input; and how many at once."""
    places = [[t.position for t in encoding.tokens if t.segment == segment and not t.special] for segment in (0, 1)]
    window = max(1, -(-sum(map(len, places)) // RUNS))
    groups = [segment[start: start + window] for segment in places for start in range(0, len(segment), window)]
    return [(group, encoding.replaced(dict.fromkeys(group, (mask, "[MASK]")))) for group in groups], window


def parts(encoding: Encoding) -> list[str]:
    """Which part of the input each token belongs to."""
    return [("[SEP]" if token.position else "[CLS]") if token.special else "AB"[token.segment]
            for token in encoding.tokens]


def _one_reading(bert: Bert, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The attention of [CLS] to each part, (layers, parts), and P(IsNext) after every layer, (layers + 1,)."""
    looks: list[Tensor] = []
    firsts: list[Tensor] = []

    def watch(name: str, layer: int, value: Tensor) -> None:
        if name == "attention":
            looks.append(value[0, :, 0].mean(0))  # (key,)
        elif name == "hidden":
            firsts.append(value[0, 0])

    with torch.inference_mode():
        bert(encoding, None, watch)
        scores = bert.need_nsp()(torch.stack(firsts)).double().numpy()  # (layers + 1, 2), IsNext first
        attention = torch.stack(looks).numpy()
    belongs = np.array([[part == name for name in PARTS] for part in parts(encoding)], dtype=float)  # (key, parts)
    return attention @ belongs, nextsentence.probabilities(scores[:, 0] - scores[:, 1])
