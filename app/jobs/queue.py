"""The queue of long work: what pages ask of it, and who starts the next job."""

import contextlib
import hashlib
import importlib
import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app import limits
from app.jobs import registry
from app.jobs.registry import lives, refusal, runs

ROOMS = ("app.work.",)  # only work that lives here is ever run
WORK = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+:[a-z_]\w*")
ABSENT = "There is no such piece of work; it may have been removed."
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way to end a process
LOOK = """SELECT *, CASE state WHEN 'waiting' THEN (SELECT count(*) FROM jobs AS other WHERE other.state = 'waiting'
    AND other.queue_order <= jobs.queue_order) ELSE 0 END AS place FROM jobs """


@dataclass(frozen=True)
class Job:
    """A piece of long work as it stands now."""

    id: str
    title: str
    work: str  # "package.module:function"
    arguments: dict[str, Any]
    state: str  # waiting, running, done, stopped or failed
    place: int  # 1 is next in the queue; 0 when it is not waiting
    last: dict[str, Any]  # what the work said last
    problem: str  # one sentence when it failed or vanished, else empty
    stopping: bool  # asked to stop, not yet stopped

    @property
    def folder(self) -> Path:
        """Where the work writes its results."""
        return runs() / self.id / "results"

    @property
    def progress(self) -> list[dict[str, Any]]:
        """Everything the work said so far, read from its folder."""
        return registry.progress(self.id)

    @property
    def busy(self) -> bool:
        """Whether it runs or waits for its turn."""
        return self.state in ("waiting", "running")


def submit(work: str, arguments: Mapping[str, Any], title: str, files: Mapping[str, bytes] | None = None) -> str:
    """Queue `function(folder, **arguments)` and return the job's id; the same work still under way is not repeated.

    The function is a generator of dicts with "fraction" (0 to 1) and "stage" (words), optionally "eta" (seconds) and
    anything else JSON can hold. It writes into `folder`, where `files` stand already; run again there, it resumes.
    """
    function(work)
    settings = json.dumps(dict(arguments), sort_keys=True)
    if len(settings) > limits.JOB_ARGUMENT_BYTES:
        raise refusal(f"This work was given {len(settings):,} characters of settings; at most "
                      f"{limits.JOB_ARGUMENT_BYTES:,} are allowed.")
    files = dict(files or {})
    if any(Path(name).name != name or name.startswith(".") for name in files):
        raise refusal("The files of a job need plain names.")
    if sum(map(len, files.values())) > limits.JOB_FILE_BYTES:
        raise refusal(f"The files are larger than {limits.JOB_FILE_BYTES // 2**20} MB together.")
    id, fingerprint = f"{datetime.now():%Y%m%d-%H%M%S-%f}{secrets.token_hex(2)}", _fingerprint(work, settings, files)
    prepared = runs() / f".{id}.new"
    try:
        with registry.in_words():
            (prepared / "results").mkdir(parents=True)
            for name, content in files.items():
                (prepared / "results" / name).write_bytes(content)
        with registry.transaction() as database:
            _settle(database)
            same = database.execute("SELECT id FROM jobs WHERE fingerprint = ? AND state IN ('waiting', 'running')",
                                    (fingerprint,)).fetchone()
            if same:
                return same["id"]
            (waiting,) = database.execute("SELECT count(*) FROM jobs WHERE state = 'waiting'").fetchone()
            if waiting >= limits.JOBS_WAITING:
                raise refusal(f"{waiting} pieces of work are waiting already; try again when one is done.")
            prepared.rename(runs() / id)
            registry.insert(database, id=id, title=title, function=work, arguments=settings, fingerprint=fingerprint,
                            arguments_digest=_digest(settings), state="waiting", queue_order=0, created=time.time())
            registry.change(database, id, queue_order=_last_place(database))
            for row in database.execute("SELECT id FROM jobs WHERE state NOT IN ('waiting', 'running') ORDER BY id DESC "
                                        "LIMIT -1 OFFSET ?", (limits.JOBS_KEPT,)).fetchall():
                with contextlib.suppress(PermissionError):  # a file of it is open; the next time, then
                    _discard(database, row["id"])
    finally:
        _sweep(prepared)
    advance()
    return id


def find(id: str) -> Job:
    """The job with this id as it stands now."""
    found = _look("WHERE id = ?", id)
    if not found:
        raise refusal(ABSENT)
    return found[0]


def exists(id: str) -> bool:
    """Whether there is a job with this id, whatever its state."""
    return bool(registry.read("SELECT 1 FROM jobs WHERE id = ?", id))


def all() -> list[Job]:
    """Every job, the newest first."""
    return _look("ORDER BY id DESC")


def running() -> Job | None:
    """The job at work now."""
    return next((job for job in _look("WHERE state = 'running'") if job.state == "running"), None)


def latest(work: str, arguments: Mapping[str, Any] | None = None) -> Job | None:
    """The newest job that did or does this work, with exactly these arguments where they are given."""
    digest = "" if arguments is None else _digest(json.dumps(dict(arguments), sort_keys=True))
    found = _look(f"WHERE function = ? {'AND arguments_digest = ?' if digest else ''} ORDER BY id DESC LIMIT 1",
                  *filter(None, (work, digest)))
    return found[0] if found else None


def stop(id: str) -> None:
    """Ask a job to stop after its present step; a process that does not listen is ended after a while."""
    with _one(id) as (database, row):
        if row["state"] == "waiting":
            registry.change(database, id, state="stopped", ended=time.time())
        elif row["state"] == "running" and row["stop_requested"] is None:
            registry.change(database, id, stop_requested=time.time())
    watch()


def resume(id: str) -> None:
    """Queue a stopped or failed job again, at the end; the work goes on from what stands in its folder."""
    with _one(id) as (database, row):
        if row["state"] in ("stopped", "failed"):
            registry.change(database, id, state="waiting", queue_order=_last_place(database), pid=None, started=None,
                            stop_requested=None, ended=None, error="")
    advance()


def remove(id: str) -> None:
    """Delete a job that is not running, with its results."""
    with _one(id) as (database, row):
        if row["state"] == "running":
            raise refusal("This work is running; stop it first.")
        try:
            _discard(database, id)
        except PermissionError:
            raise refusal("A file of this work is open elsewhere; try again when it is closed.") from None
    _sweep()


def function(work: str):
    """The generator function that `work` names; only functions of this project's own rooms are accepted."""
    module, _, name = work.partition(":")
    if not WORK.fullmatch(work) or not module.startswith(ROOMS):
        raise refusal(f"{work!r} is not work this app may run.")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise refusal(f"There is no work called {work}.") from None


def advance(unstarted: str = "") -> None:
    """Start the next waiting job when none is running; `unstarted` names one whose process ended before it began."""
    with registry.transaction() as database:
        _settle(database, unstarted)
        row = database.execute("SELECT id FROM jobs WHERE state = 'waiting' AND NOT EXISTS (SELECT 1 FROM jobs "
                               "WHERE state = 'running') ORDER BY queue_order LIMIT 1").fetchone()
        if row is None:
            return
        registry.change(database, row["id"], state="running", started=time.time())
    _start(row["id"])


def watch() -> None:
    """Look after the queue from now on: notice processes that died, start the next job, end those that do not stop."""
    folder = runs()
    if folder not in _watched:
        _watched.add(folder)
        threading.Thread(target=_watch, args=(folder,), daemon=True).start()


_watched: set[Path] = set()


def _watch(folder: Path) -> None:
    while runs() == folder:
        with contextlib.suppress(Exception):  # a full disk, say: whoever looks is told
            _tick()
        time.sleep(limits.JOB_WATCH_SECONDS)
    _watched.discard(folder)


def _tick() -> None:
    active = registry.read("SELECT * FROM jobs WHERE state IN ('waiting', 'running')")
    at_work = [row for row in active if row["state"] == "running"]
    if any(map(_vanished, at_work)) or (active and not at_work):
        advance()
    for row in at_work:
        late = time.time() - (row["stop_requested"] or time.time()) - limits.JOB_STOP_SECONDS
        if late > 0 and row["pid"] and lives(row["id"]):  # while it holds its lock, the number is its own
            with contextlib.suppress(ProcessLookupError):
                os.kill(row["pid"], KILL if late > limits.JOB_KILL_SECONDS else signal.SIGTERM)
    for row in registry.read("SELECT id FROM jobs"):
        if not (runs() / row["id"]).is_dir():  # somebody made room by hand
            with registry.transaction() as database:
                database.execute("DELETE FROM jobs WHERE id = ?", (row["id"],))


def _start(id: str) -> None:
    # a group of its own: Ctrl-C in the terminal of the app is not meant for it
    apart = ({"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
             if sys.platform == "win32" else {"start_new_session": True})
    process = None
    with contextlib.suppress(OSError), (runs() / id / "errors.txt").open("w") as errors:
        process = subprocess.Popen([sys.executable, "-m", "app.jobs.worker", str(runs() / id)], cwd=registry.ROOT,
                                   env=os.environ | {"BERTSCOPE_RUNS": str(runs())}, stdin=subprocess.DEVNULL,
                                   stdout=errors, stderr=errors, **apart)
    # until it holds its lock and has said so, whoever started it answers for it
    while process and process.poll() is None and registry.read("SELECT 1 FROM jobs WHERE id = ? AND state = 'running' "
                                                               "AND pid IS NULL", id):
        time.sleep(0.01)
    if process is None or process.poll() is not None:
        advance(unstarted=id)
    else:
        threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie behind


def _look(condition: str, *parameters: str) -> list[Job]:
    rows = registry.read(LOOK + condition, *parameters)
    while dead := {row["id"] for row in rows if _vanished(row)}:  # or it ended between the two questions
        try:
            advance()
        except Exception:  # that cannot be written down, on a full disk say: the answer is the same
            break
        rows = registry.read(LOOK + condition, *parameters)
    return [_job(row, row["id"] in dead) for row in rows]


def _job(row: sqlite3.Row, dead: bool) -> Job:
    state, problem = ("stopped", registry.last_words(row["id"])) if dead else (row["state"], row["error"])
    return Job(row["id"], row["title"], row["function"], json.loads(row["arguments"]), state, row["place"],
               json.loads(row["last_progress"]), problem, state == "running" and row["stop_requested"] is not None)


def _vanished(row: sqlite3.Row) -> bool:
    """Whether a job that should be running has no process any more."""
    if row["state"] != "running" or (row["pid"] is None and time.time() - row["started"] < limits.JOB_START_SECONDS):
        return False
    return not lives(row["id"])


def _settle(database: sqlite3.Connection, unstarted: str = "") -> None:
    for row in database.execute("SELECT * FROM jobs WHERE state = 'running'").fetchall():
        if _vanished(row) or (row["id"] == unstarted and row["pid"] is None):
            registry.change(database, row["id"], state="stopped", ended=time.time(), error=registry.last_words(row["id"]))


@contextlib.contextmanager
def _one(id: str) -> Iterator[tuple[sqlite3.Connection, sqlite3.Row]]:
    """A job to be changed."""
    with registry.transaction() as database:
        _settle(database)
        row = database.execute("SELECT * FROM jobs WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise refusal(ABSENT)
        yield database, row


def _last_place(database: sqlite3.Connection) -> int:
    return database.execute("SELECT max(queue_order) + 1 FROM jobs").fetchone()[0]


def _discard(database: sqlite3.Connection, id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        (runs() / id).rename(runs() / f".{id}.gone")
    database.execute("DELETE FROM jobs WHERE id = ?", (id,))


def _sweep(*folders: Path) -> None:
    for folder in (*folders, *runs().glob(".*.gone")):
        shutil.rmtree(folder, ignore_errors=True)


def _digest(arguments: str) -> str:
    return hashlib.sha256(arguments.encode()).hexdigest()


def _fingerprint(work: str, arguments: str, files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{work}\n{arguments}".encode())
    for name in sorted(files):
        digest.update(name.encode() + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()
