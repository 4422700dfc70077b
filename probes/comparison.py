"""Two models, or two texts: which of their tokens correspond, and how their attention, states and predictions differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd

from model import Encoding, InputError, Trace

from .heads.words import merge_wordpieces
from .states import geometry


@dataclass(frozen=True)
class AlignedUnit:
    """The smallest span of text that both tokenizers delimit: its positions on the left and on the right, in a row."""

    text: str
    left: tuple[int, ...]
    right: tuple[int, ...]


def align(left: Encoding, right: Encoding) -> list[AlignedUnit]:
    """Units of two encodings, [CLS] with [CLS] and [SEP] with [SEP].

    The same text under two vocabularies is aligned on its characters; different texts of as many words, word by word.
    """
    if len(left.texts) != len(right.texts):
        raise InputError("One side is a single text and the other a pair; tokens are aligned between inputs of one kind.")
    if left.texts == right.texts:
        return _by_characters(left, right)
    return _by_words(left, right)


@dataclass(frozen=True)
class PieceSpan:
    """A token of a text: its position in the input, its characters and its word."""

    position: int
    start: int
    end: int
    word: int


def _by_characters(left: Encoding, right: Encoding) -> list[AlignedUnit]:
    units = [AlignedUnit("[CLS]", (0,), (0,))]
    for segment, text in enumerate(left.texts):
        sides = [_pieces(encoding, segment) for encoding in (left, right)]
        start = 0
        for end in sorted({piece.end for piece in sides[0]} & {piece.end for piece in sides[1]}):
            groups = [tuple(piece.position for piece in side if start < piece.end <= end) for side in sides]
            units.append(AlignedUnit(text[start:end].strip(), *groups))
            start = end
        units.append(AlignedUnit("[SEP]", (_end(left, segment),), (_end(right, segment),)))
    return units


def _by_words(left: Encoding, right: Encoding) -> list[AlignedUnit]:
    units = [AlignedUnit("[CLS]", (0,), (0,))]
    for segment in range(len(left.texts)):
        sides = [_words(encoding, segment) for encoding in (left, right)]
        if len(sides[0]) != len(sides[1]):
            raise InputError(
                f"The texts differ and have {len(sides[0])} and {len(sides[1])} words; "
                "tokens are aligned between equal texts, or texts of equally many words."
            )
        for a, b in zip(*sides, strict=True):
            texts = [encoding.texts[segment][word[0].start : word[-1].end] for encoding, word in ((left, a), (right, b))]
            units.append(
                AlignedUnit(
                    texts[0] if texts[0] == texts[1] else f"{texts[0]} / {texts[1]}",
                    tuple(piece.position for piece in a),
                    tuple(piece.position for piece in b),
                )
            )
        units.append(AlignedUnit("[SEP]", (_end(left, segment),), (_end(right, segment),)))
    return units


def _pieces(encoding: Encoding, segment: int) -> list[PieceSpan]:
    return [
        PieceSpan(token.position, *token.span, token.word)
        for token in encoding.tokens
        if token.segment == segment and token.span is not None and token.word is not None
    ]


def _words(encoding: Encoding, segment: int) -> list[list[PieceSpan]]:
    return [list(word) for _, word in groupby(_pieces(encoding, segment), key=lambda piece: piece.word)]


def _end(encoding: Encoding, segment: int) -> int:
    """Position of the [SEP] that closes a segment; the first special token is [CLS]."""
    return [token.position for token in encoding.tokens if token.is_special][segment + 1]


def _spans(units: list[AlignedUnit]) -> tuple[np.ndarray, np.ndarray]:
    """The positions [start, stop) of each unit on the left and on the right: (units, 2) each."""
    left = np.array([(unit.left[0], unit.left[-1] + 1) for unit in units])
    right = np.array([(unit.right[0], unit.right[-1] + 1) for unit in units])
    return left, right


def _mean_states(hidden: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Mean state of each span of positions: (..., seq, hidden) -> (..., spans, hidden)."""
    return np.stack([hidden[..., start:stop, :].mean(axis=-2) for start, stop in spans], axis=-2)


@dataclass(frozen=True, repr=False)
class AttentionComparison:
    """The attention of both sides between the same units; heads differ by total variation, 0 to 1."""

    units: list[AlignedUnit]
    left: np.ndarray  # (layers, heads, units, units)
    right: np.ndarray

    def __repr__(self) -> str:
        (a, b), (c, d) = self.left.shape[:2], self.right.shape[:2]
        return f"AttentionComparison({len(self.units)} units, {a} × {b} and {c} × {d} heads)"

    @property
    def matched(self) -> bool:
        """Whether both sides have as many layers and heads, so that a head has one of the same index."""
        return self.left.shape[:2] == self.right.shape[:2]

    def same_index_distance(self) -> np.ndarray:
        """Distance of each head from the head of the same layer and index: (layers, heads)."""
        return _distances(self.left, self.right)

    def baseline_distance(self) -> float:
        """Mean distance of a head on the left from the head after it, the last from the first: the baseline."""
        heads = self.left.reshape(-1, *self.left.shape[2:])
        return float(_distances(heads, np.roll(heads, 1, axis=0)).mean())

    def nearest_heads(self) -> pd.DataFrame:
        """For each head on the left the most similar one on the right: layer, head, to_layer, to_head, apart."""
        rows = []
        for layer, head in np.ndindex(*self.left.shape[:2]):
            distances = _distances(self.left[layer, head], self.right)
            to_layer, to_head = np.unravel_index(distances.argmin(), distances.shape)
            rows.append((layer, head, int(to_layer), int(to_head), float(distances.min())))
        return pd.DataFrame(rows, columns=["layer", "head", "to_layer", "to_head", "apart"])

    @property
    def difference(self) -> np.ndarray:
        """Left minus right, head by head: (layers, heads, units, units)."""
        return self.left - self.right


def attentions(left: Trace, right: Trace) -> AttentionComparison:
    """Both sides' attention between common units."""
    units = align(left.encoding, right.encoding)
    left_spans, right_spans = _spans(units)
    return AttentionComparison(
        units, merge_wordpieces(left.attention, left_spans), merge_wordpieces(right.attention, right_spans)
    )


def _distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Total variation of rows, averaged over rows: (..., query, key) twice -> (...)."""
    return np.abs(left - right).sum(axis=-1).mean(axis=-1) / 2


def agreement(left: np.ndarray, left_words: Sequence[str], right: np.ndarray, right_words: Sequence[str]) -> float:
    """Overlap of two predictions, 0..1: the smaller probability of each word of both vocabularies, summed."""
    if left_words == right_words:
        return float(np.minimum(left, right).sum())
    index_of = {word: index for index, word in enumerate(right_words)}
    pairs = [(index, index_of[word]) for index, word in enumerate(left_words) if word in index_of]
    on_left, on_right = np.array(pairs, int).reshape(-1, 2).T
    return float(np.minimum(left[on_left], right[on_right]).sum())


def uniform_agreement(predicted: np.ndarray) -> float:
    """Probability that a prediction shares with one that finds every word of its vocabulary equally likely: a baseline."""
    return float(np.minimum(predicted, 1 / len(predicted)).sum())


@dataclass(frozen=True, repr=False)
class StateComparison:
    """CKA of every layer of one side with every layer of the other, beside that of permuted units."""

    units: list[AlignedUnit]
    cka: np.ndarray  # (layers left + 1, layers right + 1), debiased
    shuffled: float  # 95 % quantile of the largest CKA when the units of one side are permuted

    def __repr__(self) -> str:
        return f"StateComparison({len(self.units)} units, CKA up to {self.cka.max():.2f}; permuted {self.shuffled:.2f})"

    @property
    def most_alike(self) -> tuple[int, int, float]:
        """The layer on the left and the layer on the right with the highest CKA, and that CKA."""
        left, right = np.unravel_index(self.cka.argmax(), self.cka.shape)
        return int(left), int(right), float(self.cka.max())


def states(left: Trace, right: Trace, permutations: int = 40, seed: int = 0) -> StateComparison:
    """Similarity of the layers of two models on the same units. Kornblith et al. (2019)."""
    units = align(left.encoding, right.encoding)
    left_states, right_states = map(_mean_states, (left.hidden, right.hidden), _spans(units))
    rng = np.random.default_rng(seed)
    null = [
        geometry.cka_matrix(left_states, right_states[:, rng.permutation(len(units))]).max() for _ in range(permutations)
    ]
    return StateComparison(units, geometry.cka_matrix(left_states, right_states), float(np.quantile(null, 0.95)))
