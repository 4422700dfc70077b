"""Two ways to do the same work, timed in turn, so that a busy machine slows both alike."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: medians in seconds, their ratio, and the aim for it."""

    name: str
    against: str
    ours: float
    theirs: float
    aim: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], against: str,
            aim: float | None = None, repeats: int = 9, note: str = "") -> Row:
    """Run both once to warm up, then in turn `repeats` times, and keep the medians."""
    ours(), theirs()
    spent: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    for turn in range(repeats):
        pair = ((ours, spent[0]), (theirs, spent[1]))
        for work, times in pair if turn % 2 else reversed(pair):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
    return Row(name, against, statistics.median(spent[0]), statistics.median(spent[1]), aim, note)


def table(rows: list[Row]) -> str:
    """The rows as text, the ratio against its aim."""
    lines = [f"{'what':58} {'against':24} {'ours':>10} {'theirs':>10} {'ratio':>8} {'aim':>6}"]
    for row in rows:
        aim = "" if row.aim is None else f"{row.aim:.1f}×"
        verdict = "" if row.aim is None else ("  ok" if row.ratio >= row.aim else "  below")
        lines.append(f"{row.name:58} {row.against:24} {_seconds(row.ours):>10} {_seconds(row.theirs):>10} "
                     f"{row.ratio:7.2f}× {aim:>6}{verdict}  {row.note}".rstrip())
    return "\n".join(lines)


def _seconds(value: float) -> str:
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
