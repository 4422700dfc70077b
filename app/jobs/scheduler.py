"""Who runs the queue: starts the next job, notices processes that died, ends those that do not stop."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from app import folders, limits
from app.jobs import registry
from app.jobs.registry import is_alive, runs

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way to end a process


def advance(unstarted: str = "") -> None:
    """Start the next waiting job when none is running; `unstarted` names one whose process ended before it began."""
    with registry.transaction() as database:
        mark_vanished(database, unstarted)
        row = database.execute(
            "SELECT id FROM jobs WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM jobs "
            "WHERE state = 'running') ORDER BY queue_order LIMIT 1"
        ).fetchone()
        if row is None:
            return
        registry.change(database, row["id"], state="running", started=time.time())
    _start(row["id"])


def watch() -> None:
    """Look after the queue of this folder from now on, in a thread of its own."""
    folder = runs()
    if folder not in _watched:
        _watched.add(folder)
        threading.Thread(target=_watch, args=(folder,), daemon=True).start()


_watched: set[Path] = set()


def _watch(folder: Path) -> None:
    while runs() == folder:
        with contextlib.suppress(Exception):  # a full disk, say: the pages say it
            _tick()
        time.sleep(limits.JOB_WATCH_SECONDS)
    _watched.discard(folder)


def _tick() -> None:
    active = registry.read("SELECT * FROM jobs WHERE state IN ('waiting', 'running')")
    running = [row for row in active if row["state"] == "running"]
    if any(map(has_vanished, running)) or (active and not running):
        advance()
    for row in running:
        late = time.time() - (row["stop_requested"] or time.time()) - limits.JOB_STOP_SECONDS
        if late > 0 and row["pid"] and is_alive(row["id"]):  # while it holds its lock, the number is its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(row["pid"], KILL if late > limits.JOB_KILL_SECONDS else signal.SIGTERM)
    for row in registry.read("SELECT id FROM jobs"):
        if not (runs() / row["id"]).is_dir():  # deleted by hand, to free the disk
            with registry.transaction() as database:
                database.execute("DELETE FROM jobs WHERE id = ?", (row["id"],))


def _start(id: str) -> None:
    # a group of its own: Ctrl-C in the terminal of the app is not meant for it
    detached: dict[str, Any] = (
        {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
        if sys.platform == "win32"
        else {"start_new_session": True}
    )
    process = None
    with contextlib.suppress(OSError), (runs() / id / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "app.jobs.worker", str(runs() / id)],
            cwd=folders.CODE,
            env=os.environ | {"BERTSCOPE_RUNS": str(runs())},
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            **detached,
        )
    # until the process holds its lock and its number is in the table, this one answers for it
    while (
        process
        and process.poll() is None
        and registry.read("SELECT 1 FROM jobs WHERE id = ? AND state = 'running' AND pid IS NULL", id)
    ):
        time.sleep(0.01)
    if process is None or process.poll() is not None:
        advance(unstarted=id)
    else:
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie behind


def has_vanished(row: sqlite3.Row) -> bool:
    """Whether a job that should be running has no process any more."""
    if row["state"] != "running" or (row["pid"] is None and time.time() - row["started"] < limits.JOB_START_SECONDS):
        return False
    return not is_alive(row["id"])


def mark_vanished(database: sqlite3.Connection, unstarted: str = "") -> None:
    """Set the jobs to "stopped" whose process is gone, and the one whose process ended before it began."""
    for row in database.execute("SELECT * FROM jobs WHERE state = 'running'").fetchall():
        if has_vanished(row) or (row["id"] == unstarted and row["pid"] is None):
            registry.change(
                database, row["id"], state="stopped", ended=time.time(), error=registry.last_error_line(row["id"])
            )
