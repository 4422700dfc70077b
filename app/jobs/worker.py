"""`python -m app.jobs.worker FOLDER`, the process of one job: runs its work, writes down its reports, and how it ended.

It takes its lock before it imports anything large, so that whoever started it need not wait for torch.
"""

import contextlib
import errno
import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from app import limits
from app.jobs import lock, queue, registry, scheduler


class Terminated(Exception):
    """SIGTERM: the process has to end at once."""


def main(folder: Path) -> None:
    """Do the work of the job in `folder`, then start the next one."""
    if hasattr(os, "setpriority"):  # on Windows the priority is set when the process starts
        # the pages of the app come first; a worker that was started by another must not come last
        os.setpriority(os.PRIO_PROCESS, 0, max(limits.JOB_NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with lock.hold(folder / "alive"):
        with registry.transaction() as database:
            row = database.execute(
                "SELECT * FROM jobs WHERE id = ? AND state = 'running' AND pid IS NULL", (folder.name,)
            ).fetchone()
            if row is None:  # too late: it counts as dead, or another process does it
                return
            registry.change(database, folder.name, pid=os.getpid())
        state, problem = "done", ""
        try:
            signal.signal(signal.SIGTERM, _end)
            work = queue.function(row["function"])(folder / "results", **json.loads(row["arguments"]))
            with contextlib.closing(work), (folder / "progress.jsonl").open("a", encoding="utf-8") as log:
                if _run(work, log, folder.name):
                    state = "stopped"
        except Terminated:
            state = "stopped"
        except Exception as error:  # whatever it is, the page must say it in one sentence
            traceback.print_exc()
            state, problem = "failed", explain(error)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with registry.transaction() as database:
            registry.change(database, folder.name, state=state, error=problem, ended=time.time())
    scheduler.advance()


def _end(number, frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def _run(work: Iterator[dict], log: TextIO, id: str) -> bool:
    """Write down the reports of the work until it is done, or until a stop is requested, which returns True."""
    started, written, stage, pending = time.monotonic(), -math.inf, None, None
    for pending in work:
        now = time.monotonic()
        # the longer the work, the rarer its lines: a night's work must still be read in an instant
        pause = max(limits.JOB_PROGRESS_SECONDS, (now - started) / limits.JOB_PROGRESS_LINES)
        if now - written >= pause or pending.get("stage") != stage:
            _report(pending, log, id)
            written, stage, pending = now, pending.get("stage"), None
        if registry.read("SELECT 1 FROM jobs WHERE id = ? AND stop_requested IS NOT NULL", id):
            return True
    if pending is not None:
        _report(pending, log, id)
    return False


def _report(progress: dict, log: TextIO, id: str) -> None:
    line = json.dumps(progress)
    log.write(line + "\n")
    log.flush()
    with registry.transaction() as database:
        database.execute("UPDATE jobs SET last_progress = ? WHERE id = ?", (line, id))


def explain(error: BaseException) -> str:
    """What went wrong, in one sentence and without a stack trace."""
    from model import BertscopeError

    if isinstance(error, BertscopeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There was not enough memory for this; try something smaller."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full; nothing finished was lost. Make room and resume."
    message = " ".join(str(error).split())[:300]
    return f"The work failed with {type(error).__name__}{': ' + message if message else ''}."


if __name__ == "__main__":
    main(Path(sys.argv[1]))
