"""What the commands of this room share: where their sentences come from, and how they show progress."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from model.progress import StatusLine, bar, format_duration

SPLITS = ("train", "dev", "test")


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


def experiment_options(args: argparse.Namespace) -> dict:
    """The options of an experiment by name, without `out`; `data` is empty where files for the splits are named."""
    options = {name: value for name, value in vars(args).items() if name != "out"}
    if any(options[split] for split in SPLITS):
        options["data"] = ""
    return options


class ProgressLine:
    """The progress of an experiment, drawn over again on a terminal; nothing elsewhere."""

    def __init__(self):
        self.line = StatusLine(sys.stderr, enabled=sys.stderr.isatty())

    def show(self, progress: Mapping[str, Any]) -> None:
        remaining = "" if not progress["eta"] else f", {format_duration(progress['eta'])} left"
        self.line.update(bar(progress["fraction"], f"{progress['stage']}{remaining}"), progress["stage"])

    def end(self) -> None:
        self.line.print("")
