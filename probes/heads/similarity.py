"""How alike heads attend: divergences between them, a map of them, and the difference of two inputs."""

from dataclasses import dataclass

import numpy as np

from model import InputError, Trace

from .patterns import row_entropy

MAX_TERMS = 4e8  # pairs of heads × queries × keys, beyond which queries are sampled
BLOCK = 2_000_000  # numbers in memory at a time


@dataclass(frozen=True, repr=False)
class Divergence:
    """Jensen-Shannon divergence of every two heads in bits: 0 for equal attention, 1 for attention that never overlaps."""

    bits: np.ndarray  # (all, all) mean over the queries used
    used: int
    queries: int
    error: float  # half the widest 95 % interval of a mean; 0 where all queries were used

    def __repr__(self) -> str:
        return f"Divergence({len(self.bits)} heads, {self.used} of {self.queries} queries, mean {self.typical:.3f} bits)"

    @property
    def typical(self) -> float:
        """The mean over all pairs of different heads."""
        return float(self.bits.sum() / max(1, self.bits.size - len(self.bits)))


def js_divergence(attention: np.ndarray, terms: float = MAX_TERMS, seed: int = 0) -> Divergence:
    """Jensen-Shannon divergence of every two heads: (layers, heads, query, key) -> Divergence. Clark et al. (2019), 6.

    Over all queries while pairs of heads × queries × keys stay below `terms`, else over a random sample of them.
    """
    length = attention.shape[-1]
    flat = attention.reshape(-1, length, length)
    pairs = len(flat) * (len(flat) - 1) // 2
    used = min(length, max(2, int(terms // max(1, pairs * length))))
    queries = np.sort(np.random.default_rng(seed).permutation(length)[:used])
    total, squares = np.zeros((2, len(flat), len(flat)))
    step = max(1, BLOCK // (len(flat) * length))
    for start in range(0, used, step):
        rows = flat[:, queries[start : start + step]].astype(np.float32)  # (all, query, key)
        entropies = row_entropy(rows)  # (all, query)
        for head in range(len(flat) - 1):
            mixture = row_entropy((rows[head] + rows[head + 1 :]) / 2)
            divergence = mixture - (entropies[head] + entropies[head + 1 :]) / 2
            total[head, head + 1 :] += divergence.sum(-1)
            squares[head, head + 1 :] += (divergence * divergence).sum(-1)
    mean = total / used
    standard_error = np.sqrt(np.maximum(squares / used - mean * mean, 0) / max(1, used - 1) * (1 - used / length))
    return Divergence(np.maximum(mean + mean.T, 0), used, length, float(1.96 * standard_error.max()))


def classical_mds(divergence: np.ndarray) -> np.ndarray:
    """Points whose squared distances approximate the divergences: (all, all) -> (all, 2). Torgerson (1952)."""
    centring = np.eye(len(divergence)) - 1 / len(divergence)
    values, vectors = np.linalg.eigh(-centring @ divergence @ centring / 2)  # the root of a divergence is a distance
    points = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return points * np.where(points[np.abs(points).argmax(0), [0, 1]] < 0, -1, 1)  # the sign is free: fix it


def attention_difference(first: Trace, second: Trace) -> tuple[np.ndarray, list[int], list[int]]:
    """Second minus first attention on the tokens both have, (layers, heads, query, key), and their positions in each.

    Inputs of one length are compared position by position, others on the longest common beginning and end.
    """
    if first.attention.shape[:2] != second.attention.shape[:2]:
        shapes = [f"{layers} × {heads}" for layers, heads in (trace.attention.shape[:2] for trace in (first, second))]
        raise InputError(f"The models have {' and '.join(shapes)} heads; a difference needs the same layers and heads.")
    here, there = _common_positions(first.wordpieces, second.wordpieces)
    return second.attention[..., there, :][..., there] - first.attention[..., here, :][..., here], here, there


def _common_positions(first: list[str], second: list[str]) -> tuple[list[int], list[int]]:
    if len(first) == len(second):
        return list(range(len(first))), list(range(len(second)))
    shorter = min(len(first), len(second))
    prefix = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    suffix = next((i for i in range(shorter - prefix) if first[-1 - i] != second[-1 - i]), shorter - prefix)
    here, there = ([*range(prefix), *range(len(pieces) - suffix, len(pieces))] for pieces in (first, second))
    return here, there
