"""The queue of long work as pages use it: submit, list, stop, resume, remove."""

import contextlib
import hashlib
import importlib
import json
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app import limits
from app.jobs import registry
from app.jobs.registry import refusal, runs
from app.jobs.scheduler import advance, has_vanished, mark_vanished, watch

ALLOWED = ("app.work.",)  # only functions of these modules are ever run
WORK = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+:[a-z_]\w*")
NAME = "name.txt"  # in the folder of a job
ABSENT = "There is no such piece of work; it may have been removed."
SELECT_JOBS = """SELECT *, CASE state WHEN 'waiting' THEN (SELECT count(*) FROM jobs AS other WHERE other.state = 'waiting'
    AND other.queue_order <= jobs.queue_order) ELSE 0 END AS queue_position FROM jobs """


@dataclass(frozen=True)
class Job:
    """A piece of long work as it stands now."""

    id: str
    title: str
    work: str  # "package.module:function"
    arguments: dict[str, Any]
    state: str  # waiting, running, done, stopped or failed
    queue_position: int  # 1 is next in the queue; 0 when it is not waiting
    last_progress: dict[str, Any]  # what the work reported last
    problem: str  # one sentence when it failed or vanished, else empty
    stopping: bool  # a stop was requested, the process goes on to the end of its step
    owner: str = ""  # the mark of the browser that ordered it

    @property
    def name(self) -> str:
        """What its owner called the result; empty where nobody did."""
        return (registry.patiently((runs() / self.id / NAME).read_bytes) or b"").decode("utf-8", "replace").strip()

    @property
    def folder(self) -> Path:
        """Where the work writes its results."""
        return runs() / self.id / "results"

    @property
    def progress(self) -> list[dict[str, Any]]:
        """Every report of the work, read from its folder."""
        return registry.progress(self.id)

    @property
    def is_active(self) -> bool:
        """Whether it runs or waits for its turn."""
        return self.state in ("waiting", "running")


def submit(
    work: str, arguments: Mapping[str, Any], title: str, files: Mapping[str, bytes] | None = None, owner: str = ""
) -> str:
    """Queue `function(folder, **arguments)` and return the job's id; an owner's same work still under way is not repeated.

    The function is a generator of dicts with "fraction" (0 to 1) and "stage" (words), optionally "eta" (seconds) and
    anything else JSON can hold. It writes into `folder`, where `files` stand already; run again there, it resumes.
    """
    function(work)
    settings = json.dumps(dict(arguments), sort_keys=True)
    if len(settings) > limits.JOB_ARGUMENT_BYTES:
        raise refusal(
            f"The settings of this work are {len(settings):,} characters; at most {limits.JOB_ARGUMENT_BYTES:,} are allowed."
        )
    files = dict(files or {})
    if any(Path(name).name != name or name.startswith(".") for name in files):
        raise refusal("The files of a job need plain names.")
    if sum(map(len, files.values())) > limits.JOB_FILE_BYTES:
        raise refusal(f"The files are larger than {limits.JOB_FILE_BYTES // 2**20} MB together.")
    with registry.explaining_errors():
        runs().mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(runs()).free
    if free < limits.JOB_FREE_BYTES:
        raise refusal(
            f"The disk of {runs()} has {free / 1e9:.1f} GB left, and {limits.JOB_FREE_BYTES / 1e9:.1f} GB are needed for "
            "another piece of work: delete finished work or models first."
        )
    id, fingerprint = f"{datetime.now():%Y%m%d-%H%M%S-%f}{secrets.token_hex(2)}", _fingerprint(work, settings, files)
    prepared = runs() / f".{id}.new"
    try:
        with registry.explaining_errors():
            (prepared / "results").mkdir(parents=True)
            for name, content in files.items():
                (prepared / "results" / name).write_bytes(content)
        with registry.transaction() as database:
            mark_vanished(database)
            same = database.execute(
                "SELECT id FROM jobs WHERE fingerprint = ? AND owner = ? AND state IN ('waiting', 'running')",
                (fingerprint, owner),
            ).fetchone()
            if same:
                return same["id"]
            (n_waiting,) = database.execute("SELECT count(*) FROM jobs WHERE state = 'waiting'").fetchone()
            if n_waiting >= limits.JOBS_WAITING:
                raise refusal(f"{n_waiting} pieces of work are waiting already; try again when one is done.")
            prepared.rename(runs() / id)
            registry.insert(
                database,
                id=id,
                title=title,
                owner=owner,
                function=work,
                arguments=settings,
                fingerprint=fingerprint,
                arguments_digest=_digest(settings),
                state="waiting",
                queue_order=0,
                created=time.time(),
            )
            registry.change(database, id, queue_order=_next_order(database))
            for row in database.execute(
                "SELECT id FROM jobs WHERE state NOT IN ('waiting', 'running') ORDER BY id DESC LIMIT -1 OFFSET ?",
                (limits.JOBS_KEPT,),
            ).fetchall():
                with contextlib.suppress(PermissionError):  # a file of it is open: it is deleted with the next one
                    _discard(database, row["id"])
    finally:
        _delete_folders(prepared)
    advance()
    return id


def get(id: str) -> Job:
    """The job with this id as it stands now."""
    matches = _select("WHERE id = ?", id)
    if not matches:
        raise refusal(ABSENT)
    return matches[0]


def exists(id: str) -> bool:
    """Whether there is a job with this id, whatever its state."""
    return bool(registry.read("SELECT 1 FROM jobs WHERE id = ?", id))


def list_all(owner: str | None = None) -> list[Job]:
    """Every job, or those of one owner, the newest first."""
    return _select("ORDER BY id DESC") if owner is None else _select("WHERE owner = ? ORDER BY id DESC", owner)


def running() -> Job | None:
    """The job at work now."""
    return next((job for job in _select("WHERE state = 'running'") if job.state == "running"), None)


def latest(work: str, arguments: Mapping[str, Any] | None = None, owner: str | None = None) -> Job | None:
    """The newest job that did or does this work: of this owner, with exactly these arguments, unless they are None."""
    conditions = {"function": work}
    if arguments is not None:
        conditions["arguments_digest"] = _digest(json.dumps(dict(arguments), sort_keys=True))
    if owner is not None:
        conditions["owner"] = owner
    named = " AND ".join(f"{column} = ?" for column in conditions)
    matches = _select(f"WHERE {named} ORDER BY id DESC LIMIT 1", *conditions.values())
    return matches[0] if matches else None


def stop(id: str) -> None:
    """Ask a job to stop after its present step; a process that does not listen is ended after a while."""
    with _row(id) as (database, row):
        if row["state"] == "waiting":
            registry.change(database, id, state="stopped", ended=time.time())
        elif row["state"] == "running" and row["stop_requested"] is None:
            registry.change(database, id, stop_requested=time.time())
    watch()


def resume(id: str) -> None:
    """Queue a stopped or failed job again, at the end; the work goes on from what stands in its folder."""
    with _row(id) as (database, row):
        if row["state"] in ("stopped", "failed"):
            registry.change(
                database,
                id,
                state="waiting",
                queue_order=_next_order(database),
                pid=None,
                started=None,
                stop_requested=None,
                ended=None,
                error="",
            )
    advance()


def rename(id: str, name: str) -> None:
    """Call the result of a job by a name; an empty one takes it back."""
    with registry.explaining_errors():
        registry.write_whole(runs() / id / NAME, " ".join(name.split())[: limits.RESULT_NAME])


def remove(id: str) -> None:
    """Delete a job that is not running, with its results."""
    with _row(id) as (database, row):
        if row["state"] == "running":
            raise refusal("This work is running; stop it first.")
        try:
            _discard(database, id)
        except PermissionError:
            raise refusal("A file of this work is open elsewhere; try again when it is closed.") from None
    _delete_folders()


def function(work: str):
    """The generator function that `work` names; only functions of `app.work` are accepted."""
    module, _, name = work.partition(":")
    if not WORK.fullmatch(work) or not module.startswith(ALLOWED):
        raise refusal(f"{work!r} is not work this app may run.")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise refusal(f"There is no work called {work}.") from None


def _select(condition: str, *parameters: str) -> list[Job]:
    rows = registry.read(SELECT_JOBS + condition, *parameters)
    while dead := {row["id"] for row in rows if has_vanished(row)}:  # or it ended between the two questions
        try:
            advance()
        except Exception:  # that cannot be written down, on a full disk say: the answer is the same
            break
        rows = registry.read(SELECT_JOBS + condition, *parameters)
    return [_job(row, row["id"] in dead) for row in rows]


def _job(row: sqlite3.Row, dead: bool) -> Job:
    state, problem = ("stopped", registry.last_error_line(row["id"])) if dead else (row["state"], row["error"])
    return Job(
        row["id"],
        row["title"],
        row["function"],
        json.loads(row["arguments"]),
        state,
        row["queue_position"],
        json.loads(row["last_progress"]),
        problem,
        state == "running" and row["stop_requested"] is not None,
        row["owner"],
    )


@contextlib.contextmanager
def _row(id: str) -> Iterator[tuple[sqlite3.Connection, sqlite3.Row]]:
    """The row of a job, in a transaction that may change it."""
    with registry.transaction() as database:
        mark_vanished(database)
        row = database.execute("SELECT * FROM jobs WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise refusal(ABSENT)
        yield database, row


def _next_order(database: sqlite3.Connection) -> int:
    return database.execute("SELECT max(queue_order) + 1 FROM jobs").fetchone()[0]


def _discard(database: sqlite3.Connection, id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        (runs() / id).rename(runs() / f".{id}.gone")
    database.execute("DELETE FROM jobs WHERE id = ?", (id,))


def _delete_folders(*folders: Path) -> None:
    for folder in (*folders, *runs().glob(".*.gone")):
        shutil.rmtree(folder, ignore_errors=True)


def _digest(arguments: str) -> str:
    return hashlib.sha256(arguments.encode()).hexdigest()


def _fingerprint(work: str, arguments: str, files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{work}\n{arguments}".encode())
    for name in sorted(files):
        digest.update(name.encode() + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()
