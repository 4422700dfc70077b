"""What heads do over many sentences: the summary of `heads`, over every token read."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from model import Bert, Encoding, alike

from .. import heads


def survey(bert: Bert, encodings: Sequence[Encoding], tokens_at_once: int = 2048
           ) -> Iterator[tuple[int, pd.DataFrame]]:
    """How many inputs are read and the summary of every head over them, after each batch; every token counts alike."""
    sums, counts, done = np.zeros(1), np.zeros(1), 0
    for rows in alike(encodings, tokens_at_once):
        some = [encodings[row] for row in rows]
        kept: list[Tensor] = []

        def watch(name: str, layer: int, value: Tensor, kept: list[Tensor] = kept) -> None:
            if name == "attention":
                kept.append(value)

        with torch.inference_mode():
            bert(some, None, watch)
            attention = torch.stack(kept, 1).numpy()  # (batch, layers, heads, query, key)
        for encoding, one in zip(some, attention, strict=True):
            given, possible = heads.totals(one[..., : len(encoding), : len(encoding)], encoding)
            sums, counts = sums + given, counts + possible
        done += len(some)
        yield done, heads.table(sums, counts)


def even(encodings: Sequence[Encoding]) -> dict[str, float]:
    """The same numbers for a head that looks at every token alike: the baseline of each measure."""
    sums, counts = np.zeros(1), np.zeros(1)
    for encoding in encodings:
        given, possible = heads.totals(np.full((1, 1, len(encoding), len(encoding)), 1 / len(encoding)), encoding)
        sums, counts = sums + given, counts + possible
    return heads.table(sums, counts)[list(heads.NUMBERS)].iloc[0].to_dict()
