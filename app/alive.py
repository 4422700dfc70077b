"""A job's process lives as long as it holds a lock; `python -m app.alive FOLDER` is that process.

It takes the lock before it imports anything large, so that whoever started it need not wait for torch to know.
"""

import sys
from pathlib import Path

from filelock import FileLock, Timeout

PATIENCE = 60  # seconds; whoever asks holds the lock for an instant too


def lives(folder: Path) -> bool:
    """Whether the process of the job in this folder lives, on every system and after any restart of the app."""
    try:
        with FileLock(folder / "alive", timeout=0):
            return False
    except Timeout:
        return True


def main() -> None:
    folder = Path(sys.argv[1])
    with FileLock(folder / "alive", timeout=PATIENCE):
        from app import worker
        worker.main(folder)


if __name__ == "__main__":
    main()
