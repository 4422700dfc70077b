"""The registry of jobs and of the room's votes: one SQLite file beside the jobs' folders, shared by all processes.

Whatever changes a row also writes it to `job.json` in the job's folder, so that a database which was lost or damaged is
rebuilt from the folders.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from app import folders
from app.jobs import lock

DATABASE = "bertscope.sqlite"
VERSION = 2
PATIENCE = 20  # seconds to wait for the transactions of others, which take milliseconds
PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0)  # seconds between two tries to open a file
VANISHED = "Its process ended without a word: it was killed, or the machine was restarted. It can be resumed."
SCHEMA = (
    """CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, owner TEXT NOT NULL DEFAULT '',
    function TEXT NOT NULL, arguments TEXT NOT NULL, arguments_digest TEXT NOT NULL, fingerprint TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'stopped', 'failed')), queue_order INTEGER NOT NULL,
    pid INTEGER, created REAL NOT NULL, started REAL, stop_requested REAL, ended REAL,
    error TEXT NOT NULL DEFAULT '', last_progress TEXT NOT NULL DEFAULT '{}')""",
    "CREATE INDEX IF NOT EXISTS by_fingerprint ON jobs (fingerprint, state)",
    "CREATE INDEX IF NOT EXISTS by_arguments ON jobs (function, arguments_digest)",
    "CREATE INDEX IF NOT EXISTS by_state ON jobs (state, queue_order)",
    "CREATE TABLE IF NOT EXISTS votes (lesson TEXT, question INTEGER, reader TEXT, option INTEGER NOT NULL, "
    "PRIMARY KEY (lesson, question, reader))",
)

Content = TypeVar("Content")
_idle: list[tuple[tuple, sqlite3.Connection]] = []  # each with the file it was opened on


def runs() -> Path:
    """The folder of all jobs: `runs/` beside the models folder, or what BERTSCOPE_RUNS names."""
    models = Path(os.environ.get("BERTSCOPE_MODELS") or folders.HOME / "checkpoints")
    return Path(os.environ.get("BERTSCOPE_RUNS") or models.absolute().parent / "runs").absolute()


def refusal(sentence: str) -> Exception:
    """What cannot be, in one sentence for the page."""
    from model import InputError  # torch comes with it, and a job's process must have its lock long before

    return InputError(sentence)


def patiently(action: Callable[[], Content]) -> Content | None:
    """What an action on a file returns; None where the file is absent, or locked for longer than a moment.

    Windows refuses to open a file that is being replaced, and to replace one that is being read.
    """
    for pause in PAUSES:
        try:
            return action()
        except FileNotFoundError:
            return None
        except PermissionError:
            time.sleep(pause)
    return None


def read(sql: str, *parameters: Any) -> list[sqlite3.Row]:
    """The rows of one SELECT; none where no job was ever queued."""
    if not runs().is_dir():
        return []
    with contextlib.suppress(sqlite3.DatabaseError), _connection() as database:
        return database.execute(sql, parameters).fetchall()
    with explaining_errors(), _connection() as database:  # a new connection, which rebuilds a damaged database
        return database.execute(sql, parameters).fetchall()


@contextlib.contextmanager
def transaction() -> Iterator[sqlite3.Connection]:
    """One writer at a time among all threads and processes; what raises inside changes nothing."""
    with explaining_errors(), _connection() as database:
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("COMMIT")


def insert(database: sqlite3.Connection, **values: Any) -> None:
    """Add a job whose folder stands already."""
    marks = ", ".join("?" * len(values))
    database.execute(f"INSERT INTO jobs ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))


def change(database: sqlite3.Connection, id: str, **values: Any) -> None:
    """Set columns of a job, here and in its folder."""
    database.execute(f"UPDATE jobs SET {', '.join(f'{name} = ?' for name in values)} WHERE id = ?", (*values.values(), id))
    row = dict(database.execute("SELECT * FROM jobs WHERE id = ?", (id,)).fetchone())
    del row["last_progress"]  # the folder has all of it
    write_whole(runs() / id / "job.json", json.dumps(row | {"arguments": json.loads(row["arguments"])}, indent=1))


def write_whole(path: Path, text: str) -> None:
    """A small file of a job, whole or not at all."""
    partial = path.with_name(f".{path.name}.new")
    patiently(lambda: (partial.write_text(text, encoding="utf-8"), partial.replace(path)))


def is_alive(id: str) -> bool:
    """Whether the process of a job lives; one that is being started does not hold its lock yet."""
    return lock.is_held(runs() / id / "alive")


def progress(id: str) -> list[dict[str, Any]]:
    """Everything the work of a job reported."""
    reports = []
    for line in (patiently((runs() / id / "progress.jsonl").read_bytes) or b"").splitlines():
        with contextlib.suppress(ValueError):  # a line cut off by a killed process
            reports.append(json.loads(line))
    return reports


def last_error_line(id: str) -> str:
    """The last line a process that vanished wrote to its error output, which is where Python says why."""
    lines = (patiently((runs() / id / "errors.txt").read_bytes) or b"").decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip()[:300] if lines else VANISHED


@contextlib.contextmanager
def explaining_errors() -> Iterator[None]:
    """Turn the failure to read or write a file into one sentence for the page."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise refusal(
            f"The queue of jobs cannot be stored in {runs()} ({error}). It needs a folder with room on a local "
            "disk, not a network drive; BERTSCOPE_RUNS names another."
        ) from None


@contextlib.contextmanager
def _connection() -> Iterator[sqlite3.Connection]:
    """A connection that nobody else uses meanwhile: pages run in ever new threads, and opening one takes a while."""
    file = runs() / DATABASE
    database, identity = None, _identity(file)
    while _idle and database is None:
        with contextlib.suppress(IndexError):  # another thread was quicker
            opened_on, candidate = _idle.pop()
            if opened_on == identity:  # else that file was deleted or set aside
                database = candidate
    if database is None:
        database = _open(file)
        identity = _identity(file)
    try:
        yield database
    except BaseException:
        database.close()
        _idle.clear()
        raise
    _idle.append((identity, database))


def _identity(file: Path) -> tuple:
    return (os.getpid(), file, file.stat().st_ino) if file.exists() else ()


def _open(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    with lock.hold(file.with_name(f".{DATABASE}.lock")):  # one of many processes creates it
        try:
            return _prepared(file)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # anything but damage has a class of its own
                raise
        for suffix in ("", "-wal", "-shm"):
            patiently(lambda suffix=suffix: Path(f"{file}{suffix}").rename(f"{file}.damaged-{time.time_ns()}{suffix}"))
        return _prepared(file)


def _prepared(file: Path) -> sqlite3.Connection:
    """A connection to a sound database of our version; a new one learns of the jobs whose folders are there."""
    database = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    database.row_factory = sqlite3.Row
    with contextlib.ExitStack() as unless_sound:
        unless_sound.callback(database.close)
        if database.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise sqlite3.OperationalError("its file system has no write-ahead log")
        database.execute("PRAGMA synchronous = NORMAL")  # when the power fails, the last second may be lost, no more
        if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise refusal(
                f"{file} was written by a newer Bertscope (version {version} of the file; this one knows "
                f"{VERSION}). Start that one, or name another folder in BERTSCOPE_RUNS."
            )
        if version < VERSION:
            database.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA:
                database.execute(statement)
            for folder in file.parent.iterdir():
                _restore(database, folder)
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")
        unless_sound.pop_all()
    return database


def _restore(database: sqlite3.Connection, folder: Path) -> None:
    """Add the job of a folder; what is not a job of this version is passed over."""
    columns = {column["name"] for column in database.execute("PRAGMA table_info(jobs)")} - {"last_progress"}
    with contextlib.suppress(ValueError, TypeError, OSError, sqlite3.Error):
        row = json.loads(patiently((folder / "job.json").read_bytes) or "{}")
        if set(row) == columns and row["id"] == folder.name:
            if row["state"] == "running" and not is_alive(folder.name):
                row |= {"state": "stopped", "error": last_error_line(folder.name)}
            insert(
                database,
                **row | {"arguments": json.dumps(row["arguments"], sort_keys=True)},
                last_progress=json.dumps((progress(folder.name) or [{}])[-1]),
            )
