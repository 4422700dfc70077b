"""`python3 run.py finetune`: the same fine-tuning as the Fine-tune page, in the terminal."""

import argparse
import sys
import tempfile
from pathlib import Path

from model import InputProblem, Problem
from model.finetuning import Plan

from ..probing import experiment, tasks
from ..probing.__main__ import bar, sentences_options
from . import experiment as tuning


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 run.py finetune", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="One added output layer, learned with all of BERT, beside the frozen features and random weights.")
    known = [task.name for task in tasks.TASKS.values() if task.unit in tuning.UNITS]
    plan = Plan()
    parser.add_argument("--model", default="english", help="a shipped name or a checkpoint folder; NAME:random is its twin")
    sentences_options(parser, experiment.REVIEWS)
    parser.add_argument("--task", default="label", choices=known, metavar="TASK",
                        help=f"label and tag are the file's own labels of sentences and of words; or {', '.join(known)}")
    parser.add_argument("--epochs", default=plan.epochs, type=int, help="passes over the inputs")
    parser.add_argument("--rate", type=float, help="peak learning rate; None goes by the width of the model")
    parser.add_argument("--batch", default=plan.batch, type=int, help="inputs of a step")
    parser.add_argument("--limit", default=2000, type=int, help="examples to learn from")
    parser.add_argument("--seed", default=plan.seed, type=int, help="the same seed gives the same numbers")
    parser.add_argument("--out", type=Path, help="folder for the fine-tuned model; the app lists those in checkpoints/")
    chosen = vars(parser.parse_args())
    out = chosen.pop("out")
    if any(chosen[split] for split in ("train", "dev", "test")):
        chosen["data"] = ""
    try:
        if out is not None and out.exists():
            raise InputProblem(f"{out} is there already; name a new folder.")
        with tempfile.TemporaryDirectory() as folder:
            for progress in tuning.run(Path(folder), **chosen, out=str(out or "")):
                bar(progress)
            result = tuning.read(Path(folder) / tuning.RESULT)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    sizes = result.sizes
    print(f"{result.name}: {sizes['train']:,} examples to learn from, {sizes['test']:,} to test; of the sentences "
          f"{sizes['duplicates']:,} repeat one of their split and {sizes['left_out']:,} stand in two splits and were left "
          "out of the one that learns")
    print(tuning.table(result).to_string(index=False, float_format=lambda value: f"{value:.3f}"))
    if out is not None:
        print(f"The model and its card are in {out}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
