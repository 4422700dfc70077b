"""Masking as BERT learns by it: some wordpieces are chosen, and each is masked, replaced or kept."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputProblem
from ..tokenizer import WordPiece

UNTOUCHED, MASKED, RANDOM, KEPT = range(4)


@dataclass(frozen=True)
class Mix:
    """How much is chosen and what becomes of it. Devlin et al. (2019), 3.1: 15 %, then 80/10/10."""

    mask: float = 0.8
    random: float = 0.1
    keep: float = 0.1
    chosen: float = 0.15
    whole_words: bool = False

    def __post_init__(self):
        parts = (self.mask, self.random, self.keep)
        if min(parts) < 0 or abs(sum(parts) - 1) > 1e-6:
            raise InputProblem("The shares of masked, random and kept words must be 0 or more and add up to 100 %.")
        if not 0 < self.chosen <= 1:
            raise InputProblem("The share of chosen words must be more than 0 and at most 100 %.")


@dataclass(frozen=True)
class Masked:
    """What the model reads, and what became of each position; the labels are the original ids where `chosen`."""

    ids: np.ndarray  # (batch, seq)
    fate: np.ndarray  # (batch, seq): UNTOUCHED, MASKED, RANDOM or KEPT

    @property
    def chosen(self) -> np.ndarray:
        """(batch, seq): the positions that the loss counts."""
        return self.fate != UNTOUCHED


def masked(ids: np.ndarray, tokenizer: WordPiece, mix: Mix, generator: np.random.Generator) -> Masked:
    """Choose and corrupt wordpieces of (batch, seq) ids.

    Special tokens and padding are never chosen, and never put in as random words (the reference sampler may);
    the random word may happen to be the original one.
    """
    ordinary, continues = _vocabulary(tokenizer)
    chosen = _chosen(ordinary[ids], continues[ids] if mix.whole_words else None, mix.chosen, generator)
    draw = generator.random(ids.shape)
    fate = np.select([~chosen, draw < mix.mask, draw < mix.mask + mix.random], [UNTOUCHED, MASKED, RANDOM], KEPT)
    words = np.flatnonzero(ordinary)
    drawn = words[generator.integers(len(words), size=ids.shape)]
    return Masked(np.select([fate == MASKED, fate == RANDOM], [tokenizer.mask, drawn], ids).astype(np.int64), fate)


def unit_lengths(ids: np.ndarray, tokenizer: WordPiece, whole_words: bool) -> list[np.ndarray]:
    """How many wordpieces each unit of each row of (batch, seq) ids has, in reading order: pieces, or whole words."""
    ordinary, continues = _vocabulary(tokenizer)
    begins = _begins(ordinary[ids], continues[ids] if whole_words else None)
    return [np.bincount(first.cumsum()[own] - 1) for first, own in zip(begins, ordinary[ids], strict=True)]


def _begins(ordinary: np.ndarray, continues: np.ndarray | None) -> np.ndarray:
    """(batch, seq): where a unit begins."""
    begins = ordinary.copy()
    if continues is not None:
        begins[:, 1:] &= ~(continues[:, 1:] & ordinary[:, :-1])
    return begins


def _chosen(ordinary: np.ndarray, continues: np.ndarray | None, share: float,
            generator: np.random.Generator) -> np.ndarray:
    """Units (pieces, or whole words) in a random order until the share of the row's units is used up: (batch, seq).

    Units are counted and not their pieces, so a long word is chosen as often as a short one. The unit on the edge is
    taken by chance, so that the share is met exactly on average; every row gives at least one.
    """
    begins = _begins(ordinary, continues)
    batch, length = ordinary.shape
    begin = np.maximum.accumulate(np.where(begins, np.arange(length), 0), axis=1)  # where the unit of a piece begins
    key = np.where(begins, generator.random((batch, length)), np.inf)
    rank = np.argsort(np.argsort(key, axis=1, kind="stable"), axis=1)
    room = share * begins.sum(axis=1, keepdims=True) - rank
    taken = (generator.random((batch, length)) < room) | (rank == 0)
    return ordinary & np.take_along_axis(taken, begin, axis=1)


@lru_cache(maxsize=8)
def _vocabulary(tokenizer: WordPiece) -> tuple[np.ndarray, np.ndarray]:
    """For every id: whether it is an ordinary wordpiece, and whether it goes on with the word before it."""
    ordinary = np.ones(tokenizer.size, dtype=bool)
    ordinary[list(tokenizer.special_ids)] = False
    return ordinary, np.array([word.startswith("##") for word in tokenizer.words])
