"""Next-sentence work for the queue: many pairs batch by batch, with the time left, resumed after a stop."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import model
from model import Bert, Encoding
from model.files import atomic_write
from probes import nextsentence
from probes.nextsentence import benchmark as pairs_benchmark
from probes.nextsentence import sentence_order
from probes.progress import StageClock

SAVE_SECONDS = 2.0  # between two writes of the file


def order(folder: Path, checkpoint: str, sentences: list[str]) -> Iterator[dict]:
    """The matrix of a document: `margins.npy` in the folder, for `sentence_order.to_matrix`."""
    yield {"fraction": 0.0, "stage": "Loading the model"}
    bert = model.load(checkpoint)
    encodings = sentence_order.pairs(bert, sentences)
    yield from logit_differences(bert, encodings, folder / "margins.npy", f"Reading {len(encodings):,} pairs")


def benchmark(folder: Path, checkpoint: str, source: str, count: int) -> Iterator[dict]:
    """A benchmark: `answers.csv` in the folder. `source` is a file there, the reader, or the small world."""
    yield {"fraction": 0.0, "stage": "Loading the model and drawing pairs"}
    bert = model.load(checkpoint)
    bundled = pairs_benchmark.BUNDLED.get(source)
    texts = bundled() if bundled else pairs_benchmark.documents(folder / source)
    pairs = pairs_benchmark.sample_pairs(texts, count)
    encodings = pairs_benchmark.encode_pairs(bert, pairs)
    file = folder / "margins.npy"
    yield from logit_differences(bert, encodings, file, f"Reading {len(pairs):,} pairs")
    with atomic_write(folder / "answers.csv") as temporary:
        pairs_benchmark.answers(pairs, np.load(file)).to_csv(temporary, index=False)


def logit_differences(bert: Bert, encodings: Sequence[Encoding], file: Path, stage: str) -> Iterator[dict]:
    """The logit difference of every input, in `file` (.npy); those that stand there already are not computed again."""
    differences = np.load(file) if file.is_file() else np.full(len(encodings), np.nan)
    missing = np.flatnonzero(np.isnan(differences))
    inputs = [encodings[int(index)] for index in missing]
    total, done = sum(map(len, inputs)), 0  # tokens
    clock, saved = StageClock(), time.monotonic()
    yield {**clock.at(1 - len(missing) / len(differences), stage)}
    for rows, batch in nextsentence.iter_logit_differences(bert, inputs):
        differences[missing[rows]] = batch
        done += sum(len(inputs[row]) for row in rows)
        if time.monotonic() - saved > SAVE_SECONDS:
            _save(differences, file)
            saved = time.monotonic()
        yield {**clock.at(1 - (1 - done / total) * len(missing) / len(differences), stage)}
    _save(differences, file)


def _save(differences: np.ndarray, file: Path) -> None:
    with atomic_write(file) as temporary, temporary.open("wb") as opened:
        np.save(opened, differences)
