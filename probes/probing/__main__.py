"""`python3 run.py probe`: the same experiment as the Probes page, in the terminal."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from model import InputError, command

from ..command import ProgressLine, add_data_options, experiment_options
from ..results import RESULT
from . import experiment, features, results, tasks
from .results import ProbingResult


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = command.parser(
        "probe",
        "Which layer of a model knows what: probes beside their control task and random weights.",
        help_formatter=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--model", default="english", help="a shipped name or a checkpoint folder; NAME:random has random weights"
    )
    add_data_options(parser, experiment.READER, list(experiment.BUNDLED_DATA))
    parser.add_argument(
        "--task",
        default="upos",
        choices=[*tasks.TASKS, "tree"],
        metavar="TASK",
        help=f"{', '.join(tasks.TASKS)}, or tree for the structural probe",
    )
    parser.add_argument("--layers", default="all", help="all, or numbers such as 0,2-4; 0 is the embeddings")
    parser.add_argument(
        "--pooling", default=features.POOLING, choices=features.POOLINGS, help="which wordpieces stand for a word"
    )
    parser.add_argument("--seed", default=0, type=int, help="the same seed gives the same numbers")
    parser.add_argument(
        "--seeds",
        default=3,
        type=int,
        help="how often all is repeated, from --seed on, with split, control task and random weights drawn "
        "anew; 1 is three times as fast and shows nothing of how much that chance matters",
    )
    parser.add_argument("--limit", default=30_000, type=int, help="examples to learn from; a third as many test")
    parser.add_argument(
        "--probe",
        default="linear",
        choices=experiment.PROBES,
        help="linear, rank (limited to --width) or hidden (one layer of --width)",
    )
    parser.add_argument("--width", default=64, type=int, help="width of rank and hidden probes, rank of the tree probe")
    parser.add_argument(
        "--code-length", action="store_true", help="description length (MDL) under the same kind of probe as well"
    )
    parser.add_argument(
        "--mix", action="store_true", help="scalar mix of the layers as well: its centre of gravity and the expected layer"
    )
    parser.add_argument("--out", type=Path, help="write the table to this .csv, or everything to this .json")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return command.run(_probe, parser(), argv)


def _probe(args: argparse.Namespace) -> None:
    out, line = args.out, ProgressLine()
    if out is not None and out.suffix not in (".csv", ".json"):
        raise InputError(f"--out takes a .csv or a .json file, not {out}.")
    if out is not None and not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} to write {out.name} into.")
    with tempfile.TemporaryDirectory() as folder:
        for progress in experiment.run(Path(folder), **experiment_options(args)):
            line.show(progress)
        line.end()
        result = ProbingResult.read(Path(folder) / RESULT)
    print(summary(result))
    if out is not None:
        if out.suffix == ".json":
            result.write(out)
        else:
            results.table(result).to_csv(out, index=False, float_format="%.5f")
        print(f"Written to {out}")


def summary(result: ProbingResult) -> str:
    """What the page shows, as text."""
    sizes, settings = result.sizes, result.settings
    last = settings["seed"] + settings["seeds"] - 1
    seeds = f"seed {last}" if settings["seeds"] == 1 else f"means of the seeds {settings['seed']} to {last}"
    lines = [
        f"{result.title} · {settings['model']} · {settings['data']} ({settings['digest']})",
        f"{sizes['train']:,} examples to learn from, {sizes['dev']:,} to tune, {sizes['test']:,} to test; "
        f"{sizes['skipped']} sentences were too long; {settings['pooling']} of a word's wordpieces; {seeds}",
        results.table(result).to_string(index=False, float_format=lambda value: f"{value:.3f}"),
        "low, high: 95 % interval over test examples; seed_low, seed_high: smallest and largest of the seeds",
    ]
    if result.mix:
        mix = results.mixture(result)
        expected = "not defined, more layers add nothing" if mix.expected is None else f"{mix.expected:.2f}"
        lines.append(
            f"Centre of gravity of the scalar mix: layer {mix.center_of_gravity:.2f} "
            f"(95 % interval {mix.low:.2f} to {mix.high:.2f}); expected layer: {expected}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
