"""What probabilities are worth beside the truth: accuracy, ROC, calibration."""

from dataclasses import dataclass

import numpy as np

from model.short_repr import ShortRepr

from ..statistics import auc, expected_calibration_error, roc_curve, wilson_interval

BINS = 10


@dataclass(frozen=True, repr=False)
class CalibrationBins(ShortRepr):
    """Predictions grouped by their probability into equal ranges; empty ranges are left out. DeGroot & Fienberg (1983)."""

    predicted: np.ndarray  # (bins,) mean probability
    observed: np.ndarray  # (bins,) fraction of positives
    count: np.ndarray  # (bins,)
    low: np.ndarray  # (bins,) 95 % interval of the fraction
    high: np.ndarray  # (bins,)


@dataclass(frozen=True)
class BinaryMetrics:
    """The metrics of a binary classifier, each with what is needed to draw it."""

    count: int
    accuracy: float
    interval: tuple[float, float]  # of the accuracy, 95 %
    auc: float
    false_positive: np.ndarray  # (points,) of the ROC curve, rising
    true_positive: np.ndarray  # (points,)
    bins: CalibrationBins
    expected_calibration_error: float

    def __repr__(self) -> str:
        return f"BinaryMetrics({self.count} predictions, accuracy {self.accuracy:.3f}, AUC {self.auc:.3f})"


def binary(probability: np.ndarray, truth: np.ndarray) -> BinaryMetrics:
    """The metrics of probabilities of "true", (predictions,), against the truth, (predictions,)."""
    n_correct = int(((probability >= 0.5) == truth).sum())
    false_positive, true_positive = roc_curve(probability, truth)
    bins = calibration(probability, truth)
    return BinaryMetrics(
        count=len(truth),
        accuracy=n_correct / len(truth),
        interval=wilson_interval(n_correct, len(truth)),
        auc=auc(false_positive, true_positive),
        false_positive=false_positive,
        true_positive=true_positive,
        bins=bins,
        expected_calibration_error=expected_calibration_error(bins.predicted, bins.observed, bins.count),
    )


def calibration(probability: np.ndarray, truth: np.ndarray, bins: int = BINS) -> CalibrationBins:
    """The calibration curve: mean probability and observed frequency in each range of probability."""
    bin_of = np.minimum((probability * bins).astype(int), bins - 1)
    members = [bin_of == index for index in np.unique(bin_of)]
    count = np.array([member.sum() for member in members])
    observed = np.array([truth[member].mean() for member in members])
    intervals = np.array([wilson_interval(round(rate * n), int(n)) for rate, n in zip(observed, count, strict=True)])
    predicted = np.array([probability[member].mean() for member in members])
    return CalibrationBins(predicted, observed, count, intervals[:, 0], intervals[:, 1])


def cross_fitted(score: np.ndarray, truth: np.ndarray, seed: int = 0) -> np.ndarray:
    """A score as probabilities by logistic regression, each half predicted by the fit to the other: (predictions,)."""
    first_half = np.zeros(len(score), dtype=bool)
    first_half[np.random.default_rng(seed).permutation(len(score))[: len(score) // 2]] = True
    probability = np.zeros(len(score))
    for half in (first_half, ~first_half):
        probability[half] = _logistic(score[~half], truth[~half], score[half])
    return probability


def _logistic(train_scores: np.ndarray, train_labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """One feature and a bias by Newton's method; a little ridge keeps perfect separation finite."""
    features = np.stack([np.ones(len(train_scores)), train_scores], 1)
    weights, ridge = np.zeros(2), 1e-3 * np.eye(2)
    for _ in range(30):
        probability = 1 / (1 + np.exp(-features @ weights))
        gradient = features.T @ (train_labels - probability) - ridge @ weights
        hessian = (features * (probability * (1 - probability))[:, None]).T @ features + ridge
        weights = weights + np.linalg.solve(hessian, gradient)
    return 1 / (1 + np.exp(-(weights[0] + weights[1] * scores)))
