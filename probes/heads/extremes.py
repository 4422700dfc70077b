"""The head, or the token, that stands out: what a caption says of many numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model import Trace


@dataclass(frozen=True)
class MeasureSummary:
    """One measure over all heads of a summary: its mean, and the head that stands out."""

    mean: float
    layer: int
    head: int
    value: float  # of that head: the lowest entropy, the highest of any other measure


def stand_out(table: pd.DataFrame, measure: str) -> MeasureSummary | None:
    """The sharpest head by entropy, the strongest by another column of `heads.summary`; None where nothing is measured."""
    values = table[measure].to_numpy(float)  # (layers × heads,)
    if np.isnan(values).any():
        return None
    row = int(values.argmin() if measure == "entropy" else values.argmax())
    layer, head = (int(table[column].iloc[row]) for column in ("layer", "head"))
    return MeasureSummary(float(values.mean()), layer, head, float(values[row]))


def count_labelled(table: pd.DataFrame) -> int:
    """How many heads of a summary have a pattern with a name."""
    return int(table["label"].ne("").sum())


def most_attended(trace: Trace, layer: int, head: int, queries: Sequence[int], keys: int | None = None) -> tuple[int, float]:
    """The position that some queries of a head attend to most, themselves left out, and the mean weight it gets.

    Of the first `keys` positions, where not all are wanted.
    """
    weights = trace.attention[layer, head, list(queries), :keys].mean(axis=0)  # (keys,)
    weights[[query for query in queries if query < len(weights)]] = -1
    return int(weights.argmax()), float(weights.max())


def strongest_edge(values: np.ndarray) -> tuple[int, int, float]:
    """The query and the key with the largest weight, or the largest change, of one head (query, key), and that value."""
    query, key = np.unravel_index(np.abs(values).argmax(), values.shape)
    return int(query), int(key), float(values[query, key])
