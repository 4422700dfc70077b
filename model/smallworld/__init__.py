"""A small world of English: stories with a grammar, told by chance, in which everything true is known.

Sentences come with their dependency trees, features and referents (planted truth, to check a tool against), and
every choice has a known probability, so `smallworld.bound` can say what the best possible predictor would reach.
There are 40,989 different sentences (`python3 run.py smallworld count`), and a story is seven of them in a row: of
12,000 stories, no two are the same.
"""

import random
from collections.abc import Iterator

from .. import tokenizer as wordpiece
from ..bert import Bert
from ..config import BertConfig
from ..pretraining.initialisation import quickened
from ..tokenizer import WordPiece
from .generator import Pen, derivations, dice
from .grammar import KINDS, LONGEST
from .lexicon import NAMES, forms
from .phrases import PRIORS
from .sentences import ROOT, Sentence, Story, Word

__all__ = ["KINDS", "LONGEST", "NAMES", "PRIORS", "ROOT", "Sentence", "Story", "Word", "derivations", "documents",
           "forms", "stories", "tokenizer", "untrained"]


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


def untrained(seed: int = 0, preset: str = "tiny") -> Bert:
    """A BERT over the words of the world that has learned nothing yet, for `run.py train --init`."""
    pieces, heads = tokenizer(), max(4, BertConfig.preset(preset).num_attention_heads)
    return quickened(Bert.random(BertConfig.preset(
        preset, vocab_size=pieces.size, num_attention_heads=heads, max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), pieces, seed), seed)
