"""One file or folder in place of another."""

import os
import time
from pathlib import Path

# seconds; a page reads a file in far less. Elsewhere a refusal is for good
PATIENCE = 5.0 if os.name == "nt" else 0.0


def replace(source: Path, target: Path, patience: float = PATIENCE) -> None:
    """`os.replace`, tried again for some seconds: Windows refuses it for as long as anybody has the target open."""
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
