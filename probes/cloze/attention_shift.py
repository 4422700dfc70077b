"""Attention before and after masking: how much of it goes elsewhere once a word is hidden."""

from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, activations


@dataclass(frozen=True)
class AttentionShift:
    """Attention of the same positions with a word unmasked and with it masked."""

    before: np.ndarray  # (layers, heads, query, key)
    after: np.ndarray

    @property
    def difference(self) -> np.ndarray:
        """After minus before, (layers, heads, query, key); every row sums to zero."""
        return self.after - self.before

    @property
    def total_variation(self) -> np.ndarray:
        """(layers, heads): the fraction of a row's attention that went elsewhere, mean over queries; 0 to 1."""
        return np.abs(self.difference).sum(-1).mean(-1) / 2

    @property
    def mean(self) -> float:
        """The fraction that went elsewhere, mean over all heads."""
        return float(self.total_variation.mean())

    @property
    def largest(self) -> tuple[tuple[int, int], float]:
        """The (layer, head) whose attention shifted most, and the fraction that went elsewhere there."""
        shift = self.total_variation
        layer, head = np.unravel_index(shift.argmax(), shift.shape)
        return (int(layer), int(head)), float(shift[layer, head])

    def __repr__(self) -> str:
        layers, heads = self.before.shape[:2]
        return f"AttentionShift({layers} layers of {heads} heads, mean {self.mean:.1%})"


def measure(bert: Bert, before: Encoding, after: Encoding) -> AttentionShift:
    """Run both inputs and keep where every head looked."""
    tables = dict(activations(bert, [before, after], ["attention"]))
    return AttentionShift(tables[0]["attention"], tables[1]["attention"])
