"""Heads and states of a model on the reader, as work for the queue."""

from collections.abc import Iterator
from pathlib import Path

import model
from probes import papers
from probes.probing import experiment
from probes.progress import Progress, StageClock

RESULT = "measurements.json"


def measure(folder: Path, source: str) -> Iterator[Progress]:
    """All measurements of the cards, written to the folder."""
    clock = StageClock()
    yield clock.at(0.0, "Reading the sentences")
    papers.measure(model.load(source), experiment.reader()).write(folder / RESULT)
    yield clock.at(1.0, "Done")
