"""What the commands of this room share: how they fail, where their sentences come from, how they show progress."""

import argparse
import sys
from collections.abc import Callable, Sequence

from model import BertscopeError

from .progress import Progress

WIDTH = 30  # characters of the bar
SPLITS = ("train", "dev", "test")


def exit_code(work: Callable[[], None]) -> int:
    """0, or 2 with one sentence on the standard error where the work cannot be done."""
    try:
        work()
    except BertscopeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def add_data_options(parser: argparse.ArgumentParser, default: str, bundled: Sequence[str]) -> None:
    """Where the sentences come from: one place, or a file for each split."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data",
        default=default,
        help=f"a .conllu, SentEval, CSV or TSV file, a folder of train, dev and test files, {' or '.join(bundled)}",
    )
    source.add_argument("--train", default="", help="a file to learn from, instead of --data")
    parser.add_argument("--dev", default="", help="with --train: a file to tune on; a tenth of train where there is none")
    parser.add_argument("--test", default="", help="with --train: a file to test on; a tenth of train where there is none")


def parse(parser: argparse.ArgumentParser, words: Sequence[str] | None = None) -> dict:
    """The options by name; `data` is empty where files for the splits are named."""
    options = vars(parser.parse_args(words))
    if any(options[split] for split in SPLITS):
        options["data"] = ""
    return options


def progress_bar(progress: Progress) -> None:
    """One line, drawn over again on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        return
    filled = round(WIDTH * progress["fraction"])
    remaining = "" if not progress["eta"] else f", {progress['eta']:.0f} s left"
    line = f"[{'█' * filled}{' ' * (WIDTH - filled)}] {progress['stage']}{remaining}"
    print(f"\r{line:<100}", end="\n" if progress["fraction"] >= 1 else "", file=sys.stderr, flush=True)
