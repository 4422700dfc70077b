"""How far long work is: the time left, and one line about it on a terminal."""

import math
import sys
import time
from collections.abc import Callable
from typing import TextIO

CLEAR = "\r\033[K"  # back to the beginning of the line, and nothing on it
BAR_WIDTH = 20
MIN_PART = 0.02  # of the work; an estimate from less would jump about
RESTART_BELOW = 0.01  # a fraction up to which the clock starts anew: loading says nothing about the work that follows
LIVE_SECONDS, LOG_SECONDS = 0.3, 30.0  # between two lines, on a terminal and in a file


def format_duration(seconds: float) -> str:
    """A time as people say it: 40 s, 3 min 05 s, 1 h 20 min."""
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def bar(fraction: float, text: str = "") -> str:
    """A bar of fixed width, the percentage, and what is being done."""
    fraction = min(1.0, max(0.0, fraction))
    return f"{'█' * round(BAR_WIDTH * fraction):░<{BAR_WIDTH}} {fraction:4.0%}  {text}".rstrip()


class Clock:
    """Seconds left, as if the rest went as fast as the part since the first fraction; resumed work begins in the middle."""

    def __init__(self, now: Callable[[], float] = time.monotonic):
        self._now = now
        self._first: tuple[float, float] | None = None  # seconds, fraction

    def eta(self, fraction: float) -> float | None:
        """Seconds left; None while too little is done to tell."""
        if self._first is None or fraction <= RESTART_BELOW:
            self._first = (self._now(), fraction)
        started, first = self._first
        if fraction >= 1:
            return 0.0
        return (self._now() - started) * (1 - fraction) / (fraction - first) if fraction - first > MIN_PART else None


class StatusLine:
    """A line that redraws itself on a terminal; in a file one line per stage and one every LOG_SECONDS."""

    def __init__(self, stream: TextIO | None = None, enabled: bool = True):
        self.stream, self.enabled = stream or sys.stdout, enabled
        self.live = self.stream.isatty()
        self._written, self._stage = -math.inf, ""

    def update(self, text: str, stage: str = "") -> None:
        """Replace the line, unless the last one of the same stage is too young."""
        now = time.monotonic()
        if stage == self._stage and now - self._written < (LIVE_SECONDS if self.live else LOG_SECONDS):
            return
        self._written, self._stage = now, stage
        self._write(text, end="" if self.live else "\n")

    def print(self, text: str) -> None:
        """A line that stays."""
        self._write(text, end="\n")

    def _write(self, text: str, end: str) -> None:
        if self.enabled:
            print(f"{CLEAR}{text}" if self.live else text, end=end, file=self.stream, flush=True)
