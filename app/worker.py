"""The process of one job: runs its work, writes down what it says, and how it ended."""

import contextlib
import errno
import json
import math
import os
import signal
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from model import Problem

from . import jobs, limits


class Ended(Exception):
    """The process was told to end at once."""


def main(folder: Path) -> None:
    """Do the work of the job in `folder`."""
    if hasattr(os, "nice"):  # Windows is told when the process starts
        os.nice(5)  # the pages of the app come first

    def end(number, frame):
        raise Ended

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    described = jobs.recorded(folder / "job.json")
    state, problem = "done", ""
    try:
        work = jobs.function(described["work"])(folder / "results", **described["arguments"])
        with contextlib.closing(work), (folder / "progress.jsonl").open("a", encoding="utf-8") as told:
            if _followed(work, told, folder):
                state = "stopped"
    except Ended:
        state = "stopped"
    except Exception as error:  # whatever it is, the page must say it in one sentence
        traceback.print_exc()
        state, problem = "failed", sentence(error)
    jobs.record(folder / "ended.json", {"state": state, "problem": problem})
    jobs.advance()


def _followed(work: Iterator[dict], told: TextIO, folder: Path) -> bool:
    """Write down what the work says until it is done, or until it is asked to stop, which makes this True."""
    began, written, stage, pending = time.monotonic(), -math.inf, None, None
    for pending in work:
        now = time.monotonic()
        # the longer the work, the rarer its lines: a night's work must still be read in an instant
        pause = max(limits.JOB_PROGRESS_SECONDS, (now - began) / limits.JOB_PROGRESS_LINES)
        if now - written >= pause or pending.get("stage") != stage:
            _tell(told, pending)
            written, stage, pending = now, pending.get("stage"), None
        if (folder / "stop").exists():
            return True
    if pending is not None:
        _tell(told, pending)
    return False


def _tell(told: TextIO, said: dict) -> None:
    told.write(json.dumps(said) + "\n")
    told.flush()


def sentence(error: BaseException) -> str:
    """What went wrong, in one sentence and without a stack trace."""
    if isinstance(error, Problem):
        return str(error)
    if isinstance(error, MemoryError):
        return "There was not enough memory for this; try something smaller."
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "The disk is full; nothing finished was lost. Make room and resume."
    said = " ".join(str(error).split())[:300]
    return f"The work failed with {type(error).__name__}{': ' + said if said else ''}."

