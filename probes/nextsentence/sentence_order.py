"""A document as a matrix of P(j follows i), and the order of its sentences recovered from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, InputProblem

from .. import nextsentence
from . import lexical_overlap

FEWEST, MOST, EXACT = 2, 60, 10  # sentences of a document; up to how many the best order is found exactly


@dataclass(frozen=True)
class Recovered:
    """An order of the sentences and how well it agrees with the true one."""

    order: tuple[int, ...]  # order[0] is put first
    tau: float


def pairs(bert: Bert, sentences: Sequence[str]) -> list[Encoding]:
    """Every ordered pair of two different sentences, packed, row by row of the matrix."""
    check(sentences)
    bert.need_nsp()
    cut, room = bert.tokenizer, bert.config.max_position_embeddings - 3
    pieces = [cut.pieces(sentence) for sentence in sentences]
    for number, ids in enumerate(pieces, 1):
        nextsentence.check(bert, ids, str(number))
        if 2 * len(ids) > room:
            raise InputProblem(f"Sentence {number} has {len(ids)} wordpieces; at most {room // 2} are read here, so "
                               "that every pair fits. Split it or leave it out.")
    return [cut.encode_ids(a, b) for i, a in enumerate(pieces) for j, b in enumerate(pieces) if i != j]


def matrix(bert: Bert, sentences: Sequence[str]) -> np.ndarray:
    """Margins of "j follows i" for all pairs, (first, second), the diagonal empty (NaN)."""
    return squared(nextsentence.margins(bert, pairs(bert, sentences)))


def squared(margins: np.ndarray) -> np.ndarray:
    """A list over all ordered pairs of different sentences -> a matrix with an empty diagonal."""
    count = round((1 + np.sqrt(1 + 4 * len(margins))) / 2)
    found = np.full((count, count), np.nan)
    found[~np.eye(count, dtype=bool)] = margins
    return found


def links(margins: np.ndarray) -> np.ndarray:
    """The logarithm of P(j follows i): along an order these add up to that of all its links together."""
    return -np.log1p(np.exp(-np.clip(margins, -700, 700)))


def check(sentences: Sequence[str]) -> None:
    if len(sentences) < FEWEST:
        raise InputProblem("A document needs at least two sentences: there is nothing to put in order.")
    if len(sentences) > MOST:
        raise InputProblem(f"This document has {len(sentences):,} sentences and all pairs are read; give at most "
                           f"{MOST} of them.")


def greedy(scores: np.ndarray) -> tuple[int, ...]:
    """Join sentences into chains, the highest score first, until one chain is left. (first, second) -> order."""
    count = len(scores)
    after, before, chain = {}, {}, list(range(count))
    ranked = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), axis=None, kind="stable")
    for first, second in zip(*np.unravel_index(ranked, scores.shape), strict=True):
        if first in after or second in before or chain[first] == chain[second]:
            continue
        after[first], before[second] = second, first
        chain = [chain[first] if name == chain[second] else name for name in chain]
        if len(after) == count - 1:
            break
    order = [next(place for place in range(count) if place not in before)]
    while order[-1] in after:
        order.append(int(after[order[-1]]))
    return tuple(order)


def undirected(scores: np.ndarray) -> tuple[int, ...]:
    """As `greedy`, for scores that are the same both ways: neighbours are joined, in whichever direction."""
    count = len(scores)
    beside: list[list[int]] = [[] for _ in range(count)]
    chain = list(range(count))
    ranked = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), axis=None, kind="stable")
    for one, other in zip(*np.unravel_index(ranked, scores.shape), strict=True):
        if len(beside[one]) < 2 and len(beside[other]) < 2 and chain[one] != chain[other]:
            beside[one].append(int(other))
            beside[other].append(int(one))
            chain = [chain[one] if name == chain[other] else name for name in chain]
    order = [next(place for place in range(count) if len(beside[place]) < 2)]
    while len(order) < count:
        order.append(next(place for place in beside[order[-1]] if place not in order[-2:]))
    return tuple(order)


def best(scores: np.ndarray) -> tuple[int, ...]:
    """The order with the highest sum of scores, over all orders. (first, second) -> order. Held & Karp (1962)."""
    count = len(scores)
    if count > EXACT:
        raise InputProblem(f"The best of all orders is looked for among at most {EXACT} sentences, not {count}.")
    total = np.full((1 << count, count), -np.inf)  # of the best chain through a set that ends in a sentence
    came = np.zeros((1 << count, count), dtype=int)
    for last in range(count):
        total[1 << last, last] = 0.0
    for chosen in range(1, 1 << count):
        for last in range(count):
            rest = chosen & ~(1 << last)
            if not chosen >> last & 1 or not rest:
                continue
            through = total[rest] + np.where(np.isnan(scores[:, last]), -np.inf, scores[:, last])
            came[chosen, last] = int(through.argmax())
            total[chosen, last] = through.max()
    chosen, last = (1 << count) - 1, int(total[-1].argmax())
    order = [last]
    while chosen & (chosen - 1):
        chosen, last = chosen & ~(1 << last), int(came[chosen, last])
        order.append(last)
    return tuple(reversed(order))


def tau(order: Sequence[int]) -> float:
    """Agreement with the true order 0, 1, 2, …: 1 the same, 0 as by chance, -1 reversed. Kendall (1938)."""
    place = np.array(order)
    kept = np.sign(place[None, :] - place[:, None])[np.triu_indices(len(place), 1)]
    return float(kept.mean())


def chance(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's τ of a random order of `count` sentences: its values, rising, and their probabilities."""
    ways = np.ones(1)  # of each number of inversions, built up sentence by sentence
    for size in range(2, count + 1):
        ways = np.convolve(ways, np.full(size, 1 / size))
    inversions = np.arange(len(ways))[::-1]
    return 1 - 2 * inversions / (len(ways) - 1), ways[::-1]


def as_good_by_chance(value: float, count: int) -> float:
    """The probability that a random order reaches this τ or more."""
    values, ways = chance(count)
    return float(ways[values >= value - 1e-9].sum())


def chance_band(count: int, share: float = 0.95) -> float:
    """The τ that a random order stays within, in either direction, with this probability."""
    values, ways = chance(count)
    for value in np.unique(np.abs(values.round(12))):
        if ways[np.abs(values) <= value + 1e-9].sum() >= share:
            return float(value)
    return 1.0


def recovered(scores: np.ndarray, method: Callable[[np.ndarray], tuple[int, ...]] = greedy, seed: int = 0) -> Recovered:
    """The order that a method finds in a matrix of scores, and its τ; the sentences are shuffled before it looks.

    Without that, equal scores would be settled by who stands first, which is the true order.
    """
    shuffled = np.random.default_rng(seed).permutation(len(scores))
    order = tuple(int(shuffled[place]) for place in method(scores[np.ix_(shuffled, shuffled)]))
    return Recovered(order, tau(order))


def by_overlap(sentences: Sequence[str], tries: int = 40) -> float:
    """τ of the order that shared words give, the mean over many ways to settle equal scores.

    Words are shared in both directions alike, so each order counts in the better direction: |τ|.
    """
    scores = lexical_overlap.matrix(sentences)
    return float(np.mean([abs(recovered(scores, undirected, seed).tau) for seed in range(tries)]))


def chance_size(count: int) -> float:
    """The mean of |τ| over random orders: what a random order gets in its better direction."""
    values, ways = chance(count)
    return float(np.abs(values) @ ways)


def true_next_first(scores: np.ndarray) -> float:
    """How often the true next sentence has the highest score of its row; equal ones share. (first, second) -> share."""
    rows = np.where(np.isnan(scores), -np.inf, scores)[:-1]
    highest = rows == rows.max(1, keepdims=True)
    return float((np.diagonal(highest, 1) / highest.sum(1)).mean())
