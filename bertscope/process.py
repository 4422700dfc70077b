"""A command in a process of its own, which ends when this one is told to."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path


def print_anywhere() -> None:
    """A terminal or a pipe that lacks a sign gets a question mark for it, not an error: old code pages of Windows do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def run(*words: object, cwd: Path | None = None, **environment: str) -> int:
    """The exit code of a process; Ctrl-C and SIGTERM reach it, and it ends in its own way, a training after saving."""
    process = subprocess.Popen([str(word) for word in words], cwd=cwd, env=os.environ | environment)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the child received the same signal


def run_module(python: object, module: str, words: list[str], folder: Path) -> int:
    """`python -m module`, where the user stands; -P: no file that lies there is taken for one of the project's folder."""
    search_path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return run(python, "-P", "-m", module, *words, PYTHONPATH=search_path)
