"""Many pairs read one batch after the other: how far it is, how long it will take, and where to go on after a stop."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from model import Bert, Encoding

from . import nextsentence

SAVED = 2.0  # seconds between two savings


def margins(bert: Bert, encodings: Sequence[Encoding], file: Path, stage: str) -> Iterator[dict]:
    """Read all inputs into `file` (.npy, one margin each); what stands there already is not read again."""
    found = np.load(file) if file.is_file() else np.full(len(encodings), np.nan)
    left = np.flatnonzero(np.isnan(found))
    work = [encodings[row] for row in left]
    weight = sum(map(len, work))
    began = saved = time.monotonic()
    done = 0
    for rows, part in nextsentence.judged(bert, work):
        found[left[rows]] = part
        done += sum(len(work[row]) for row in rows)
        now = time.monotonic()
        if now - saved > SAVED:
            _save(found, file)
            saved = now
        yield {"fraction": 1 - (1 - done / weight) * len(left) / len(found), "stage": stage,
               "eta": (now - began) / done * (weight - done)}
    _save(found, file)


def _save(found: np.ndarray, file: Path) -> None:
    """Whole or not at all."""
    made = file.with_name(f".{file.name}")
    with made.open("wb") as opened:
        np.save(opened, found)
    made.replace(file)
