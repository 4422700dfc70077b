"""A lock that its process keeps as long as it lives: an exclusive SQLite transaction on a file of its own.

Asking takes a shared lock, so that those who ask never see each other, on every system SQLite knows; the kernel takes the
lock from a process that was killed, whatever its number and whoever gets that number next.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 60  # seconds; whoever asks has a shared lock for an instant


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Keep the lock on this file; who comes second waits."""
    with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = MEMORY")  # no second file beside it
        connection.execute("BEGIN EXCLUSIVE")
        yield


def is_held(path: Path) -> bool:
    """Whether a living process keeps the lock on this file."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False
