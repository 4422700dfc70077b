"""A class of readers at once: who waits how long, for what."""

import asyncio
import contextlib
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import psutil

from app.rehearsal.student import Student, Visit
from probes import reader as reader_corpus

ROOT = Path(__file__).parents[2]
A, B = "Sentence A", "Sentence B"
# every page, with the boxes it reads
PAGES = {
    "start": (A, B),
    "lessons": (),
    "papers": (),
    "input": (A, B),
    "attention": (A, B),
    "states": (A, B),
    "mask": (A, B),
    "strategies": (A, B),
    "next-sentence": (A, B),
    "probes": (),
    "train": (),
    "fine-tune": (),
    "compare": (A, B),
}


@dataclass(frozen=True)
class Rehearsal:
    """The actions of a class, and what the server spent on them."""

    visits: tuple[Visit, ...]
    seconds: float
    cpu_seconds: float
    memory: tuple[tuple[float, float], ...]  # (seconds, GB) of the server's processes

    @property
    def errors(self) -> list[Visit]:
        return [visit for visit in self.visits if visit.error]

    @property
    def rate(self) -> float:
        """Actions a second, of all readers together."""
        return len(self.visits) / self.seconds

    def quantile(self, share: float, typed: bool | None = None, page: str | None = None) -> float:
        """Seconds within which this share of the actions was answered."""
        seconds = [visit.seconds for visit in self.visits if typed in (None, visit.typed) and page in (None, visit.page)]
        return float(np.quantile(seconds, share)) if seconds else float("nan")

    @property
    def memory_slope(self) -> float:
        """Growth of the server's memory in the second half, in MB a minute."""
        half = [point for point in self.memory if point[0] >= self.seconds / 2]
        if len(half) < 2:
            return float("nan")
        times, gigabytes = np.array(half).T
        return float(np.polyfit(times, gigabytes, 1)[0]) * 1000 * 60


def rehearse(
    addresses: Sequence[str],
    readers: int,
    seconds: float,
    longest_pause: float,
    seed: int = 0,
    pages: Sequence[str] = tuple(PAGES),
    processes: Sequence[int] = (),
    report: Callable[[float, int], None] = lambda elapsed, actions: None,
) -> Rehearsal:
    """Readers who open pages and type new sentences by turns, with pauses of 0 to `longest_pause` seconds, for so long.

    Half of the actions are a new text where the page reads one. `processes` are the server's, to measure.
    """
    return asyncio.run(_rehearse(addresses, readers, seconds, longest_pause, seed, pages, processes, report))


async def _rehearse(addresses, readers, seconds, longest_pause, seed, pages, processes, report) -> Rehearsal:
    students = [Student(addresses[number % len(addresses)]) for number in range(readers)]
    texts = Texts(seed)
    await asyncio.gather(*(student.join() for student in students))
    # everybody has the first page open when the clock starts
    for student in students:
        await student.visit(pages[0], {})
    visits: list[Visit] = []
    memory: list[tuple[float, float]] = []
    servers = [psutil.Process(pid) for pid in processes]
    began, cpu = time.perf_counter(), _cpu_seconds(servers)
    end = began + seconds

    async def watch() -> None:
        while time.perf_counter() < end:
            elapsed = time.perf_counter() - began
            memory.append((elapsed, sum(process.memory_info().rss for process in servers) / 1e9))
            report(elapsed, len(visits))
            await asyncio.sleep(min(5.0, seconds / 20))

    await asyncio.gather(
        watch(),
        *(
            _live(student, random.Random(f"{seed} {number}"), texts, end, longest_pause, pages, visits)
            for number, student in enumerate(students)
        ),
    )
    elapsed, spent = time.perf_counter() - began, _cpu_seconds(servers) - cpu
    for student in students:
        await student.leave()
    return Rehearsal(tuple(visits), elapsed, spent, tuple(memory))


async def _live(
    student: Student,
    rng: random.Random,
    texts: "Texts",
    end: float,
    longest_pause: float,
    pages: Sequence[str],
    visits: list[Visit],
) -> None:
    """One student's lesson: a page, a pause, a sentence of one's own, a pause, another page, …"""
    page = pages[0]
    await asyncio.sleep(rng.uniform(0, longest_pause))
    while time.perf_counter() < end:
        boxes = [label for label in PAGES.get(page, (A,)) if label in student.boxes]
        try:
            if boxes and rng.random() < 0.5:
                visit = await student.type(page, rng.choice(boxes), texts.new(rng))
            else:
                page = rng.choice(pages)
                visit = await student.visit(page, {})
        except OSError as error:
            visit = Visit(page, False, 0.0, 0, 0, f"cut off: {error}")
            with contextlib.suppress(OSError):
                await student.join()
        visits.append(visit)
        await asyncio.sleep(rng.uniform(0, longest_pause))


class Texts:
    """Sentences of the reader that comes with the project; a new one has a number of its own, so nobody typed it before."""

    def __init__(self, seed: int):
        self._sentences = [sentence.text for text in reader_corpus.read().texts for sentence in text.sentences]
        self._count = seed * 1_000_000

    def new(self, rng: random.Random) -> str:
        self._count += 1
        return f"{rng.choice(self._sentences)} Number {self._count}."


def family(pid: int) -> list[int]:
    """A process and those it started."""
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def addresses(address: str, count: int, process: subprocess.Popen) -> list[str]:
    """Where the door at an address sends so many browsers, one after the other; all processes answer before it returns."""
    if count == 1:
        return [address]
    places: set[str] = set()
    while len(places) < count:
        if process.poll() is not None:
            raise RuntimeError(f"The server at {address} ended.")
        with contextlib.suppress(URLError, OSError), urlopen(f"{address}/", timeout=10) as page:
            places.add(page.url.rstrip("/"))
        time.sleep(0.05)
    return sorted(places)


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


@contextlib.contextmanager
def serving(*options: str, folder: Path, module: Sequence[str] = ("-m", "app")) -> Iterator[tuple[str, subprocess.Popen]]:
    """The address and process of an app started as a user starts it, with empty folders below `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *module, "--port", str(port), "--no-browser", "--models", str(folder), *options],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"BERTSCOPE_RUNS": str(folder / "runs")},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_it_answers(address, process)
        yield address, process
    finally:
        process.terminate()
        process.wait(20)


def wait_until_it_answers(address: str, process: subprocess.Popen) -> None:
    while True:
        try:
            urlopen(f"{address}/_stcore/health", timeout=1).close()
            return
        except (URLError, OSError):
            if process.poll() is not None:
                raise RuntimeError(f"The server at {address} ended before it answered.") from None
            time.sleep(0.1)
