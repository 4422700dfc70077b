"""The shape of clouds of states: principal axes, cosines, CKA, anisotropy. Arrays in, arrays out."""

from dataclasses import dataclass

import numpy as np

from model import InputProblem


class PCA:
    """The few directions along which points differ most; learned names end in an underscore."""

    def __init__(self, axes: int = 2):
        self.axes = axes

    def fit(self, points: np.ndarray) -> "PCA":
        """Learn `mean_` (hidden), `axes_` (axes, hidden) and `explained_` (axes), shares of the variance."""
        count, hidden = points.shape
        self.mean_ = points.mean(axis=0)
        if count > hidden:
            # the covariance is small however many points there are; the mean is taken out of it, not of every point
            total = (points.T @ points).astype(np.float64) - count * np.outer(self.mean_, self.mean_)
            variance, directions = np.linalg.eigh(total)
            variance, directions = variance[::-1], directions.T[::-1]
        else:
            _, scale, directions = np.linalg.svd(points - self.mean_, full_matrices=False)
            variance = scale.astype(np.float64) ** 2
        variance = np.maximum(variance, 0.0)
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
        directions = directions * np.where(largest < 0, -1, 1)  # the same points always give the same picture
        self.axes_ = np.zeros((self.axes, hidden), points.dtype)
        self.explained_ = np.zeros(self.axes)
        found = min(self.axes, len(variance))
        self.axes_[:found] = directions[:found]
        self.explained_[:found] = variance[:found] / (variance.sum() or 1.0)
        return self

    def transform(self, points: np.ndarray) -> np.ndarray:
        """(..., hidden) -> (..., axes)."""
        return points @ self.axes_.T - self.mean_ @ self.axes_.T


@dataclass(frozen=True)
class Paths:
    """Where every token stands at every layer, in a few dimensions, and how much of the truth that shows."""

    points: np.ndarray  # (layers + 1, seq, axes)
    explained: np.ndarray  # (layers + 1, axes) share of each layer's own variance that lies along each axis
    overall: np.ndarray  # (axes) share of the variance that was fitted


def shared_paths(hidden: np.ndarray, axes: int = 2) -> Paths:
    """One PCA over all layers, so that movement means something: (layers + 1, seq, hidden) -> Paths."""
    pca = PCA(axes).fit(hidden.reshape(-1, hidden.shape[-1]))
    points = pca.transform(hidden)
    return Paths(points, points.var(axis=1) / _spread(hidden)[:, None], pca.explained_)


def layer_paths(hidden: np.ndarray, axes: int = 2) -> Paths:
    """A PCA at each layer alone, in units of its own spread: each picture is the best one of its layer."""
    spread = _spread(hidden)
    fitted = [PCA(axes).fit(layer) for layer in hidden]
    points = [pca.transform(layer) / np.sqrt(size) for pca, layer, size in zip(fitted, hidden, spread, strict=True)]
    for index in range(1, len(points)):
        # axes of different layers have no common sign; the sign that moves the tokens least is taken
        signs = np.sign((points[index] * points[index - 1]).sum(axis=0))
        points[index] = points[index] * np.where(signs == 0, 1, signs)
    explained = np.stack([pca.explained_ for pca in fitted])
    return Paths(np.stack(points), explained, (explained * spread[:, None]).sum(axis=0) / spread.sum())


def _spread(hidden: np.ndarray) -> np.ndarray:
    """Total variance of the tokens at each layer, (layers + 1); never zero, so that it can divide."""
    return np.maximum(hidden.var(axis=1).sum(axis=-1), 1e-12)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Every vector at length one: (..., hidden) -> (..., hidden); a zero vector stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


def cosine(states: np.ndarray) -> np.ndarray:
    """Cosine of every pair of states: (..., seq, hidden) -> (..., seq, seq)."""
    directions = unit(states)
    return directions @ np.swapaxes(directions, -1, -2)


def anisotropy(states: np.ndarray) -> np.ndarray:
    """Mean cosine of all pairs of different states, 0 when they point everywhere: (..., seq, hidden) -> (...).

    All pairs at once, from the length of the sum of directions, instead of a sample of them. Ethayarajh (2019), 4.1.
    """
    count = states.shape[-2]
    if count < 2:
        raise InputProblem("Two tokens at least are needed to compare directions.")
    total = unit(states).sum(axis=-2, dtype=np.float64)
    return ((total**2).sum(axis=-1) - count) / (count * (count - 1))


def cka(left: np.ndarray, right: np.ndarray) -> float:
    """Linear CKA of two views of the same items, (items, p) and (items, q) -> 0..1. Kornblith et al. (2019).

    With fewer items than dimensions even noise comes near 1: `cka_of_noise` says how near; `debiased_cka` mends it.
    """
    return _alignment(_centred(left @ left.T), _centred(right @ right.T))


def cka_of_noise(items: int, left: int, right: int) -> float:
    """What `cka` gives for two clouds of independent noise of these dimensions, in expectation."""
    return float(np.sqrt(left * right / ((items + left) * (items + right))))


def debiased_cka(left: np.ndarray, right: np.ndarray) -> float:
    """CKA whose expectation for noise is 0 however few the items (at least four). Székely & Rizzo (2014), 3.1."""
    if len(left) < 4:
        raise InputProblem("CKA compares at least four tokens: use a longer text.")
    return _alignment(_u_centred(left @ left.T), _u_centred(right @ right.T))


def layers_cka(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Debiased CKA of every layer of one stack with every layer of another: (a, seq, p), (b, seq, q) -> (a, b)."""
    if left.shape[1] < 4:
        raise InputProblem("CKA compares at least four tokens: use a longer text.")
    grams = [[_u_centred(layer @ layer.T).ravel() for layer in stack] for stack in (left, right)]
    a, b = (unit(np.stack(side)) for side in grams)
    return a @ b.T


def layers_plain_cka(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`cka` of every layer of one stack with every layer of another: (a, seq, p), (b, seq, q) -> (a, b)."""
    grams = [[_centred(layer @ layer.T).ravel() for layer in stack] for stack in (left, right)]
    a, b = (unit(np.stack(side)) for side in grams)
    return a @ b.T


def _alignment(left: np.ndarray, right: np.ndarray) -> float:
    """Cosine of two matrices read as vectors."""
    return float((unit(left.ravel()) * unit(right.ravel())).sum())


def _centred(gram: np.ndarray) -> np.ndarray:
    gram = gram.astype(np.float64)
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()


def _u_centred(gram: np.ndarray) -> np.ndarray:
    """Centred without the diagonal, where every item meets itself and noise is never zero."""
    gram, count = gram.astype(np.float64), len(gram)
    np.fill_diagonal(gram, 0.0)
    row = gram.sum(axis=0) / (count - 2)
    centred = gram - row - row[:, None] + gram.sum() / ((count - 1) * (count - 2))
    np.fill_diagonal(centred, 0.0)
    return centred
