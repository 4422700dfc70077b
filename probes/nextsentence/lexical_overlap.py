"""Lexical overlap: how many content words two sentences share, the baseline that needs no model."""

import re
from collections.abc import Sequence

import numpy as np

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")

# words too common to say what a sentence is about
COMMON = frozenset(
    "a an the this that these those some any no each every all both either neither other another such "
    "i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself himself "
    "herself itself themselves who whom whose which what where when why how there here one ones "
    "am is are was were be been being do does did done doing have has had having will would shall should can could may "
    "might must ought and or but nor so yet if then else than because as until while although though since unless "
    "of at by for with about against between into through during before after above below to from up down in out on "
    "off over under again further once not only own same too very just also even still now ever never".split()
)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return frozenset(WORD.findall(text.lower())) - COMMON


def jaccard(a: str, b: str) -> float:
    """Shared words over all words of both, from 0 to 1, common words left out. Jaccard (1901)."""
    return _jaccard(content_words(a), content_words(b))


def matrix(sentences: Sequence[str]) -> np.ndarray:
    """The overlap of every sentence with every other, (sentences, sentences), the diagonal empty (NaN)."""
    words = [content_words(sentence) for sentence in sentences]
    overlap = np.array([[_jaccard(first, second) for second in words] for first in words], dtype=float)
    np.fill_diagonal(overlap, np.nan)
    return overlap


def _jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0
