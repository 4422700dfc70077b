"""Two ways to do a piece of work, timed in turn, so that a busy machine slows both alike."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

at_most: int | None = None  # repeats of any comparison; the command line sets it for a quick look
SAME, AS_USED = "same", "as used"  # the same work on both sides; what one gets from each as it is used


@dataclass(frozen=True)
class Row:
    """One line of the table: medians in seconds, their ratio, the aim for it, and what each side does in that time."""

    name: str
    against: str
    ours: float
    theirs: float
    aim: float | None = None
    note: str = ""
    work: str = AS_USED
    sides: str = ""
    repeats: int = 1
    limit: float | None = None  # seconds of the bare matrix products

    @property
    def of_the_limit(self) -> str:
        return "" if self.limit is None else f"{self.limit / self.ours:.0%}"

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def verdict(self) -> str:
        return "" if self.aim is None else f"{self.aim:.1f}×, {'reached' if self.ratio >= self.aim else 'missed'}"

    def __str__(self) -> str:
        """The row as it comes: one line, then what each side did."""
        ours, theirs = _format_seconds(self.ours), _format_seconds(self.theirs)
        line = f"  {self.name}: {ours} against {theirs} ({self.against}), {self.ratio:.2f}×"
        line += f", {self.of_the_limit} of the limit" if self.limit is not None else ""
        extra = "; ".join(part for part in (self.sides, self.note) if part)
        return f"{line} [{self.work}]" + (f"\n      {extra}" if extra else "")


def compare(
    name: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    against: str,
    aim: float | None = None,
    repeats: int = 9,
    note: str = "",
    work: str = AS_USED,
    sides: str = "",
    limit: Callable[[], object] | None = None,
) -> Row:
    """Run all once to warm up, then in turn `repeats` times, and keep the medians; `limit` is the bare matrix products."""
    repeats = min(repeats, at_most or repeats)
    actions = [ours, theirs, *([limit] if limit else [])]
    for action in actions:
        action()
    seconds: list[list[float]] = [[] for _ in actions]
    gc.collect()
    for turn in range(repeats):
        timed = list(zip(actions, seconds, strict=True))
        for action, times in timed if turn % 2 else reversed(timed):
            started = time.perf_counter()
            action()
            times.append(time.perf_counter() - started)
    medians = [statistics.median(times) for times in seconds]
    return Row(name, against, medians[0], medians[1], aim, note, work, sides, repeats, medians[2] if limit else None)


def table(rows: list[Row]) -> str:
    """The rows as one plain table, with what each side does below it."""
    sides = list(dict.fromkeys(row.sides for row in rows if row.sides))
    cells = [["what", "against", "ours", "theirs", "ratio", "of the limit", "work", "aim", "runs"]]
    cells += [
        [
            row.name,
            row.against,
            _format_seconds(row.ours),
            _format_seconds(row.theirs),
            f"{row.ratio:.2f}×",
            row.of_the_limit,
            row.work + (f" ({sides.index(row.sides) + 1})" if row.sides else ""),
            row.verdict,
            str(row.repeats),
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    lines += [
        "",
        "Medians of runs in turn. Work: 'same' on both sides, or 'as used': what one gets from each.",
        "Of the limit: the time of the bare matrix products of that work on this machine, in the same run, over ours.",
    ]
    return "\n".join([*lines, *(f"({number}) {text}" for number, text in enumerate(sides, 1))])


def _format_seconds(value: float) -> str:
    return f"{value * 1e6:.1f} µs" if value < 1e-3 else f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
