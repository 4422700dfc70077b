"""Several processes of the app behind one address: a door that sends each new browser to the one with fewest readers.

The door redirects and carries nothing itself, so it costs nothing once a page is open. A process that ends is started again
at its port; its open pages come back by themselves, at another process (see `app/components/connection`).
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

READERS = "/_bertscope/readers"  # how many browsers a process has
ARRIVING = 10.0  # seconds until a browser that was sent somewhere is counted there
LOOK = 2.0  # seconds for a process to answer; it is busy or gone after that
WATCH = 0.5  # seconds between two looks whether every process lives
END = 20.0  # seconds for a process to end when the door closes
SHORT = 60.0  # seconds; a process that ends sooner counts as one that cannot start
FAILED_STARTS = 3  # in a row; then something is wrong that another start does not mend
ROOT = Path(__file__).resolve().parent.parent


class Process:
    """One process of the app at a port of its own, started again when it ends."""

    def __init__(self, port: int, options: Sequence[str]):
        self.port, self.options, self.failed_starts = port, options, 0
        self.arrivals: deque[float] = deque()  # when browsers were sent here
        self.start()

    def start(self) -> None:
        self.started = time.monotonic()
        search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "app", "--port", str(self.port), *self.options],
            env=os.environ | {"PYTHONPATH": search_path},
        )

    def restart_if_ended(self) -> None:
        if self.popen.poll() is None or self.has_failed:
            return
        self.failed_starts = self.failed_starts + 1 if time.monotonic() - self.started < SHORT else 0
        if self.has_failed:
            print(f"The process at port {self.port} ended {FAILED_STARTS} times as soon as it began.", flush=True)
            return
        print(f"The process at port {self.port} ended; it is started again.", flush=True)
        self.start()

    @property
    def has_failed(self) -> bool:
        return self.failed_starts >= FAILED_STARTS

    def readers(self) -> float:
        """Browsers here or on their way; infinity where nothing answers."""
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{READERS}", timeout=LOOK) as answer:
                count = json.load(answer)["readers"]
        except (URLError, OSError, ValueError):
            return float("inf")
        while self.arrivals and time.monotonic() - self.arrivals[0] > ARRIVING:
            self.arrivals.popleft()
        return count + len(self.arrivals)


class Door:
    """The address one types."""

    def __init__(self, processes: Sequence[Process]):
        self.processes = processes

    def application(self) -> Starlette:
        return Starlette(
            routes=[Route("/_stcore/health", self.health), Route("/{path:path}", self.enter)],
            lifespan=self.watching,
        )

    async def health(self, request: Request) -> Response:
        """Whether any process answers."""
        counts = await self._counts()
        return PlainTextResponse(
            "ok" if min(counts) < float("inf") else "starting", 200 if min(counts) < float("inf") else 503
        )

    async def enter(self, request: Request) -> Response:
        """Send a browser on, with what its address says."""
        counts = await self._counts()
        if min(counts) == float("inf"):
            return PlainTextResponse("Bertscope is starting; load this page again in a moment.", 503, {"retry-after": "2"})
        process = self.processes[counts.index(min(counts))]
        process.arrivals.append(time.monotonic())
        url = request.url.replace(port=process.port)
        return RedirectResponse(str(url), 307, {"cache-control": "no-store"})

    async def _counts(self) -> list[float]:
        return await asyncio.gather(*(asyncio.to_thread(process.readers) for process in self.processes))

    @contextlib.asynccontextmanager
    async def watching(self, _: Starlette):
        """Start again what ends, as long as the door is open; then end them all."""
        watcher = asyncio.create_task(self._watch())
        yield
        watcher.cancel()
        for process in self.processes:
            process.popen.terminate()
        for process in self.processes:
            await asyncio.to_thread(process.popen.wait, END)

    async def _watch(self) -> None:
        while True:
            for process in self.processes:
                process.restart_if_ended()
            if all(process.has_failed for process in self.processes):
                signal.raise_signal(signal.SIGINT)  # nobody is left to send a browser to
            await asyncio.sleep(WATCH)


def serve(host: str, port: int, ports: Sequence[int], options: Sequence[str]) -> None:
    """Open the door at `port` and the app at `ports`, until Ctrl-C."""
    os.environ["BERTSCOPE_DOOR"] = str(port)
    processes = [Process(port, options) for port in ports]
    uvicorn.run(Door(processes).application(), host=host, port=port, log_level="warning")


def end_with_the_door() -> None:
    """End this process when the one that started it is gone, however that ended: its port must be free again."""
    starter = os.getppid()

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(WATCH)
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def door() -> int | None:
    """The port of the door in front of this process, where there is one."""
    port = os.environ.get("BERTSCOPE_DOOR", "")
    return int(port) if port.isdecimal() else None
