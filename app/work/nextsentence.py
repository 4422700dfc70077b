"""Next-sentence work for the queue: many pairs read one batch after the other, with the time left, resumed after a stop."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import model
from model import Bert, Encoding
from probes import nextsentence
from probes.nextsentence import benchmark, sentence_order

SAVED = 2.0  # seconds between two savings


def order(folder: Path, checkpoint: str, sentences: list[str]) -> Iterator[dict]:
    """The matrix of a document: `margins.npy` in the folder, to be `squared`."""
    yield {"fraction": 0.0, "stage": "Loading the model"}
    bert = model.load(checkpoint)
    encodings = sentence_order.pairs(bert, sentences)
    yield from margins(bert, encodings, folder / "margins.npy", f"Reading {len(encodings):,} pairs")


def exam(folder: Path, checkpoint: str, source: str, count: int) -> Iterator[dict]:
    """A benchmark: `answers.csv` in the folder. `source` is a file there, or the small world."""
    yield {"fraction": 0.0, "stage": "Loading the model and drawing pairs"}
    bert = model.load(checkpoint)
    world = source == benchmark.WORLD
    questions = benchmark.questions(benchmark.world() if world else benchmark.documents(folder / source), count)
    file = folder / "margins.npy"
    yield from margins(bert, benchmark.packed(bert, questions), file, f"Answering {len(questions):,} questions")
    benchmark.answers(questions, np.load(file)).to_csv(folder / "answers.csv", index=False)


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
