"""PCA of all layers of a text, and neighbours among many tokens, against scikit-learn on the same data."""

from collections.abc import Iterator

import numpy as np
from sklearn import decomposition, neighbors

from bench.timing import AS_USED, SAME, Row, compare
from probes.states.geometry import PCA, normalise
from probes.states.neighbours import NeighbourIndex
from probes.states.token_contexts import TokenLocations

TOKENS, LAYERS, HIDDEN, CORPUS = 5_000, 7, 384, 200_000


def rows() -> Iterator[Row]:
    yield _pca()
    yield from _neighbours()


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
    return compare(
        f"PCA of {LAYERS} layers of {TOKENS:,} tokens × {HIDDEN}, fitted and applied",
        mine,
        other,
        "scikit-learn",
        1.0,
        note="aim: also under 1 s",
        work=SAME,
        sides="both: three components of the same points, fitted and applied, by the solver each chooses",
    )


def _neighbours() -> Iterator[Row]:
    vectors = _cloud(CORPUS)
    where = TokenLocations(
        ("",), ("",) * CORPUS, np.zeros(CORPUS, np.int32), np.zeros((CORPUS, 2), np.int32), np.zeros(CORPUS, np.int32)
    )
    index = NeighbourIndex(where, normalise(vectors))
    theirs = neighbors.NearestNeighbors(n_neighbors=10, metric="cosine", algorithm="brute").fit(vectors)
    vector = vectors[4321] + 0.5

    def mine() -> list[int]:
        return index.nearest(vector, 10)["token"].tolist()

    def other() -> list[int]:
        return theirs.kneighbors(vector[None], return_distance=False)[0].tolist()

    # of vectors of length one the nearest are those with the smallest angle: nobody has to divide at every question
    ready = neighbors.NearestNeighbors(n_neighbors=10, algorithm="brute").fit(normalise(vectors))

    def levelled() -> list[int]:
        return ready.kneighbors(normalise(vector[None]), return_distance=False)[0].tolist()

    assert mine() == other() == levelled()
    name = f"10 neighbours among {CORPUS:,} tokens × {HIDDEN}, indexed"
    note = f"aim: also under 200 ms; the index takes {index.bytes / 2**20:,.0f} MB"
    yield compare(
        name,
        mine,
        levelled,
        "scikit-learn, unit vectors",
        1.0,
        note=note,
        work=SAME,
        sides="both: one query against vectors of length one, all of them, exact",
    )
    yield compare(
        name,
        mine,
        other,
        "scikit-learn, cosine",
        1.0,
        note=note,
        work=AS_USED,
        sides="ours divided by the lengths when it was indexed, their cosine metric divides at every question",
    )
