"""A small world of English: stories with a grammar, told by chance, in which everything true is known.

Sentences come with their dependency trees, features and referents (planted truth, to check a tool against), and
every choice has a known probability, so `smallworld.bound` can say what the best possible predictor would reach.
"""

import random
from collections.abc import Iterator

from .. import tokenizer as wordpiece
from ..tokenizer import WordPiece
from .grammar import KINDS, LONGEST
from .lexicon import NAMES, forms
from .pen import Pen, derivations, dice
from .phrases import PRIORS
from .tree import ROOT, Sentence, Story, Word

__all__ = ["KINDS", "LONGEST", "NAMES", "PRIORS", "ROOT", "Sentence", "Story", "Word", "derivations", "documents",
           "forms", "stories", "tokenizer"]


def stories(seed: int, count: int) -> Iterator[Story]:
    """`count` stories; story number i of a seed is always the same story."""
    for number in range(count):
        yield _told(seed, number)


def documents(seed: int, count: int) -> Iterator[str]:
    """`count` stories as plain text, a document each, to pre-train on."""
    for story in stories(seed, count):
        yield story.text


def _told(seed: int, number: int) -> Story:
    choose, plan, told = dice(random.Random(f"{seed}/{number}")), {}, []
    for position, (kind, write) in enumerate(KINDS.items()):
        pen = Pen(choose, plan, PRIORS)
        write(pen)
        told.append(Sentence(pen.words(), number, position, kind))
    return Story(tuple(told), plan)


def tokenizer(limit: int = LONGEST) -> WordPiece:
    """Whole words of the world, and letters to spell any other word with."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return wordpiece.from_words([*forms(), *letters, *(f"##{letter}" for letter in letters), *"0123456789!?'-"],
                                limit=limit)
