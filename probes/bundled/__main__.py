"""`python3 -m probes.bundled`: make the stored probing experiments again where weights, data or settings have changed."""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from model import InputError, command

from . import experiments


def main(words: Sequence[str] | None = None) -> int:
    parser = command.parser(
        "bundled", "Make the probing experiments that come with the project: what is current is left alone."
    )
    parser.prog = "python3 -m probes.bundled"
    parser.add_argument("names", nargs="*", help="such as english-upos; all where none is named")
    parser.add_argument(
        "--processes", default=os.cpu_count() or 1, type=int, help="experiments at the same time (default %(default)s)"
    )
    return command.run(_make, parser, words)


def _make(args: argparse.Namespace) -> None:
    unknown = set(args.names) - {one.slug for one in experiments.EXPERIMENTS}
    if unknown:
        raise InputError(f"There is no experiment called {', '.join(sorted(unknown))}.")
    started = time.monotonic()
    for slug, outcome in experiments.make(args.processes, frozenset(args.names)):
        print(f"{time.monotonic() - started:6.0f} s  {slug}: {outcome}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
