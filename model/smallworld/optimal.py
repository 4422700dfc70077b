"""The best that any predictor could do in the small world: exact probabilities of hidden words, by its own grammar.

A story is a plan and seven sentences, and every choice behind them has a known probability. Given the words that can
be seen, `posterior` adds up the probabilities of all ways in which the grammar could have written them (forward and
backward over the sentences, the settled part of the plan being the state between two), so it gives the true
probability of each word at each hidden place. The best predictor says the most probable word; how often it is right
is the mean of those greatest probabilities, and no other predictor that sees the same words is right more often.

`ceiling` takes this mean over the very questions that `objective.evaluate` asks of a model. It tells the best predictor
more than the model is told: which words are wrong (random words count as hidden, kept ones as known), which sentence of
its story each is, and whether B follows A; and it counts as known every hidden word of a sentence that the length
limit cut apart. Knowing more never makes the best predictor worse, so the figure is an upper bound; as a trained model
finds nearly all of this out from the words it sees, it is a tight one.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..pretraining.masking import MASKED, RANDOM, UNTOUCHED, Mix, masked
from ..pretraining.objective import HELD_SEED
from ..pretraining.sentence_pairs import Pair, Pairs, packed
from ..pretraining.token_store import Store
from ..tokenizer import WordPiece
from .generator import derivations
from .grammar import KINDS, LONGEST
from .phrases import PRIORS

Seen = tuple[str | None, ...]
ORDER = list(KINDS)
# what a plan settles that no later sentence asks for again can be forgotten, which keeps the states few
FORGOTTEN = {"wish": ("shown",), "thanks": ("thing", "number", "worker"), "ending": tuple(PRIORS)}
State = tuple[tuple[str, Any], ...]


def kind(tokens: Seen) -> str | None:
    """Which kind of sentence this is; None for a sentence that this world does not have, or a piece of one."""
    return next((name for name, write in KINDS.items() if next(derivations(write, {}, PRIORS, tokens), None)), None)


@lru_cache(maxsize=200_000)
def _ways(name: str, state: State, seen: Seen) -> tuple[tuple[State, tuple[str, ...], float], ...]:
    """All ways to write one sentence from a state, as (state after it, its hidden words, probability), like ones added."""
    hidden = [place for place, word in enumerate(seen) if word is None]
    found: dict[tuple[State, tuple[str, ...]], float] = defaultdict(float)
    for way in derivations(KINDS[name], dict(state), PRIORS, seen):
        after = tuple(sorted((key, value) for key, value in way.plan.items() if key not in FORGOTTEN.get(name, ())))
        found[after, tuple(way.words[place] for place in hidden)] += way.chance
    return tuple((after, words, chance) for (after, words), chance in found.items())


def posterior(sentences: Sequence[tuple[str, Seen]]) -> list[list[dict[str, float]]]:
    """For sentences in story order, each with its kind: the probability of every word at each hidden place."""
    before: list[dict[State, float]] = [{(): 1.0}]
    steps: list[list[tuple[State, State, tuple[str, ...], float]]] = []
    for name, seen in sentences:
        step, reached = [], defaultdict(float)
        for state, weight in before[-1].items():
            for after, words, chance in _ways(name, state, seen):
                step.append((state, after, words, chance))
                reached[after] += weight * chance
        if not reached:
            raise ValueError("no story of this world has these words")
        total = sum(reached.values())
        steps.append(step)
        before.append({state: weight / total for state, weight in reached.items()})
    behind: dict[State, float] = dict.fromkeys(before[-1], 1.0)
    answers = []
    for step, ahead in zip(reversed(steps), reversed(before[:-1]), strict=True):
        earlier: dict[State, float] = defaultdict(float)
        places: list[dict[str, float]] = [defaultdict(float) for _ in (step[0][2] if step else ())]
        for state, after, words, chance in step:
            rest = chance * behind.get(after, 0.0)  # no way on from there: a state that later words exclude
            earlier[state] += rest
            for place, word in enumerate(words):
                places[place][word] += ahead[state] * rest
        answers.append([{word: weight / sum(place.values()) for word, weight in place.items()} for place in places])
        scale = max(earlier.values())
        behind = {state: weight / scale for state, weight in earlier.items()}
    return answers[::-1]


def best(span: Sequence[str], hidden: Sequence[bool]) -> dict[int, dict[str, float]]:
    """The probabilities at the hidden places of consecutive sentences of one story; none for a sentence cut apart."""
    sentences, start, name = [], 0, None
    for end in [*(place + 1 for place, word in enumerate(span) if word == "."), len(span)]:
        if end > start:
            name = _after(name, tuple(span[start:end]))
            if name:
                sentences.append((name, start, tuple(None if hidden[p] else span[p] for p in range(start, end))))
            start = end
    found = {}
    for (_, begin, seen), places in zip(
            sentences, posterior([(name, seen) for name, _, seen in sentences]), strict=True):
        spots = [begin + place for place, word in enumerate(seen) if word is None]
        found.update(zip(spots, places, strict=True))
    return found


def _after(name: str | None, tokens: Seen) -> str | None:
    """The kind of the sentence that follows one of kind `name`: the next kind, if the words are a whole sentence."""
    if name is None:
        return kind(tokens)
    following = ORDER[ORDER.index(name) + 1]
    return following if next(derivations(KINDS[following], {}, PRIORS, tokens), None) else None


@dataclass(frozen=True)
class Ceiling:
    """What the best possible predictor reaches on some questions."""

    accuracy: float  # share of the chosen words it would name, in expectation: no model does better
    loss: float  # its loss in nats on the same words: no model has less, in expectation
    error: float  # standard error of the accuracy, from the draw of the questions
    words: int
    pairs: int


def ceiling(store: Store, tokenizer: WordPiece, mix: Mix | None = None, length: int = LONGEST,
            negatives: str = "another", count: int = 512, batch: int = 32) -> Iterator[Ceiling]:
    """The ceiling over ever more of the questions that `objective.evaluate` asks of a model with the same settings."""
    questions = sorted(Pairs(store, length, negatives, HELD_SEED).stretch(0, count), key=len)
    generator, rows = np.random.default_rng(HELD_SEED), []
    for start in range(0, count, batch):
        pairs = questions[start: start + batch]
        ids = packed(pairs, tokenizer).ids
        fates = masked(ids, tokenizer, mix or Mix(), generator).fate
        for pair, fate in zip(pairs, fates, strict=True):
            rows.append(_asked(pair, fate, tokenizer))
            yield _ceiling(rows)


def _asked(pair: Pair, fate: np.ndarray, tokenizer: WordPiece) -> tuple[float, float, int]:
    """Of one pair: the sum of the greatest probabilities, the sum of the losses, and the number of chosen words."""
    a, b = ([tokenizer.words[piece] for piece in ids] for ids in (pair.a, pair.b))
    first, second = fate[1: len(a) + 1], fate[len(a) + 2: len(a) + 2 + len(b)]
    spans = [(a + b, [*first, *second])] if pair.is_next else [(a, [*first]), (b, [*second])]
    right = loss = chosen = 0.0
    for words, fates in spans:
        hidden = [one in (MASKED, RANDOM) for one in fates]
        answers = best(words, hidden)
        chosen += sum(one != UNTOUCHED for one in fates)
        right += sum(one != UNTOUCHED and place not in answers for place, one in enumerate(fates))
        for place, chances in answers.items():
            right += max(chances.values())
            loss -= math.log(chances[words[place]])
    return right, loss, int(chosen)


def _ceiling(rows: list[tuple[float, float, int]]) -> Ceiling:
    right, loss, words = np.array(rows).T
    accuracy = right.sum() / words.sum()
    spread = np.sqrt(((right - accuracy * words) ** 2).sum()) / words.sum()
    return Ceiling(float(accuracy), float(loss.sum() / words.sum()), float(spread), int(words.sum()), len(rows))
