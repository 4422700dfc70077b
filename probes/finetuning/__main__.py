"""`python3 run.py finetune`: the same fine-tuning as the Fine-tune page, in the terminal."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from model import InputError, command
from model.finetuning import FinetuningConfig

from ..command import ProgressLine, add_data_options, experiment_options
from ..probing import tasks
from ..probing.experiment import BUNDLED_DATA, READER
from ..results import RESULT
from . import experiment
from .results import FinetuningResult, table


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = command.parser(
        "finetune",
        "One added output layer, trained with all of BERT, beside the frozen features and random weights.",
        help_formatter=argparse.ArgumentDefaultsHelpFormatter,
    )
    names = [task.name for task in tasks.TASKS.values() if task.unit in experiment.UNITS]
    config = FinetuningConfig()
    parser.add_argument(
        "--model", default="english", help="a shipped name or a checkpoint folder; NAME:random has random weights"
    )
    add_data_options(parser, READER, list(BUNDLED_DATA))
    parser.add_argument(
        "--task",
        default=None,
        choices=names,
        metavar="TASK",
        help="None is topic for the reader and label elsewhere; label and tag are the file's own labels of sentences and of "
        f"words; or {', '.join(names)}",
    )
    parser.add_argument("--epochs", default=config.epochs, type=int, help="passes over the inputs")
    parser.add_argument("--learning-rate", type=float, help="its peak; None goes by the width of the model")
    parser.add_argument("--batch-size", default=config.batch_size, type=int, help="inputs of a step")
    parser.add_argument("--limit", default=2000, type=int, help="examples to learn from")
    parser.add_argument("--seed", default=config.seed, type=int, help="the same seed gives the same numbers")
    parser.add_argument("--out", type=Path, help="folder for the fine-tuned model; the app lists those in checkpoints/")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return command.run(_finetune, parser(), argv)


def _finetune(args: argparse.Namespace) -> None:
    out, line, options = args.out, ProgressLine(), experiment_options(args)
    options["task"] = options["task"] or ("topic" if options["data"] == READER else "label")
    if out is not None and out.exists():
        raise InputError(f"{out} is there already; name a new folder.")
    with tempfile.TemporaryDirectory() as folder:
        for progress in experiment.run(Path(folder), **options, out=str(out or "")):
            line.show(progress)
        line.end()
        result = FinetuningResult.read(Path(folder) / RESULT)
    sizes = result.sizes
    print(
        f"{result.name}: {sizes['train']:,} examples to learn from, {sizes['test']:,} to test; of the sentences "
        f"{sizes['duplicates']:,} repeat one of their split and {sizes['left_out']:,} stand in two splits and were left "
        "out of the one that learns"
    )
    print(table(result).to_string(index=False, float_format=lambda value: f"{value:.3f}"))
    if out is not None:
        print(f"The model and its card are in {out}.")


if __name__ == "__main__":
    sys.exit(main())
