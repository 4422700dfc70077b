"""Long work in its own process: one queue, one job at a time, everything it says and makes on disk.

A job is a row of the registry and a folder below `runs/`: `job.json` is a copy of the row, `progress.jsonl` what the work
said so far, `results/` what it made. Its process holds a lock on `alive` as long as it lives.
"""

from app.jobs.queue import Job, advance, all, exists, find, function, latest, remove, resume, running, stop, submit, watch
from app.jobs.registry import VANISHED, patiently, runs

__all__ = ["VANISHED", "Job", "advance", "all", "exists", "find", "function", "latest", "patiently", "remove", "resume",
           "running", "runs", "stop", "submit", "watch"]
