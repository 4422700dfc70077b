"""A small world of English: stories with a grammar, told by chance, in which everything true is known.

Sentences come with their dependency trees, features and referents (planted truth, to check a tool against), and
every choice has a known probability, so `smallworld.bound` can say what the best possible predictor would reach.
There are 278,076 different sentences (`python3 run.py smallworld count`), and a story is seven of them in a row.
"""

import random
from collections.abc import Iterator

from .. import tokenizer as wordpiece
from ..bert import Bert, sinusoids
from ..config import BertConfig
from ..tokenizer import WordPiece
from .grammar import KINDS, LONGEST
from .lexicon import NAMES, forms
from .pen import Pen, derivations, dice
from .phrases import PRIORS
from .tree import ROOT, Sentence, Story, Word

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
    """A BERT over the words of the world that has learned nothing yet, for `run.py train --init`.

    Two choices make so small a model learn several times sooner than BERT's own beginning does: weights near
    1 / sqrt(hidden) instead of 0.02, and positions that begin as (learnable) sines, so that neighbours look alike.
    """
    pieces, hidden = tokenizer(), BertConfig.preset(preset).hidden_size
    heads, spread = max(4, BertConfig.preset(preset).num_attention_heads), round(hidden ** -0.5, 3)
    bert = Bert.random(BertConfig.preset(
        preset, vocab_size=pieces.size, num_attention_heads=heads, initializer_range=spread,
        max_position_embeddings=LONGEST, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), pieces, seed)
    bert.embeddings.position.weight.data.copy_(sinusoids(LONGEST, hidden) * spread * 2 ** 0.5)
    return bert
