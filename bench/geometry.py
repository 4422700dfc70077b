"""PCA of all layers of a text, and neighbours among many tokens, against scikit-learn on the same data."""

from collections.abc import Iterator

import numpy as np
from sklearn import decomposition, neighbors

from bench.timing import Row, compare
from probes.contexts import Places
from probes.geometry import PCA, unit
from probes.neighbours import Index

TOKENS, LAYERS, HIDDEN, CORPUS = 5_000, 7, 384, 200_000


def rows() -> Iterator[Row]:
    yield _pca()
    yield _neighbours()


def _cloud(count: int) -> np.ndarray:
    """Points whose variance falls from axis to axis and whose mean is not zero, as states have it."""
    random = np.random.default_rng(0)
    scale = np.linspace(3, 0.2, HIDDEN, dtype=np.float32)
    return random.standard_normal((count, HIDDEN), np.float32) * scale + random.standard_normal(HIDDEN, np.float32)


def _pca() -> Row:
    points = _cloud(TOKENS * LAYERS)

    def mine() -> np.ndarray:
        return PCA(3).fit(points).transform(points)

    def other() -> np.ndarray:
        return decomposition.PCA(3).fit(points).transform(points)

    np.testing.assert_allclose(np.abs(mine()), np.abs(other()), atol=2e-2)
    return compare(f"PCA of {LAYERS} layers of {TOKENS:,} tokens × {HIDDEN}, fitted and applied", mine, other,
                   "scikit-learn", 1.0, note="aim: also under 1 s")


def _neighbours() -> Row:
    vectors = _cloud(CORPUS)
    where = Places(("",), ("",) * CORPUS, np.zeros(CORPUS, np.int32), np.zeros((CORPUS, 2), np.int32),
                   np.zeros(CORPUS, np.int32))
    index = Index(where, unit(vectors))
    theirs = neighbors.NearestNeighbors(n_neighbors=10, metric="cosine", algorithm="brute").fit(vectors)
    asked = vectors[4321] + 0.5

    def mine() -> list[int]:
        return index.nearest(asked, 10)["token"].tolist()

    def other() -> list[int]:
        return theirs.kneighbors(asked[None], return_distance=False)[0].tolist()

    assert mine() == other()
    return compare(f"10 neighbours among {CORPUS:,} tokens × {HIDDEN}, indexed", mine, other, "scikit-learn", 1.0,
                   note=f"aim: also under 200 ms; the index takes {index.bytes / 2**20:,.0f} MB")
