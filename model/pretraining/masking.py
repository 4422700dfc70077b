"""BERT's masking: some wordpieces are selected, and each is masked, replaced by a random one, or left the same."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputError
from ..short_repr import ShortRepr
from ..tokenizer import WordPiece

UNSELECTED, MASKED, RANDOM, SAME = range(4)


@dataclass(frozen=True)
class MaskingStrategy:
    """How much is selected and what replaces it. Devlin et al. (2019), 3.1: 15 %, then 80/10/10."""

    mask: float = 0.8
    random: float = 0.1
    keep: float = 0.1
    mlm_probability: float = 0.15
    whole_word: bool = False

    def __post_init__(self):
        fractions = (self.mask, self.random, self.keep)
        if min(fractions) < 0 or abs(sum(fractions) - 1) > 1e-6:
            percentages = " + ".join(f"{fraction:.0%}" for fraction in fractions)
            raise InputError(
                f"Masked, random and unchanged words are {percentages} of the selected ones; each must be 0 % or more, and "
                "together 100 %."
            )
        if not 0 < self.mlm_probability <= 1:
            raise InputError(f"{self.mlm_probability:.0%} of the words are selected; more than 0 and at most 100 % can be.")


@dataclass(frozen=True, repr=False)
class Corruption(ShortRepr):
    """What the model reads, and how it was corrupted; the labels are the original ids where `selected`."""

    ids: np.ndarray  # (batch, seq)
    replacement: np.ndarray  # (batch, seq): UNSELECTED, MASKED, RANDOM or SAME

    @property
    def selected(self) -> np.ndarray:
        """(batch, seq): the positions that the loss counts."""
        return self.replacement != UNSELECTED


def corrupt(ids: np.ndarray, tokenizer: WordPiece, masking: MaskingStrategy, rng: np.random.Generator) -> Corruption:
    """Select and corrupt wordpieces of (batch, seq) ids.

    Special tokens and padding are never selected, and never put in as random words (the reference sampler may);
    the random word may happen to be the original one.
    """
    is_ordinary, is_continuation = _vocabulary_flags(tokenizer)
    continuation = is_continuation[ids] if masking.whole_word else None
    selected = _select(is_ordinary[ids], continuation, masking.mlm_probability, rng)
    uniform = rng.random(ids.shape)
    replacement = np.select(
        [~selected, uniform < masking.mask, uniform < masking.mask + masking.random], [UNSELECTED, MASKED, RANDOM], SAME
    )
    ordinary_ids = np.flatnonzero(is_ordinary)
    random_ids = ordinary_ids[rng.integers(len(ordinary_ids), size=ids.shape)]
    corrupted = np.select([replacement == MASKED, replacement == RANDOM], [tokenizer.mask_id, random_ids], ids)
    return Corruption(corrupted.astype(np.int64), replacement)


def unit_lengths(ids: np.ndarray, tokenizer: WordPiece, whole_words: bool) -> list[np.ndarray]:
    """How many wordpieces each unit of each row of (batch, seq) ids has, in reading order: pieces, or whole words."""
    is_ordinary, is_continuation = _vocabulary_flags(tokenizer)
    ordinary = is_ordinary[ids]
    begins = _unit_begins(ordinary, is_continuation[ids] if whole_words else None)
    return [np.bincount(begin.cumsum()[pieces] - 1) for begin, pieces in zip(begins, ordinary, strict=True)]


def _unit_begins(ordinary: np.ndarray, continuation: np.ndarray | None) -> np.ndarray:
    """(batch, seq): where a unit begins."""
    begins = ordinary.copy()
    if continuation is not None:
        begins[:, 1:] &= ~(continuation[:, 1:] & ordinary[:, :-1])
    return begins


def _select(
    ordinary: np.ndarray, continuation: np.ndarray | None, probability: float, rng: np.random.Generator
) -> np.ndarray:
    """Units (pieces, or whole words) in a random order until their fraction of the row's units is reached: (batch, seq).

    Units are counted and not their pieces, so a long word is selected as often as a short one. The last unit is selected
    with the probability that meets the fraction exactly on average; every row has at least one.
    """
    begins = _unit_begins(ordinary, continuation)
    batch, length = ordinary.shape
    begin = np.maximum.accumulate(np.where(begins, np.arange(length), 0), axis=1)  # where the unit of a piece begins
    key = np.where(begins, rng.random((batch, length)), np.inf)
    rank = np.argsort(np.argsort(key, axis=1, kind="stable"), axis=1)
    remaining = probability * begins.sum(axis=1, keepdims=True) - rank
    unit_selected = (rng.random((batch, length)) < remaining) | (rank == 0)
    return ordinary & np.take_along_axis(unit_selected, begin, axis=1)


@lru_cache(maxsize=8)
def _vocabulary_flags(tokenizer: WordPiece) -> tuple[np.ndarray, np.ndarray]:
    """For every id: whether it is an ordinary wordpiece, and whether it goes on with the word before it."""
    ordinary = np.ones(tokenizer.vocab_size, dtype=bool)
    ordinary[list(tokenizer.special_ids)] = False
    return ordinary, np.array([word.startswith("##") for word in tokenizer.vocabulary])
