"""Sentence order: a document as a matrix of P(j follows i), and the order of its sentences recovered from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model import Bert, Encoding, InputError

from ..statistics import kendall_null_interval, kendall_null_magnitude, kendall_p_value, kendall_tau
from . import lexical_overlap, prediction

FEWEST, MOST, EXACT = 2, 60, 10  # sentences of a document; up to how many the best order is searched exactly
OVERLAP = "shared words"  # the baseline among the methods


@dataclass(frozen=True)
class RecoveredOrder:
    """An order of the sentences and its agreement with the true one, Kendall's τ."""

    order: tuple[int, ...]  # order[0] is put first
    tau: float


@dataclass(frozen=True)
class OrderAgreement:
    """Kendall's τ of each recovered order, and the interval that holds 95 % of random orders. Kendall (1938)."""

    taus: dict[str, float]  # method -> τ; the lexical-overlap baseline last
    null_interval: tuple[float, float]


@dataclass(frozen=True)
class DocumentOrder:
    """The orders recovered from the matrix of a document, beside lexical overlap and chance."""

    probabilities: np.ndarray  # (first, second) P(IsNext); NaN on the diagonal
    recovered: dict[str, RecoveredOrder]  # "greedy" and, where all orders can be searched, "exact"
    overlap_tau: float  # |τ| by lexical overlap, which knows no direction
    p_value: float  # that a random order has the τ of `best` or more
    chance_tau: float  # mean |τ| of random orders
    successor_accuracy: float  # how often the true next sentence is the most probable of its row
    overlap_successor_accuracy: float

    @property
    def best(self) -> RecoveredOrder:
        """The order of the most thorough search."""
        return list(self.recovered.values())[-1]

    @property
    def taus(self) -> dict[str, float]:
        """Kendall's τ of each method, the lexical-overlap baseline last."""
        return {method: order.tau for method, order in self.recovered.items()} | {OVERLAP: self.overlap_tau}

    @property
    def agreement(self) -> OrderAgreement:
        """The τ of each method beside the interval of random orders."""
        return OrderAgreement(self.taus, kendall_null_interval(len(self.probabilities)))

    @property
    def chance_successor_accuracy(self) -> float:
        """How often a random guess among the other sentences is the true next one."""
        return 1 / (len(self.probabilities) - 1)

    def __repr__(self) -> str:
        return f"DocumentOrder({len(self.probabilities)} sentences, tau {self.best.tau:+.2f}, p = {self.p_value:.2g})"


def pairs(bert: Bert, sentences: Sequence[str]) -> list[Encoding]:
    """Every ordered pair of two different sentences, packed, row by row of the matrix."""
    check(sentences)
    bert.require_nsp()
    tokenizer, max_pieces = bert.tokenizer, (bert.config.max_position_embeddings - 3) // 2
    pieces = [tokenizer.piece_ids(sentence) for sentence in sentences]
    for number, ids in enumerate(pieces, 1):
        prediction.require_known_words(bert, ids, str(number))
        if len(ids) > max_pieces:
            raise InputError(
                f"Sentence {number} has {len(ids)} wordpieces; at most {max_pieces} are possible if every pair is to fit."
            )
    return [tokenizer.encode_ids(a, b) for i, a in enumerate(pieces) for j, b in enumerate(pieces) if i != j]


def matrix(bert: Bert, sentences: Sequence[str]) -> np.ndarray:
    """Logit differences of "j follows i" for all pairs, (first, second), the diagonal empty (NaN)."""
    return to_matrix(prediction.logit_differences(bert, pairs(bert, sentences)))


def to_matrix(values: np.ndarray) -> np.ndarray:
    """Values of all ordered pairs of different sentences, (pairs,) -> (first, second), the diagonal empty (NaN)."""
    count = round((1 + np.sqrt(1 + 4 * len(values))) / 2)
    matrix = np.full((count, count), np.nan)
    matrix[~np.eye(count, dtype=bool)] = values
    return matrix


def log_probabilities(logit_differences: np.ndarray) -> np.ndarray:
    """log P(j follows i): along an order these add up to the log probability of all its links together."""
    return -np.log1p(np.exp(-np.clip(logit_differences, -700, 700)))


def check(sentences: Sequence[str]) -> None:
    """Refuse a document that is too short to have an order, or too long to compare all pairs."""
    if len(sentences) < FEWEST:
        raise InputError(f"This document has {len(sentences)} sentences; an order needs at least two sentences.")
    if len(sentences) > MOST:
        raise InputError(f"This document has {len(sentences):,} sentences; all pairs are compared of at most {MOST}.")


def greedy(scores: np.ndarray) -> tuple[int, ...]:
    """Join sentences into chains, the highest score first, until one chain remains. (first, second) -> order."""
    count = len(scores)
    after, before, chain_of = {}, {}, list(range(count))
    ranked = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), axis=None, kind="stable")
    for first, second in zip(*np.unravel_index(ranked, scores.shape), strict=True):
        if first in after or second in before or chain_of[first] == chain_of[second]:
            continue
        after[first], before[second] = second, first
        chain_of = [chain_of[first] if chain == chain_of[second] else chain for chain in chain_of]
        if len(after) == count - 1:
            break
    order = [next(sentence for sentence in range(count) if sentence not in before)]
    while order[-1] in after:
        order.append(int(after[order[-1]]))
    return tuple(order)


def undirected(scores: np.ndarray) -> tuple[int, ...]:
    """As `greedy`, for scores that are the same both ways: neighbours are joined, in whichever direction."""
    count = len(scores)
    neighbours: list[list[int]] = [[] for _ in range(count)]
    chain_of = list(range(count))
    ranked = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), axis=None, kind="stable")
    for a, b in zip(*np.unravel_index(ranked, scores.shape), strict=True):
        if len(neighbours[a]) < 2 and len(neighbours[b]) < 2 and chain_of[a] != chain_of[b]:
            neighbours[a].append(int(b))
            neighbours[b].append(int(a))
            chain_of = [chain_of[a] if chain == chain_of[b] else chain for chain in chain_of]
    order = [next(sentence for sentence in range(count) if len(neighbours[sentence]) < 2)]
    while len(order) < count:
        order.append(next(sentence for sentence in neighbours[order[-1]] if sentence not in order[-2:]))
    return tuple(order)


def optimal(scores: np.ndarray) -> tuple[int, ...]:
    """The order with the highest sum of scores, over all orders. (first, second) -> order. Held & Karp (1962)."""
    count = len(scores)
    if count > EXACT:
        raise InputError(f"The best of all orders is searched among at most {EXACT} sentences, not {count}.")
    total = np.full((1 << count, count), -np.inf)  # (subset, last): of the best chain through a subset
    predecessor = np.zeros((1 << count, count), dtype=int)
    for last in range(count):
        total[1 << last, last] = 0.0
    for subset in range(1, 1 << count):
        for last in range(count):
            rest = subset & ~(1 << last)
            if not subset >> last & 1 or not rest:
                continue
            through = total[rest] + np.where(np.isnan(scores[:, last]), -np.inf, scores[:, last])
            predecessor[subset, last] = int(through.argmax())
            total[subset, last] = through.max()
    subset, last = (1 << count) - 1, int(total[-1].argmax())
    order = [last]
    while subset & (subset - 1):
        subset, last = subset & ~(1 << last), int(predecessor[subset, last])
        order.append(last)
    return tuple(reversed(order))


def recover(scores: np.ndarray, method: Callable[[np.ndarray], tuple[int, ...]] = greedy, seed: int = 0) -> RecoveredOrder:
    """The order that a method gives to a matrix of scores, and its τ; the sentences are shuffled before.

    Without that, equal scores would be settled by who stands first, which is the true order.
    """
    shuffled = np.random.default_rng(seed).permutation(len(scores))
    order = tuple(int(shuffled[index]) for index in method(scores[np.ix_(shuffled, shuffled)]))
    return RecoveredOrder(order, kendall_tau(order))


def by_overlap(sentences: Sequence[str], repeats: int = 40) -> float:
    """τ of the order by lexical overlap, the mean over many ways to settle equal scores.

    Words are shared in both directions alike, so each order counts in the better direction: |τ|.
    """
    scores = lexical_overlap.matrix(sentences)
    return float(np.mean([abs(recover(scores, undirected, seed).tau) for seed in range(repeats)]))


def successor_accuracy(scores: np.ndarray) -> float:
    """How often the true next sentence has the highest score of its row; ties count in part. (first, second) -> rate."""
    rows = np.where(np.isnan(scores), -np.inf, scores)[:-1]
    highest = rows == rows.max(1, keepdims=True)
    return float((np.diagonal(highest, 1) / highest.sum(1)).mean())


def read_matrix(path: Path) -> np.ndarray:
    """The matrix of a file of logit differences of all ordered pairs, as `to_matrix` makes it."""
    return to_matrix(np.load(path))


def put_in_order(logit_differences: np.ndarray, sentences: Sequence[str]) -> DocumentOrder:
    """Recover the order of a document from its matrix (first, second), its sentences in their true order."""
    scores = log_probabilities(logit_differences)
    recovered = {"greedy": recover(scores)}
    if len(sentences) <= EXACT:
        recovered["exact"] = recover(scores, optimal)
    best = list(recovered.values())[-1]
    return DocumentOrder(
        probabilities=prediction.to_probability(logit_differences),
        recovered=recovered,
        overlap_tau=by_overlap(sentences),
        p_value=kendall_p_value(best.tau, len(sentences)),
        chance_tau=kendall_null_magnitude(len(sentences)),
        successor_accuracy=successor_accuracy(scores),
        overlap_successor_accuracy=successor_accuracy(lexical_overlap.matrix(sentences)),
    )
