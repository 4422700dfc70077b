"""Intervals of 95 % and rank correlations, for every number that is shown."""

from collections.abc import Sequence

import numpy as np

DRAWS = 1000
Z = 1.959964  # the normal quantile of 97.5 %


def wilson_interval(n_correct: int, count: int, z: float = Z) -> tuple[float, float]:
    """The score interval of a proportion of independent answers. Wilson (1927)."""
    proportion = n_correct / count
    centre = proportion + z * z / (2 * count)
    half_width = z * np.sqrt(proportion * (1 - proportion) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, float((centre - half_width) / scale)), min(1.0, float((centre + half_width) / scale))


def bootstrap_interval(n_correct: np.ndarray, sizes: np.ndarray, seed: int = 0, draws: int = DRAWS) -> tuple[float, float]:
    """Percentile interval of n_correct / sizes, both (sentences,), resampled by sentence; never narrower than Wilson's.

    Answers within a sentence depend on each other, which Wilson's interval ignores; that there could have been an error
    where all answers agree, the bootstrap ignores.
    """
    weights = _resamples(len(sizes), seed, draws)
    low, high = percentiles(weights @ n_correct / (weights @ sizes))
    wilson_low, wilson_high = wilson_interval(int(n_correct.sum()), int(sizes.sum()))
    return min(low, wilson_low), max(high, wilson_high)


def count_by_sentence(correct: np.ndarray, sentences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Correct answers and answers of each sentence, for `bootstrap_interval`: (examples,) twice -> (sentences,) twice."""
    _, index = np.unique(sentences, return_inverse=True)
    return np.bincount(index, weights=correct).astype(int), np.bincount(index)


def paired_bootstrap(
    first: np.ndarray, second: np.ndarray, sizes: np.ndarray, seed: int = 0, draws: int = DRAWS
) -> tuple[float, float, float]:
    """second / sizes minus first / sizes and its interval: correct answers of two on the same sentences, (sentences,) each.

    Two pseudo-answers, one that only the first and one that only the second has right, keep the interval from being a
    point. Agresti & Min (2005).
    """
    difference = float((second.sum() - first.sum()) / sizes.sum())
    differences, counts = np.append(second - first, [-1, 1]), np.append(sizes, [1, 1])
    weights = _resamples(len(counts), seed, draws)
    low, high = percentiles(weights @ differences / (weights @ counts))
    return difference, min(low, difference), max(high, difference)


def sign_flip_p_value(
    first: np.ndarray, second: np.ndarray, sentences: np.ndarray, seed: int = 0, draws: int = 20_000
) -> float:
    """How often chance alone gives the first as large a lead over the second: correct answers (examples,) of both.

    One-sided; the difference of each sentence keeps or changes its sign by lot, since answers within a sentence depend on
    each other. Never zero: the draw that was seen counts as one of them. Phipson & Smyth (2010).
    """
    differences = count_by_sentence(first, sentences)[0] - count_by_sentence(second, sentences)[0]
    signs = np.random.default_rng(seed).integers(0, 2, (draws, len(differences)), dtype=np.int8) * 2 - 1
    return float((1 + (signs @ differences >= differences.sum()).sum()) / (1 + draws))


def percentiles(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """The ends of the middle 95 % of some values."""
    low, high = np.percentile(np.asarray(values, dtype=float), [2.5, 97.5])
    return float(low), float(high)


def _resamples(count: int, seed: int, draws: int) -> np.ndarray:
    """How often each of `count` sentences occurs in each bootstrap sample: (draws, count)."""
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=draws)


def kendall_tau(order: Sequence[int]) -> float:
    """Agreement of an order with 0, 1, 2, …: 1 the same, 0 as by chance, -1 reversed. Kendall (1938)."""
    items = np.array(order)
    concordance = np.sign(items[None, :] - items[:, None])[np.triu_indices(len(items), 1)]
    return float(concordance.mean())


def kendall_null(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's τ of a random order of `count` items, exactly: its values, rising, and their probabilities."""
    probabilities = np.ones(1)  # of each number of inversions, one item more at a time
    for size in range(2, count + 1):
        probabilities = np.convolve(probabilities, np.full(size, 1 / size))
    inversions = np.arange(len(probabilities))[::-1]
    return 1 - 2 * inversions / (len(probabilities) - 1), probabilities[::-1]


def kendall_p_value(tau: float, count: int) -> float:
    """The probability that a random order of `count` items reaches this τ or more."""
    taus, probabilities = kendall_null(count)
    return float(probabilities[taus >= tau - 1e-9].sum())


def kendall_null_interval(count: int, level: float = 0.95) -> tuple[float, float]:
    """(-t, t), t the smallest such that a random order of `count` items has |τ| <= t with this probability."""
    taus, probabilities = kendall_null(count)
    for bound in np.unique(np.abs(taus.round(12))):
        if probabilities[np.abs(taus) <= bound + 1e-9].sum() >= level:
            return -float(bound), float(bound)
    return -1.0, 1.0


def kendall_null_magnitude(count: int) -> float:
    """The mean of |τ| over random orders: what a random order gets in its better direction."""
    taus, probabilities = kendall_null(count)
    return float(np.abs(taus) @ probabilities)


def roc_curve(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates at every threshold, from strict to lax; equal scores move together: (points,) each."""
    order = np.argsort(-scores, kind="stable")
    true_positives, false_positives = np.cumsum(labels[order]), np.cumsum(~labels[order])
    last_of_ties = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    rates = (counts[last_of_ties] / counts[-1] for counts in (false_positives, true_positives))
    false_positive_rate, true_positive_rate = (np.append(0.0, rate) for rate in rates)
    return false_positive_rate, true_positive_rate


def auc(false_positive_rate: np.ndarray, true_positive_rate: np.ndarray) -> float:
    """The area under a ROC curve: the probability that a positive scores above a negative."""
    return float(np.trapezoid(true_positive_rate, false_positive_rate))


def expected_calibration_error(predicted: np.ndarray, observed: np.ndarray, count: np.ndarray) -> float:
    """Mean gap of mean probability and observed frequency over bins, (bins,) each, by their counts. Naeini et al. (2015)."""
    return float((count * np.abs(predicted - observed)).sum() / count.sum())


def spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rank correlation of each row, equal values sharing their rank: (rows, columns) twice -> (rows,). Spearman (1904)."""
    a, b = _ranks(a), _ranks(b)
    a, b = a - a.mean(-1, keepdims=True), b - b.mean(-1, keepdims=True)
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)).clip(1e-12)


def _ranks(values: np.ndarray) -> np.ndarray:
    smaller = (values[..., None, :] < values[..., :, None]).sum(-1)
    return smaller + 0.5 * (values[..., None, :] == values[..., :, None]).sum(-1)
