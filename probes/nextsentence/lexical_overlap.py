"""How many words two sentences share: the baseline that needs no model."""

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
    "off over under again further once not only own same too very just also even still now ever never".split())


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, in small letters."""
    return frozenset(WORD.findall(text.lower())) - COMMON


def shared(a: str, b: str) -> float:
    """Shared words over all words of both, from 0 to 1, common words left out. Jaccard (1901)."""
    return _share(content(a), content(b))


def matrix(sentences: Sequence[str]) -> np.ndarray:
    """The overlap of every sentence with every other, (sentences, sentences), the diagonal empty (NaN)."""
    words = [content(sentence) for sentence in sentences]
    found = np.array([[_share(one, other) for other in words] for one in words], dtype=float)
    np.fill_diagonal(found, np.nan)
    return found


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
