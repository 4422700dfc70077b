"""A class on one machine: simulated readers over real websockets, beside Streamlit with one text box and one chart."""

import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from app.rehearsal import classroom
from app.rehearsal.classroom import Rehearsal
from bench import timing
from bench.timing import Row

FLOOR = ("-m", "bench.load_floor")
READERS = 30
SECONDS = 60  # of each class; `--repeats 1` makes it a quick look of fifteen


def rows() -> Iterator[Row]:
    seconds = SECONDS if timing.at_most is None else 15
    floor = {pause: _class(FLOOR, 1, pause, seconds, ("",)) for pause in (2, 10)}
    for processes in (1, os.cpu_count() or 1):
        for pause in floor:
            yield _row(
                f"{READERS} readers, pauses 0 to {pause} s, {processes} process{'es' if processes > 1 else ''}",
                _class(("-m", "app"), processes, pause, seconds),
                floor[pause],
            )
    alone = _class(("-m", "app"), 1, 0.2, seconds, readers=1)
    floor_alone = _class(FLOOR, 1, 0.2, seconds, ("",), readers=1)
    for page in classroom.PAGES:
        yield Row(
            f"one reader, {page}",
            "Streamlit, one text box and one chart",
            alone.quantile(0.5, page=page),
            floor_alone.quantile(0.5),
            note=f"known text {_ms(alone.quantile(0.5, False, page))}, new text {_ms(alone.quantile(0.5, True, page))}",
        )


def _class(module, processes, pause, seconds, pages=tuple(classroom.PAGES), readers=READERS) -> Rehearsal:
    options = ["--processes", str(processes)] if processes > 1 else []
    with (
        tempfile.TemporaryDirectory() as folder,
        classroom.serving(*options, folder=Path(folder), module=module) as (address, process),
    ):
        addresses = classroom.addresses(address, processes, process)
        return classroom.rehearse(addresses, readers, seconds, pause, pages=pages, processes=classroom.family(process.pid))


def _row(name: str, ours: Rehearsal, floor: Rehearsal) -> Row:
    size = statistics.mean(visit.size for visit in ours.visits) / 1000
    return Row(
        name,
        "Streamlit, one text box and one chart",
        ours.quantile(0.5),
        floor.quantile(0.5),
        note=f"19 of 20 within {_ms(ours.quantile(0.95))} (floor {_ms(floor.quantile(0.95))}), {ours.rate:.1f} actions a "
        f"second (floor {floor.rate:.1f}), {len(ours.errors)} errors, {_ms(ours.cpu_seconds / len(ours.visits))} of "
        f"processor an action (floor {_ms(floor.cpu_seconds / len(floor.visits))}), {size:.0f} kB an action, memory "
        f"{ours.memory[-1][1]:.2f} GB",
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"
