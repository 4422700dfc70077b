"""What heads attend to over many inputs: the summary of `heads.patterns`, every token counted alike."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from model import Bert, Encoding, activations, batches_by_length

from . import patterns


def summarise(bert: Bert, encodings: Sequence[Encoding], tokens_at_once: int = 2048) -> Iterator[tuple[int, pd.DataFrame]]:
    """After each batch, how many inputs were read and the summary of every head over them."""
    sums, counts, done = np.zeros(1), np.zeros(1), 0
    for rows in batches_by_length(encodings, tokens_at_once):
        batch = [encodings[row] for row in rows]
        for index, arrays in activations(bert, batch, ["attention"], tokens_at_once=tokens_at_once):
            input_sums, input_counts = patterns.totals(arrays["attention"], batch[index])
            sums, counts = sums + input_sums, counts + input_counts
        done += len(batch)
        yield done, patterns.table(sums, counts)


def uniform_baseline(encodings: Sequence[Encoding]) -> dict[str, float]:
    """NUMBERS of a head that attends to every token alike: the baseline of each."""
    sums, counts = np.zeros(1), np.zeros(1)
    for encoding in encodings:
        uniform = np.full((1, 1, len(encoding), len(encoding)), 1 / len(encoding))
        input_sums, input_counts = patterns.totals(uniform, encoding)
        sums, counts = sums + input_sums, counts + input_counts
    row = patterns.table(sums, counts).iloc[0]
    return {name: float(row[name]) for name in patterns.NUMBERS}
