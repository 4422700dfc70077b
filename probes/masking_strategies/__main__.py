"""`python3 run.py strategies`: train small models that differ in one thing, and measure what each can do."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import model
from model import command
from model.files import write_text
from model.smallworld import optimal

from .. import bundled
from ..command import ProgressLine
from . import evaluation, training_runs
from .training_runs import TrainingBudget


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    return command.run(lambda args: _compare(args, command.quote("strategies", *argv)), parser(), argv)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = command.parser("strategies", __doc__)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="where models and results go; what is finished there is not done again",
    )
    conditions = parser.add_mutually_exclusive_group()
    conditions.add_argument(
        "--mixes",
        nargs="+",
        metavar="MASK/SAME/RND",
        default=[condition.name for condition in training_runs.STRATEGIES],
        help="what replaces selected words, in percent (default: the six of the paper's Table 8)",
    )
    conditions.add_argument(
        "--directions",
        action="store_true",
        help="attention to the left, to the right and to both sides instead, with 80/10/10",
    )
    parser.add_argument("--seeds", type=int, default=3, help="models of each condition (default %(default)s)")
    parser.add_argument("--corpus", metavar="PATH", help="text file or folder (default: stories of the small world)")
    parser.add_argument(
        "--ceiling", action="store_true", help="also compute what the best possible predictor reaches in the small world"
    )
    parser.add_argument(
        "--ship", action="store_true", help="copy the results into the project, in place of those it came with"
    )
    for option in fields(TrainingBudget):
        name = f"--{option.name.replace('_', '-')}"
        parser.add_argument(name, type=type(option.default), default=option.default, help="(default %(default)s)")
    return parser


def _compare(args: argparse.Namespace, typed: str) -> None:
    conditions = training_runs.DIRECTIONS if args.directions else [training_runs.condition(name) for name in args.mixes]
    budget = {option.name: getattr(args, option.name) for option in fields(TrainingBudget)}
    line = ProgressLine()
    for progress in training_runs.run(
        args.out,
        [training_runs.describe(condition) for condition in conditions],
        list(range(args.seeds)),
        budget,
        args.corpus,
    ):
        line.show(progress)
    line.end()
    if args.ceiling and args.corpus is None:
        _add_ceiling(args.out, args.max_length)
    if args.ship:
        bundled.add(args.out, bundled.DIRECTIONS if args.directions else bundled.STRATEGIES, typed)
    table = training_runs.results(args.out)
    columns = [name for name in evaluation.COLUMNS if name in table]
    print(table.groupby("condition", sort=False)[columns].mean().map("{:.1%}".format).to_string())


def _add_ceiling(folder: Path, max_length: int) -> None:
    """Add the Bayes-optimal accuracy on the masked words of the run to its settings."""
    tokenizer = model.load(folder / "vocabulary").tokenizer
    *_, ceiling = optimal.ceiling(
        training_runs.heldout(folder), tokenizer, evaluation.READS["masked"], max_length, count=evaluation.PAIRS
    )
    file = folder / training_runs.SETTINGS
    settings = json.loads(file.read_text(encoding="utf-8")) | {"ceiling": ceiling.accuracy}
    write_text(file, json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
