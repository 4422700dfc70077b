"""How sure a number is: intervals of shares and of their differences, all of 95 %."""

from collections.abc import Sequence

import numpy as np

DRAWS = 1000


def wilson(right: int, count: int) -> tuple[float, float]:
    """The interval of a share of independent answers. Wilson (1927)."""
    z, share = 1.959964, right / count
    middle = share + z * z / (2 * count)
    spread = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, float((middle - spread) / scale)), min(1.0, float((middle + spread) / scale))


def bootstrap(hits: np.ndarray, sizes: np.ndarray, seed: int = 0, draws: int = DRAWS) -> tuple[float, float]:
    """The interval of hits / sizes, both (sentences,), drawn anew by whole sentences, and never narrower than Wilson's.

    Answers within a sentence lean on each other, which Wilson does not know; that there could have been an error where
    all answers agree, the draws do not know.
    """
    drawn = _drawn(len(sizes), seed, draws)
    low, high = np.percentile(drawn @ hits / (drawn @ sizes), [2.5, 97.5])
    least, most = wilson(int(hits.sum()), int(sizes.sum()))
    return min(float(low), least), max(float(high), most)


def paired(first: np.ndarray, second: np.ndarray, sizes: np.ndarray, seed: int = 0, draws: int = DRAWS
           ) -> tuple[float, float, float]:
    """second / sizes minus first / sizes and its interval: hits of two on the same sentences, all (sentences,).

    Two imagined answers, one that only the first and one that only the second has right, keep the interval from being a
    point. Agresti & Min (2005).
    """
    difference = float((second.sum() - first.sum()) / sizes.sum())
    apart, counts = np.append(second - first, [-1, 1]), np.append(sizes, [1, 1])
    drawn = _drawn(len(counts), seed, draws)
    low, high = np.percentile(drawn @ apart / (drawn @ counts), [2.5, 97.5])
    return difference, min(float(low), difference), max(float(high), difference)


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """Where the middle 95 % of some values lie."""
    low, high = np.percentile(np.asarray(values, dtype=float), [2.5, 97.5])
    return float(low), float(high)


def _drawn(count: int, seed: int, draws: int) -> np.ndarray:
    """How often each of `count` sentences comes in each draw: (draws, count)."""
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=draws)
