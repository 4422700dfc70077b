"""Long work in its own process: one queue, one job at a time, its reports and results on disk.

A job is a row of the registry and a folder below `runs/`: `job.json` is a copy of the row, `progress.jsonl` the reports of
the work so far, `results/` its results. Its process holds a lock on `alive` as long as it lives.
"""

from app.jobs.queue import (
    Job,
    exists,
    function,
    get,
    latest,
    list_all,
    remove,
    rename,
    resume,
    running,
    stop,
    submit,
)
from app.jobs.registry import VANISHED, patiently, refusal, runs
from app.jobs.scheduler import advance, watch

__all__ = [
    "VANISHED",
    "Job",
    "advance",
    "exists",
    "function",
    "get",
    "latest",
    "list_all",
    "patiently",
    "refusal",
    "remove",
    "rename",
    "resume",
    "running",
    "runs",
    "stop",
    "submit",
    "watch",
]
