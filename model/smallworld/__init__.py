"""A small world of English: random stories from a grammar, in which everything true is known.

Sentences come with their dependency trees, features and referents (planted truth, to check a tool against), and
every choice has a known probability, so `smallworld.optimal` computes what the best possible predictor reaches.
There are 40,989 different sentences (`python3 run.py smallworld count`), and a story is seven of them in a row: of
12,000 stories, no two are the same.
"""

import random
from collections.abc import Iterator

from .. import tokenizer as wordpiece
from ..bert import Bert
from ..config import BertConfig
from ..pretraining.initialisation import mimetic
from ..tokenizer import WordPiece
from .generator import SentenceBuilder, derivations, random_choices
from .grammar import KINDS, LONGEST
from .lexicon import NAMES, forms
from .phrases import PRIORS
from .sentences import ROOT, Story, StorySentence, StoryWord

__all__ = [
    "KINDS",
    "LONGEST",
    "NAMES",
    "PRIORS",
    "ROOT",
    "Story",
    "StorySentence",
    "StoryWord",
    "derivations",
    "documents",
    "forms",
    "stories",
    "tokenizer",
    "untrained_model",
]


def stories(seed: int, count: int) -> Iterator[Story]:
    """`count` stories; story number i of a seed is always the same story."""
    for number in range(count):
        yield _story(seed, number)


def documents(seed: int, count: int) -> Iterator[str]:
    """`count` stories as plain text, a document each, to pre-train on."""
    for story in stories(seed, count):
        yield story.text


def _story(seed: int, number: int) -> Story:
    choose, plan, sentences = random_choices(random.Random(f"{seed}/{number}")), {}, []
    for position, (kind, write) in enumerate(KINDS.items()):
        builder = SentenceBuilder(choose, plan, PRIORS)
        write(builder)
        sentences.append(StorySentence(builder.words(), number, position, kind))
    return Story(tuple(sentences), plan)


def tokenizer(limit: int = LONGEST) -> WordPiece:
    """Whole words of the world, and letters to spell any other word with."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return wordpiece.from_vocabulary(
        [*forms(), *letters, *(f"##{letter}" for letter in letters), *"0123456789!?'-"], limit=limit
    )


def untrained_model(seed: int = 0, preset: str = "tiny") -> Bert:
    """A BERT over the words of the world that has learned nothing yet, for `run.py train --init`."""
    pieces = tokenizer()
    config = BertConfig.preset(
        preset,
        vocab_size=pieces.vocab_size,
        num_attention_heads=max(4, BertConfig.preset(preset).num_attention_heads),
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return mimetic(Bert.random_init(config, pieces, seed), seed)
