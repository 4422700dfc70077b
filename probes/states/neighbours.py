"""Nearest neighbours of a state among the tokens of a text or a corpus, by cosine, exactly."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from . import geometry
from .token_contexts import Contexts, Places


@dataclass(frozen=True)
class Index:
    """The directions of many tokens at one layer, ready to be searched."""

    places: Places
    directions: np.ndarray  # (tokens, hidden) float32, each of length one

    @classmethod
    def of(cls, contexts: Contexts, layer: int) -> "Index":
        return cls(contexts.places, geometry.unit(contexts.vectors[layer]))

    @property
    def bytes(self) -> int:
        """What the vectors take in memory."""
        return self.directions.nbytes

    def nearest(self, vector: np.ndarray, k: int = 10) -> pd.DataFrame:
        """The k tokens that point most nearly where `vector` points: token, cosine; best first."""
        cosines = self.directions @ geometry.unit(vector.astype(np.float32))
        k = min(k, len(cosines))
        best = np.argpartition(cosines, len(cosines) - k)[len(cosines) - k:]
        best = best[np.argsort(-cosines[best], kind="stable")]
        return pd.DataFrame({"token": best, "cosine": cosines[best]})

    def typical(self) -> float:
        """Mean cosine of all pairs: what a neighbour has to beat."""
        return float(geometry.anisotropy(self.directions))

    def described(self, found: pd.DataFrame) -> pd.DataFrame:
        """What `nearest` found, with words: piece, cosine, and the sentence before, at and after it."""
        around = [self.places.around(token) for token in found["token"]]
        return pd.DataFrame({
            "piece": [self.places.texts[token] for token in found["token"]], "cosine": found["cosine"],
            "before": [a for a, _, _ in around], "at": [b for _, b, _ in around], "after": [c for _, _, c in around],
            "sentence": [int(self.places.sentence[token]) for token in found["token"]]})
