"""What a list of probabilities is worth beside the truth: accuracy, ROC, calibration."""

from dataclasses import dataclass

import numpy as np

from ..statistics import wilson

BINS = 10


@dataclass(frozen=True)
class Marks:
    """The marks of one exam, each with what is needed to draw it."""

    count: int
    accuracy: float
    interval: tuple[float, float]  # of the accuracy, 95 %
    area: float  # under the ROC curve
    false_positive: np.ndarray  # (points,) of the ROC curve, rising
    true_positive: np.ndarray  # (points,)
    bins: "Bins"
    error: float  # expected calibration error


@dataclass(frozen=True)
class Bins:
    """Answers sorted by their probability into equal ranges; empty ranges are left out."""

    said: np.ndarray  # (bins,) mean probability
    true: np.ndarray  # (bins,) share that is true
    count: np.ndarray  # (bins,)
    low: np.ndarray  # (bins,) 95 % interval of the share
    high: np.ndarray  # (bins,)


def given(probability: np.ndarray, truth: np.ndarray) -> Marks:
    """Marks for probabilities of "true" (answers,) against the truth (answers,)."""
    right = int(((probability >= 0.5) == truth).sum())
    false_positive, true_positive = roc(probability, truth)
    found = binned(probability, truth)
    area = float(np.trapezoid(true_positive, false_positive))
    return Marks(len(truth), right / len(truth), wilson(right, len(truth)), area, false_positive, true_positive, found,
                 float((found.count * np.abs(found.said - found.true)).sum() / len(truth)))


def roc(score: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates at every threshold, from strict to lax; equal scores move together."""
    order = np.argsort(-score, kind="stable")
    hits, misses = np.cumsum(truth[order]), np.cumsum(~truth[order])
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    return np.append(0.0, misses[ends] / misses[-1]), np.append(0.0, hits[ends] / hits[-1])


def binned(probability: np.ndarray, truth: np.ndarray, bins: int = BINS) -> Bins:
    """The calibration curve: in each range of probability, what was said and how often it was true."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    used = np.unique(place)
    count = np.array([(place == at).sum() for at in used])
    true = np.array([truth[place == at].mean() for at in used])
    edges = np.array([wilson(round(share * n), int(n)) for share, n in zip(true, count, strict=True)])
    return Bins(np.array([probability[place == at].mean() for at in used]), true, count, edges[:, 0], edges[:, 1])


def fitted(score: np.ndarray, truth: np.ndarray, seed: int = 0) -> np.ndarray:
    """A score turned into probabilities by a logistic curve; each half is judged by the curve of the other half."""
    half = np.zeros(len(score), dtype=bool)
    half[np.random.default_rng(seed).permutation(len(score))[: len(score) // 2]] = True
    found = np.zeros(len(score))
    for side in (half, ~half):
        found[side] = _logistic(score[~side], truth[~side], score[side])
    return found


def _logistic(score: np.ndarray, truth: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """One feature and a bias by Newton's method; a touch of ridge keeps perfect separation finite."""
    features = np.stack([np.ones(len(score)), score], 1)
    weights, ridge = np.zeros(2), 1e-3 * np.eye(2)
    for _ in range(30):
        probability = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (truth - probability) - ridge @ weights
        curve = (features * (probability * (1 - probability))[:, None]).T @ features + ridge
        weights = weights + np.linalg.solve(curve, slope)
    return 1 / (1 + np.exp(-(weights[0] + weights[1] * asked)))
