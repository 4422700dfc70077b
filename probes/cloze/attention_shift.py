"""Attention before and after masking: who looks elsewhere once a word is hidden."""

from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, activations


@dataclass(frozen=True)
class Refocus:
    """Attention of the same positions with a word in sight and with it masked."""

    before: np.ndarray  # (layers, heads, query, key)
    after: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """(layers, heads, query, key): what each edge gained by masking; every row sums to zero."""
        return self.after - self.before

    @property
    def moved(self) -> np.ndarray:
        """(layers, heads): the share of a row's attention that went elsewhere, averaged over queries; 0 to 1."""
        return np.abs(self.difference).sum(-1).mean(-1) / 2


def refocus(bert: Bert, before: Encoding, after: Encoding) -> Refocus:
    """Run both inputs and keep where every head looked."""
    return Refocus(*(activations(bert, encoding, ["attention"])["attention"] for encoding in (before, after)))
