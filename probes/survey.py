"""What heads do over many sentences: the summary of `heads`, averaged over every token read."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from model import Bert, Encoding, alike

from . import heads

NUMBERS = ["entropy", "most", "distance", *heads.KINDS]


def survey(bert: Bert, encodings: Sequence[Encoding], tokens_at_once: int = 2048
           ) -> Iterator[tuple[int, pd.DataFrame]]:
    """How many inputs are read and the summary of every head over them, after each batch; long inputs count more."""
    total, weight, done = 0.0, 0, 0
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
            table = heads.summary(one[..., : len(encoding), : len(encoding)], encoding)
            total = total + table[NUMBERS].to_numpy() * len(encoding)
            weight += len(encoding)
        done += len(some)
        mean = pd.DataFrame(np.asarray(total) / weight, columns=NUMBERS)
        place = pd.DataFrame(np.indices(attention.shape[1:3]).reshape(2, -1).T, columns=["layer", "head"])
        whole = pd.concat([place, mean], axis=1)
        yield done, whole.assign(label=heads.labels(whole))


def even(encodings: Sequence[Encoding]) -> dict[str, float]:
    """The same numbers for a head that looks at every token alike: the baseline of each measure."""
    sizes = np.array([len(encoding) for encoding in encodings])
    flat = [heads.summary(np.full((1, 1, size, size), 1 / size), encoding)[NUMBERS].to_numpy()[0]
            for encoding, size in zip(encodings, sizes, strict=True)]
    return dict(zip(NUMBERS, np.average(flat, axis=0, weights=sizes).tolist(), strict=True))
