"""How far long work has come: the fraction done, the stage in words, and the seconds left."""

import time
from collections.abc import Callable
from typing import TypedDict

from model.progress import Clock


class Progress(TypedDict):
    """A plain dictionary, which the job queue writes as a line of JSON."""

    fraction: float  # 0 to 1
    stage: str
    eta: float | None  # seconds left; None where too little is done to tell


class StageClock:
    """The progress of work that has stages, with the time left."""

    def __init__(self, now: Callable[[], float] = time.monotonic):
        self._clock = Clock(now)

    def at(self, fraction: float, stage: str) -> Progress:
        """The progress at a fraction of the whole."""
        return {"fraction": round(fraction, 4), "stage": stage, "eta": self._clock.eta(fraction)}
