"""`python3 run.py strategies`: train small models that differ in one thing, and measure what each can do."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import model
from model.command import program, quote
from model.files import atomic_write
from model.smallworld import optimal

from .. import bundled
from ..command import exit_code
from . import evaluation, training_runs
from .training_runs import TrainingBudget


def main(words: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    args = parser().parse_args(words)
    return exit_code(lambda: _run(args, quote("strategies", *words)))


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog=program("strategies"), description=__doc__)
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


def _run(args: argparse.Namespace, command: str) -> None:
    conditions = training_runs.DIRECTIONS if args.directions else [training_runs.condition(name) for name in args.mixes]
    budget = {option.name: getattr(args, option.name) for option in fields(TrainingBudget)}
    stage = ""
    for progress in training_runs.run(
        args.out,
        [training_runs.describe(condition) for condition in conditions],
        list(range(args.seeds)),
        budget,
        args.corpus,
    ):
        if progress["stage"] != stage:
            stage = progress["stage"]
            remaining = f", about {progress['eta'] / 60:.0f} min left" if progress["eta"] else ""
            print(f"{progress['fraction']:4.0%}  {stage}{remaining}", flush=True)
    if args.ceiling and args.corpus is None:
        _add_ceiling(args.out, args.max_length)
    if args.ship:
        bundled.add(args.out, bundled.DIRECTIONS if args.directions else bundled.STRATEGIES, command)
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
    with atomic_write(file) as temporary:
        temporary.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
