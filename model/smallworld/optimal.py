"""The best that any predictor could do in the small world: exact probabilities of hidden words, by its own grammar.

A story is a plan and seven sentences, and every choice behind them has a known probability. From the words observed,
`posterior` adds up the probabilities of all their derivations (the forward-backward algorithm over the sentences, the
settled part of the plan being the state between two), so it gives the true probability of each word at each hidden
position. The best predictor names the most probable word; its accuracy is the mean of those greatest probabilities, and
no other predictor that observes the same words has a higher one.

`ceiling` takes this mean over the very pairs that `evaluation.evaluate` masks for a model. It tells the best predictor
more than the model knows: which words are wrong (random words count as hidden, unchanged ones as known), which sentence
of its story each is, and whether B follows A; and it counts as known every hidden word of a sentence that the length
limit cut apart. Knowing more never makes the best predictor worse, so the figure is an upper bound; as a trained model
infers nearly all of this from the words it reads, it is a tight one.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..pretraining.evaluation import HELDOUT_SEED
from ..pretraining.masking import MASKED, RANDOM, UNSELECTED, MaskingStrategy, corrupt
from ..pretraining.sentence_pairs import PairSampler, SentencePair, collate_pairs
from ..pretraining.token_store import TokenStore
from ..tokenizer import WordPiece
from .generator import derivations
from .grammar import KINDS, LONGEST
from .phrases import PRIORS

Observation = tuple[str | None, ...]  # the words of a sentence, None where one is hidden
ORDER = list(KINDS)
# what a plan settles that no later sentence needs can be forgotten, which keeps the states few
FORGOTTEN = {"wish": ("shown",), "thanks": ("thing", "number", "worker"), "ending": tuple(PRIORS)}
State = tuple[tuple[str, Any], ...]


def kind(tokens: Observation) -> str | None:
    """Which kind of sentence this is; None for a sentence that this world does not have, or a piece of one."""
    return next((name for name in KINDS if _has_derivation(name, tokens)), None)


def _has_derivation(name: str, tokens: Observation) -> bool:
    return next(derivations(KINDS[name], {}, PRIORS, tokens), None) is not None


@lru_cache(maxsize=200_000)
def _transitions(name: str, state: State, observation: Observation) -> tuple[tuple[State, tuple[str, ...], float], ...]:
    """All ways to write one sentence from a state, equal ones added up: the next state, the hidden words, probability."""
    hidden = [position for position, word in enumerate(observation) if word is None]
    probabilities: dict[tuple[State, tuple[str, ...]], float] = defaultdict(float)
    for derivation in derivations(KINDS[name], dict(state), PRIORS, observation):
        settled = ((key, value) for key, value in derivation.plan.items() if key not in FORGOTTEN.get(name, ()))
        words = tuple(derivation.words[position] for position in hidden)
        probabilities[tuple(sorted(settled)), words] += derivation.probability
    return tuple((next_state, words, probability) for (next_state, words), probability in probabilities.items())


def posterior(sentences: Sequence[tuple[str, Observation]]) -> list[list[dict[str, float]]]:
    """For sentences in story order, each with its kind: the probability of every word at each hidden position."""
    forward: list[dict[State, float]] = [{(): 1.0}]
    steps: list[list[tuple[State, State, tuple[str, ...], float]]] = []
    for name, observation in sentences:
        step, reachable = [], defaultdict(float)
        for state, weight in forward[-1].items():
            for next_state, words, probability in _transitions(name, state, observation):
                step.append((state, next_state, words, probability))
                reachable[next_state] += weight * probability
        if not reachable:
            raise ValueError("no story of this world has these words")
        total = sum(reachable.values())
        steps.append(step)
        forward.append({state: weight / total for state, weight in reachable.items()})
    backward: dict[State, float] = dict.fromkeys(forward[-1], 1.0)
    posteriors = []
    for step, before in zip(reversed(steps), reversed(forward[:-1]), strict=True):
        earlier: dict[State, float] = defaultdict(float)
        positions: list[dict[str, float]] = [defaultdict(float) for _ in (step[0][2] if step else ())]
        for state, next_state, words, probability in step:
            rest = probability * backward.get(next_state, 0.0)  # 0 for a state that later words exclude
            earlier[state] += rest
            for position, word in enumerate(words):
                positions[position][word] += before[state] * rest
        posteriors.append(
            [{word: weight / sum(position.values()) for word, weight in position.items()} for position in positions]
        )
        scale = max(earlier.values())
        backward = {state: weight / scale for state, weight in earlier.items()}
    return posteriors[::-1]


def predict(span: Sequence[str], hidden: Sequence[bool]) -> dict[int, dict[str, float]]:
    """Probabilities at the hidden positions of consecutive sentences of one story; none for a sentence cut apart."""
    sentences, start, name = [], 0, None
    for end in [*(position + 1 for position, word in enumerate(span) if word == "."), len(span)]:
        if end > start:
            name = _next_kind(name, tuple(span[start:end]))
            if name:
                sentences.append((name, start, tuple(None if hidden[p] else span[p] for p in range(start, end))))
            start = end
    posteriors = posterior([(name, observation) for name, _, observation in sentences])
    predictions = {}
    for (_, begin, observation), probabilities in zip(sentences, posteriors, strict=True):
        positions = [begin + position for position, word in enumerate(observation) if word is None]
        predictions.update(zip(positions, probabilities, strict=True))
    return predictions


def _next_kind(name: str | None, tokens: Observation) -> str | None:
    """The kind of the sentence that follows one of kind `name`: the next kind, if the words are a whole sentence."""
    if name is None:
        return kind(tokens)
    following = ORDER[ORDER.index(name) + 1]
    return following if _has_derivation(following, tokens) else None


@dataclass(frozen=True)
class Ceiling:
    """What the best possible predictor reaches on some pairs."""

    accuracy: float  # expected fraction of the selected words it names: no model does better
    loss: float  # its loss in nats on the same words: no model has less, in expectation
    error: float  # standard error of the accuracy, from the sampling of the pairs
    words: int
    pairs: int


def ceiling(
    store: TokenStore,
    tokenizer: WordPiece,
    masking: MaskingStrategy | None = None,
    max_length: int = LONGEST,
    negatives: str = "another",
    count: int = 512,
    batch_size: int = 32,
) -> Iterator[Ceiling]:
    """The ceiling over ever more of the pairs that `evaluation.evaluate` masks for a model with the same settings."""
    by_length = sorted(PairSampler(store, max_length, negatives, HELDOUT_SEED).sample(0, count), key=len)
    rng, rows = np.random.default_rng(HELDOUT_SEED), []
    for start in range(0, count, batch_size):
        pairs = by_length[start : start + batch_size]
        ids = collate_pairs(pairs, tokenizer).ids
        corruption = corrupt(ids, tokenizer, masking or MaskingStrategy(), rng)
        for pair, replacement in zip(pairs, corruption.replacement, strict=True):
            rows.append(_expected(pair, replacement, tokenizer))
            yield _ceiling(rows)


def _expected(pair: SentencePair, replacement: np.ndarray, tokenizer: WordPiece) -> tuple[float, float, int]:
    """Of one pair: the expected number of correct words, the sum of the losses, and the number of selected words."""
    a, b = ([tokenizer.vocabulary[piece] for piece in ids] for ids in (pair.a, pair.b))
    in_a, in_b = replacement[1 : len(a) + 1], replacement[len(a) + 2 : len(a) + 2 + len(b)]
    spans = [(a + b, [*in_a, *in_b])] if pair.is_next else [(a, [*in_a]), (b, [*in_b])]
    correct = loss = selected = 0.0
    for words, replacements in spans:
        predictions = predict(words, [fate in (MASKED, RANDOM) for fate in replacements])
        selected += sum(fate != UNSELECTED for fate in replacements)
        correct += sum(
            fate != UNSELECTED and position not in predictions for position, fate in enumerate(replacements)
        )  # known without a prediction
        for position, probabilities in predictions.items():
            correct += max(probabilities.values())
            loss -= math.log(probabilities[words[position]])
    return correct, loss, int(selected)


def _ceiling(rows: list[tuple[float, float, int]]) -> Ceiling:
    correct, loss, words = np.array(rows).T
    accuracy = correct.sum() / words.sum()
    error = np.sqrt(((correct - accuracy * words) ** 2).sum()) / words.sum()
    return Ceiling(float(accuracy), float(loss.sum() / words.sum()), float(error), int(words.sum()), len(rows))
