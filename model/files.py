"""Atomic writes: a file is there whole, or not at all."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import safetensors

from .errors import CheckpointError

# seconds; a reader closes a file in far less. On other systems a refusal is final
PATIENCE = 5.0 if os.name == "nt" else 0.0


def replace(source: Path, target: Path, patience: float = PATIENCE) -> None:
    """`os.replace`, retried for `patience` seconds: Windows refuses it while the target is open anywhere."""
    pause, waited = 0.005, 0.0
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if waited >= patience:
                raise
        time.sleep(pause)
        pause, waited = min(2 * pause, 0.25), waited + pause


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it replaces `path` once all of it is on the disk."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """A text file, whole or not at all: a page may read while a run writes."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def explain_full_disk(folder: Path) -> Iterator[None]:
    """A full disk as a `CheckpointError`; what was saved before is untouched."""
    try:
        yield
    except (OSError, safetensors.SafetensorError) as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full or any(phrase in str(error).lower() for phrase in ("no space left", "file too large", "quota")):
            raise CheckpointError(
                f"There is no space left on the disk of {folder}; what was saved before is intact."
            ) from None
        raise
