"""Where in the model the prediction for a pair comes from: tokens, attention of [CLS], heads, layers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Edits, Encoding, Token, activations

from .. import nextsentence

PARTS = ("[CLS]", "A", "[SEP]", "B")
MAX_OCCLUSIONS = 128  # of one input; in longer inputs neighbouring tokens are masked together


@dataclass(frozen=True, repr=False)
class NSPEvidence:
    """What the prediction for one pair depends on, as arrays that agree with its tokens."""

    encoding: Encoding
    logit_difference: float  # of the pair as it is
    occlusion: np.ndarray  # (seq,) how much the logit difference falls when a token is masked; NaN for [CLS] and [SEP]
    window: int  # how many neighbours were masked together
    attention: np.ndarray  # (layers, parts) of [CLS], mean over the heads; the parts are PARTS
    uniform_attention: np.ndarray  # (parts,) if [CLS] attended to all tokens alike
    ablated: np.ndarray  # (layers, heads) P(IsNext) with this head off
    by_layer: np.ndarray  # (layers + 1,) P(IsNext) read from [CLS] after each layer

    @property
    def probability(self) -> float:
        """P(IsNext) of the pair as it is."""
        return float(self.by_layer[-1])

    @property
    def head_effects(self) -> np.ndarray:
        """(layers, heads): the change of P(IsNext) when a head is switched off."""
        return self.ablated - self.by_layer[-1]

    @property
    def strongest_head(self) -> tuple[tuple[int, int], float]:
        """The (layer, head) whose ablation changes P(IsNext) most, and P(IsNext) without it."""
        layer, head = np.unravel_index(np.abs(self.head_effects).argmax(), self.ablated.shape)
        return (int(layer), int(head)), float(self.ablated[layer, head])

    @property
    def strongest_token(self) -> tuple[Token, float]:
        """The token whose masking changes the logit difference most, and how far it falls."""
        position = int(np.nanargmax(np.abs(self.occlusion)))
        return self.encoding.tokens[position], float(self.occlusion[position])

    def __repr__(self) -> str:
        layers, heads = self.ablated.shape
        return (
            f"NSPEvidence({len(self.encoding)} tokens, {layers} layers of {heads} heads, P(IsNext) {self.probability:.3f})"
        )


def compute(bert: Bert, encoding: Encoding) -> Iterator[float | NSPEvidence]:
    """The fraction of the forward passes done, after each batch, and at last the evidence."""
    config = bert.config
    attention, by_layer = _attention_and_layers(bert, encoding)
    occlusions, window = occluded(encoding, bert.tokenizer.mask_id)
    off = [
        Edits(heads_off=frozenset({(layer, head)}))
        for layer in range(config.num_hidden_layers)
        for head in range(config.num_attention_heads)
    ]
    inputs = [encoding, *(masked for _, masked in occlusions), *[encoding] * len(off)]
    edits = [Edits()] * (len(inputs) - len(off)) + off
    differences, done = np.zeros(len(inputs)), 0
    for rows, part in nextsentence.iter_logit_differences(bert, inputs, edits):
        differences[rows] = part
        done += len(rows)
        yield done / len(inputs)
    occlusion = np.full(len(encoding), np.nan)
    for (positions, _), difference in zip(occlusions, differences[1:], strict=False):
        occlusion[positions] = differences[0] - difference
    ablated = nextsentence.to_probability(differences[len(inputs) - len(off) :])
    yield NSPEvidence(
        encoding=encoding,
        logit_difference=float(differences[0]),
        occlusion=occlusion,
        window=window,
        attention=attention,
        uniform_attention=_membership(encoding).mean(0),
        ablated=ablated.reshape(config.num_hidden_layers, config.num_attention_heads),
        by_layer=by_layer,
    )


def of(bert: Bert, encoding: Encoding) -> NSPEvidence:
    """All the evidence at once."""
    *_, evidence = compute(bert, encoding)
    assert isinstance(evidence, NSPEvidence)
    return evidence


def occluded(encoding: Encoding, mask: int) -> tuple[list[tuple[list[int], Encoding]], int]:
    """Each token of A and B in turn replaced by [MASK]: the masked positions and the input; and how many at once."""
    positions = [[t.position for t in encoding.tokens if t.segment == segment and not t.is_special] for segment in (0, 1)]
    window = max(1, -(-sum(map(len, positions)) // MAX_OCCLUSIONS))
    groups = [segment[start : start + window] for segment in positions for start in range(0, len(segment), window)]
    return [(group, encoding.replace_tokens(dict.fromkeys(group, (mask, "[MASK]")))) for group in groups], window


def parts(encoding: Encoding) -> list[str]:
    """Which part of the input each token belongs to."""
    return [
        ("[SEP]" if token.position else "[CLS]") if token.is_special else "AB"[token.segment] for token in encoding.tokens
    ]


def _membership(encoding: Encoding) -> np.ndarray:
    """1 where a token belongs to a part of the input: (seq, parts)."""
    return np.array([[part == name for name in PARTS] for part in parts(encoding)], dtype=float)


def _attention_and_layers(bert: Bert, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """The attention of [CLS] to each part, (layers, parts), and P(IsNext) after every layer, (layers + 1,)."""
    ((_, arrays),) = activations(bert, [encoding], ["attention", "hidden"])
    with torch.inference_mode():
        hidden = torch.from_numpy(arrays["hidden"]).to(bert.device)  # (layers + 1, seq, hidden), each layer as if the last
        logits = bert.nsp_logits(hidden).double().cpu().numpy()  # (layers + 1, 2), IsNext first
    attention = torch.from_numpy(arrays["attention"][:, :, 0]).mean(1).numpy()  # (layers, key), from [CLS]
    return attention @ _membership(encoding), nextsentence.to_probability(logits[:, 0] - logits[:, 1])
