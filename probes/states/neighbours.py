"""Exact nearest neighbours of a state, by cosine, among the tokens of a text or a corpus."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from . import geometry
from .token_contexts import TokenContexts, TokenLocations


@dataclass(frozen=True, repr=False)
class NeighbourIndex:
    """The directions of many tokens at one layer, to be searched."""

    places: TokenLocations
    directions: np.ndarray  # (tokens, hidden) float32, each of length one

    def __repr__(self) -> str:
        return f"NeighbourIndex({len(self.directions):,} tokens of {len(self.places.sentences):,} sentences)"

    @classmethod
    def of(cls, contexts: TokenContexts, layer: int) -> "NeighbourIndex":
        return cls(contexts.locations, geometry.normalise(contexts.vectors[layer]))

    @property
    def bytes(self) -> int:
        """Memory of the directions."""
        return self.directions.nbytes

    def nearest(self, vector: np.ndarray, k: int = 10) -> pd.DataFrame:
        """The k tokens of the largest cosine with `vector`: token, cosine; best first."""
        cosines = self.directions @ geometry.normalise(vector.astype(np.float32))
        k = min(k, len(cosines))
        best = np.argpartition(cosines, len(cosines) - k)[len(cosines) - k :]
        best = best[np.argsort(-cosines[best], kind="stable")]
        return pd.DataFrame({"token": best, "cosine": cosines[best]})

    def typical(self) -> float:
        """Mean cosine of all pairs: the baseline of a neighbour."""
        return float(geometry.anisotropy(self.directions))

    def described(self, neighbours: pd.DataFrame) -> pd.DataFrame:
        """The rows of `nearest` with their words: piece, cosine, the sentence before, at and after it, its index."""
        contexts = [self.places.around(token) for token in neighbours["token"]]
        return pd.DataFrame(
            {
                "piece": [self.places.texts[token] for token in neighbours["token"]],
                "cosine": neighbours["cosine"],
                "before": [before for before, _, _ in contexts],
                "at": [at for _, at, _ in contexts],
                "after": [after for _, _, after in contexts],
                "sentence": [int(self.places.sentence[token]) for token in neighbours["token"]],
            }
        )
