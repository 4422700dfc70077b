"""One way a command of run.py parses, fails and quotes itself."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .errors import BertscopeError
from .progress import CLEAR

# how a command is called: from a clone, or from the installed package
PROGRAM = ("python3", "run.py") if (Path(__file__).resolve().parents[1] / "pyproject.toml").is_file() else ("bertscope",)
FAILED, INTERRUPTED = 2, 130  # exit codes; argparse fails with 2 as well


def parser(
    name: str,
    description: str | None,
    epilog: str | None = None,
    help_formatter: type[argparse.HelpFormatter] = argparse.RawDescriptionHelpFormatter,
) -> argparse.ArgumentParser:
    """The parser of `python3 run.py NAME`, or `bertscope NAME`."""
    return argparse.ArgumentParser(
        prog=program(name), description=description, epilog=epilog, formatter_class=help_formatter
    )


def program(name: str) -> str:
    """A command as the user calls it: `python3 run.py NAME`, or `bertscope NAME` where the package is installed."""
    return " ".join([*PROGRAM, name])


def run(
    work: Callable[[argparse.Namespace], int | None], parser: argparse.ArgumentParser, argv: Sequence[str] | None
) -> int:
    """Parse (None: the words of the process) and work; the exit code, after one sentence where it is not 0."""
    args = parser.parse_args(argv)
    try:
        code = work(args) or 0
        sys.stdout.flush()
        return code
    except BertscopeError as error:
        _complain(str(error))
        return FAILED
    except KeyboardInterrupt:
        _complain("Stopped before the end.")
        return INTERRUPTED
    except BrokenPipeError:  # who read our output has read enough, as in `… | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes
        return 0


def quote(*argv: object) -> str:
    """A command to copy and paste: quote("train", "--out", path)."""
    return shlex.join([*PROGRAM, *map(str, argv)])


def _complain(sentence: str) -> None:
    print(f"{CLEAR}{sentence}" if sys.stderr.isatty() else sentence, file=sys.stderr, flush=True)
