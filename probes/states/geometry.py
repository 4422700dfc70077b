"""The geometry of sets of states: principal components, cosines, anisotropy, CKA. Arrays in, arrays out."""

from dataclasses import dataclass

import numpy as np

from model import InputError
from model.short_repr import ShortRepr


class PCA:
    """Principal component analysis; learned names end in an underscore, as in scikit-learn."""

    def __init__(self, n_components: int = 2):
        self.n_components = n_components

    def fit(self, points: np.ndarray) -> "PCA":
        """Learn `mean_` (hidden), `components_` (components, hidden) and `explained_variance_ratio_` (components)."""
        count, hidden = points.shape
        self.mean_ = points.mean(axis=0)
        if count > hidden:
            # the scatter matrix is small however many points there are; it is centred instead of every point
            scatter = (points.T @ points).astype(np.float64) - count * np.outer(self.mean_, self.mean_)
            variance, directions = np.linalg.eigh(scatter)
            variance, directions = variance[::-1], directions.T[::-1]
        else:
            _, singular_values, directions = np.linalg.svd(points - self.mean_, full_matrices=False)
            variance = singular_values.astype(np.float64) ** 2
        variance = np.maximum(variance, 0.0)
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
        directions = directions * np.where(largest < 0, -1, 1)  # the sign is free: fix it
        self.components_ = np.zeros((self.n_components, hidden), points.dtype)
        self.explained_variance_ratio_ = np.zeros(self.n_components)
        rank = min(self.n_components, len(variance))
        self.components_[:rank] = directions[:rank]
        self.explained_variance_ratio_[:rank] = variance[:rank] / (variance.sum() or 1.0)
        return self

    def transform(self, points: np.ndarray) -> np.ndarray:
        """(..., hidden) -> (..., components)."""
        return points @ self.components_.T - self.mean_ @ self.components_.T

    @property
    def explained_variance(self) -> float:
        """The share of the variance that all components together show."""
        return float(self.explained_variance_ratio_.sum())


@dataclass(frozen=True, repr=False)
class TokenPaths(ShortRepr):
    """Every token at every layer, projected to a few principal components, and the variance these explain."""

    points: np.ndarray  # (layers + 1, seq, axes)
    explained: np.ndarray  # (layers + 1, axes) of the variance within each layer
    overall: np.ndarray  # (axes) of the variance that the components were fitted to

    @property
    def explained_variance(self) -> float:
        """The share of the variance that all axes together show."""
        return float(self.overall.sum())


def shared_paths(hidden: np.ndarray, axes: int = 2) -> TokenPaths:
    """One PCA over all layers, so that movement means something: (layers + 1, seq, hidden) -> TokenPaths."""
    pca = PCA(axes).fit(hidden.reshape(-1, hidden.shape[-1]))
    points = pca.transform(hidden)
    return TokenPaths(points, points.var(axis=1) / _total_variance(hidden)[:, None], pca.explained_variance_ratio_)


def layer_paths(hidden: np.ndarray, axes: int = 2) -> TokenPaths:
    """A PCA of each layer alone, scaled to unit variance: (layers + 1, seq, hidden) -> TokenPaths."""
    variance = _total_variance(hidden)
    components = [PCA(axes).fit(layer) for layer in hidden]
    points = [pca.transform(layer) / np.sqrt(v) for pca, layer, v in zip(components, hidden, variance, strict=True)]
    for index in range(1, len(points)):
        # components of different layers have no common sign: take the one that moves the tokens least
        signs = np.sign((points[index] * points[index - 1]).sum(axis=0))
        points[index] = points[index] * np.where(signs == 0, 1, signs)
    explained = np.stack([pca.explained_variance_ratio_ for pca in components])
    return TokenPaths(np.stack(points), explained, (explained * variance[:, None]).sum(axis=0) / variance.sum())


def _total_variance(hidden: np.ndarray) -> np.ndarray:
    """Total variance of the tokens at each layer, (layers + 1); never zero, so that it can divide."""
    return np.maximum(hidden.var(axis=1).sum(axis=-1), 1e-12)


def normalise(vectors: np.ndarray) -> np.ndarray:
    """Every vector divided by its norm: (..., hidden) -> (..., hidden); a zero vector stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


def cosine(states: np.ndarray) -> np.ndarray:
    """Cosine of every pair of states: (..., seq, hidden) -> (..., seq, seq)."""
    directions = normalise(states)
    return directions @ np.swapaxes(directions, -1, -2)


def nearest_pair(similarity: np.ndarray) -> tuple[int, int, float]:
    """The two different rows of a symmetric similarity, (items, items), that are most alike, and how much."""
    first, second = np.triu_indices(len(similarity), 1)
    best = similarity[first, second].argmax()
    return int(first[best]), int(second[best]), float(similarity[first[best], second[best]])


def anisotropy(states: np.ndarray) -> np.ndarray:
    """Mean cosine of all pairs of different states: (..., seq, hidden) -> (...); 0 is isotropic. Ethayarajh (2019), 4.1.

    All pairs instead of a sample, by the norm of the sum of directions.
    """
    count = states.shape[-2]
    if count < 2:
        raise InputError(f"Anisotropy compares at least two tokens, not {count}.")
    total = normalise(states).sum(axis=-2, dtype=np.float64)
    return ((total**2).sum(axis=-1) - count) / (count * (count - 1))


def cka(left: np.ndarray, right: np.ndarray) -> float:
    """Linear CKA of two views of the same items, (items, p) and (items, q) -> 0..1. Kornblith et al. (2019).

    With fewer items than dimensions even noise comes near 1: `cka_of_noise` is its expectation; `debiased_cka` has none.
    """
    return _alignment(_centred(left @ left.T), _centred(right @ right.T))


def cka_of_noise(items: int, left: int, right: int) -> float:
    """The expectation of `cka` for independent noise of these dimensions."""
    return float(np.sqrt(left * right / ((items + left) * (items + right))))


def debiased_cka(left: np.ndarray, right: np.ndarray) -> float:
    """CKA whose expectation for noise is 0 however few the items (at least four). Székely & Rizzo (2014), 3.1."""
    _require_four(len(left))
    return _alignment(_u_centred(left @ left.T), _u_centred(right @ right.T))


def cka_matrix(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Debiased CKA of every layer of one stack with every layer of another: (a, seq, p), (b, seq, q) -> (a, b)."""
    _require_four(left.shape[1])
    grams = [[_u_centred(layer @ layer.T).ravel() for layer in stack] for stack in (left, right)]
    a, b = (normalise(np.stack(side)) for side in grams)
    return a @ b.T


def biased_cka_matrix(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """`cka` of every layer of one stack with every layer of another: (a, seq, p), (b, seq, q) -> (a, b)."""
    grams = [[_centred(layer @ layer.T).ravel() for layer in stack] for stack in (left, right)]
    a, b = (normalise(np.stack(side)) for side in grams)
    return a @ b.T


def _require_four(items: int) -> None:
    if items < 4:
        raise InputError(f"CKA compares at least four tokens, not {items}.")


def _alignment(left: np.ndarray, right: np.ndarray) -> float:
    """Cosine of two matrices as vectors."""
    return float((normalise(left.ravel()) * normalise(right.ravel())).sum())


def _centred(gram: np.ndarray) -> np.ndarray:
    gram = gram.astype(np.float64)
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()


def _u_centred(gram: np.ndarray) -> np.ndarray:
    """U-centring: the diagonal, where noise is never zero, is left out. Székely & Rizzo (2014), 3.1."""
    gram, count = gram.astype(np.float64), len(gram)
    np.fill_diagonal(gram, 0.0)
    row = gram.sum(axis=0) / (count - 2)
    centred = gram - row - row[:, None] + gram.sum() / ((count - 1) * (count - 2))
    np.fill_diagonal(centred, 0.0)
    return centred
