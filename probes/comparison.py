"""Two models, or two texts, side by side: which of their tokens belong together, and what differs between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd

from model import Encoding, InputProblem, Trace

from .states import geometry


@dataclass(frozen=True)
class Unit:
    """The smallest stretch that both sides cut alike: some positions on the left, some on the right."""

    text: str
    left: tuple[int, ...]
    right: tuple[int, ...]


def aligned(left: Encoding, right: Encoding) -> list[Unit]:
    """Units of two encodings, [CLS] with [CLS] and [SEP] with [SEP].

    The same text under two vocabularies is aligned on its characters; different texts of as many words, word by word.
    """
    if len(left.texts) != len(right.texts):
        raise InputProblem("One side is a single text and the other a pair, so their tokens cannot be matched.")
    if left.texts == right.texts:
        return _by_characters(left, right)
    return _by_words(left, right)


@dataclass(frozen=True)
class Piece:
    """A token of a text: its position in the input, its characters and its word."""

    position: int
    start: int
    end: int
    word: int


def _by_characters(left: Encoding, right: Encoding) -> list[Unit]:
    units = [Unit("[CLS]", (0,), (0,))]
    for segment, text in enumerate(left.texts):
        sides = [_pieces(encoding, segment) for encoding in (left, right)]
        closed = 0
        for end in sorted({piece.end for piece in sides[0]} & {piece.end for piece in sides[1]}):
            groups = [tuple(piece.position for piece in side if closed < piece.end <= end) for side in sides]
            units.append(Unit(text[closed:end].strip(), *groups))
            closed = end
        units.append(Unit("[SEP]", (_end(left, segment),), (_end(right, segment),)))
    return units


def _by_words(left: Encoding, right: Encoding) -> list[Unit]:
    units = [Unit("[CLS]", (0,), (0,))]
    for segment in range(len(left.texts)):
        sides = [_words(encoding, segment) for encoding in (left, right)]
        if len(sides[0]) != len(sides[1]):
            raise InputProblem(f"The texts differ and have {len(sides[0])} and {len(sides[1])} words, so their tokens "
                               "cannot be matched: give both sides the same text, or texts of equally many words.")
        for a, b in zip(*sides, strict=True):
            said = [encoding.texts[segment][word[0].start: word[-1].end]
                    for encoding, word in ((left, a), (right, b))]
            units.append(Unit(said[0] if said[0] == said[1] else f"{said[0]} / {said[1]}",
                              tuple(piece.position for piece in a), tuple(piece.position for piece in b)))
        units.append(Unit("[SEP]", (_end(left, segment),), (_end(right, segment),)))
    return units


def _pieces(encoding: Encoding, segment: int) -> list[Piece]:
    return [Piece(token.position, *token.span, token.word) for token in encoding.tokens
            if token.segment == segment and token.span is not None and token.word is not None]


def _words(encoding: Encoding, segment: int) -> list[list[Piece]]:
    return [list(word) for _, word in groupby(_pieces(encoding, segment), key=lambda piece: piece.word)]


def _end(encoding: Encoding, segment: int) -> int:
    """Position of the [SEP] that closes a segment; the first special token is [CLS]."""
    return [token.position for token in encoding.tokens if token.special][segment + 1]


def merged_states(hidden: np.ndarray, groups: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Mean state of each group of positions: (..., seq, hidden) -> (..., groups, hidden)."""
    return np.stack([hidden[..., list(group), :].mean(axis=-2) for group in groups], axis=-2)


def merged_attention(attention: np.ndarray, groups: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Attention between groups: summed over keys, averaged over queries: (..., seq, seq) -> (..., groups, groups).

    Clark et al. (2019), 4.1.
    """
    keys = np.stack([attention[..., list(group)].sum(axis=-1) for group in groups], axis=-1)
    return np.stack([keys[..., list(group), :].mean(axis=-2) for group in groups], axis=-2)


@dataclass(frozen=True)
class Attentions:
    """The attention of both sides over the same units. The distance of two heads is 0 for the same rows, 1 at most."""

    units: list[Unit]
    left: np.ndarray  # (layers, heads, units, units)
    right: np.ndarray

    @property
    def matched(self) -> bool:
        """Whether both sides have the same heads, so that a head can be subtracted from its namesake."""
        return self.left.shape[:2] == self.right.shape[:2]

    def namesakes(self) -> np.ndarray:
        """Distance of each head from the head of the same layer and number: (layers, heads)."""
        return _apart(self.left, self.right)

    def usual(self) -> float:
        """Mean distance of a head on the left from the head after it, the last from the first: the baseline."""
        heads = self.left.reshape(-1, *self.left.shape[2:])
        return float(_apart(heads, np.roll(heads, 1, axis=0)).mean())

    def closest(self) -> pd.DataFrame:
        """For each head on the left the most similar one on the right: layer, head, to_layer, to_head, apart."""
        rows = []
        for layer, head in np.ndindex(*self.left.shape[:2]):
            distances = _apart(self.left[layer, head], self.right)
            to_layer, to_head = np.unravel_index(distances.argmin(), distances.shape)
            rows.append((layer, head, int(to_layer), int(to_head), float(distances.min())))
        return pd.DataFrame(rows, columns=["layer", "head", "to_layer", "to_head", "apart"])


def attentions(left: Trace, right: Trace) -> Attentions:
    """Both sides' heads over common units."""
    units = aligned(left.encoding, right.encoding)
    return Attentions(units, merged_attention(left.attention, [unit.left for unit in units]),
                      merged_attention(right.attention, [unit.right for unit in units]))


def _apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Total variation of rows, averaged over rows: (..., query, key) twice -> (...)."""
    return np.abs(left - right).sum(axis=-1).mean(axis=-1) / 2


def agreement(left: np.ndarray, left_words: Sequence[str], right: np.ndarray, right_words: Sequence[str]) -> float:
    """Probability that two predictions share, 0..1: over words of both vocabularies, the smaller of the two."""
    place = {word: index for index, word in enumerate(right_words)}
    pairs = [(index, place[word]) for index, word in enumerate(left_words) if word in place]
    mine, theirs = np.array(pairs, int).reshape(-1, 2).T
    return float(np.minimum(left[mine], right[theirs]).sum())


@dataclass(frozen=True)
class States:
    """Layer × layer CKA of two sides over the same units, beside what shuffled units give."""

    units: list[Unit]
    cka: np.ndarray  # (layers left + 1, layers right + 1), debiased
    shuffled: float  # largest of the same measure when the units of one side are out of order, 95 % of the times


def states(left: Trace, right: Trace, shufflings: int = 40, seed: int = 0) -> States:
    """How alike the layers of two models see the same units."""
    units = aligned(left.encoding, right.encoding)
    a = merged_states(left.hidden, [unit.left for unit in units])
    b = merged_states(right.hidden, [unit.right for unit in units])
    random = np.random.default_rng(seed)
    worst = [geometry.layers_cka(a, b[:, random.permutation(len(units))]).max() for _ in range(shufflings)]
    return States(units, geometry.layers_cka(a, b), float(np.quantile(worst, 0.95)))
