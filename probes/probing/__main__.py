"""`python3 run.py probe`: the same experiment as the Probes page, in the terminal."""

import argparse
import sys
import tempfile
from pathlib import Path

from model import Problem

from . import experiment, features, results, tasks


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python3 run.py probe", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Which layer of a model knows what: probes with their control task and random-init copy.")
    parser.add_argument("--model", default="english",
                        help="a shipped name or a checkpoint folder; NAME:random has random weights")
    sentences_options(parser, experiment.SMALL_WORLD)
    parser.add_argument("--task", default="upos", choices=[*tasks.TASKS, "tree"], metavar="TASK",
                        help=f"{', '.join(tasks.TASKS)}, or tree for the structural probe")
    parser.add_argument("--layers", default="all", help="all, or numbers such as 0,2-4; 0 is the embeddings")
    parser.add_argument("--pooling", default=features.POOLING, choices=features.POOLINGS,
                        help="which pieces stand for a word")
    parser.add_argument("--seed", default=0, type=int, help="the same seed gives the same numbers")
    parser.add_argument("--seeds", default=3, type=int,
                        help="how often all is repeated, from --seed on, with split, control task and random weights drawn "
                             "anew; 1 is three times as fast and says nothing of how much that luck matters")
    parser.add_argument("--limit", default=30_000, type=int, help="examples to learn from; a third as many test")
    parser.add_argument("--probe", default="linear", choices=experiment.PROBES,
                        help="linear, rank (limited to --width) or hidden (one layer of --width)")
    parser.add_argument("--width", default=64, type=int, help="width of rank and hidden probes, rank of the tree probe")
    parser.add_argument("--bits", action="store_true", help="online code length of the same kind of probe as well")
    parser.add_argument("--mix", action="store_true",
                        help="scalar mix of the layers as well: its centre of gravity and the expected layer")
    parser.add_argument("--out", type=Path, help="write the table to this .csv, or everything to this .json")
    return parser


def main() -> int:
    options = parser()
    chosen = vars(options.parse_args())
    out = chosen.pop("out")
    if any(chosen[split] for split in ("train", "dev", "test")):
        chosen["data"] = ""
    if out is not None and out.suffix not in (".csv", ".json"):
        options.error(f"--out takes a .csv or a .json file, not {out}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            for progress in experiment.run(Path(folder), **chosen):
                bar(progress)
            result = results.read(Path(folder) / results.RESULT)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    print(summary(result))
    if out is not None:
        if out.suffix == ".json":
            result.write(out)
        else:
            results.table(result).to_csv(out, index=False, float_format="%.5f")
        print(f"Written to {out}")
    return 0


def sentences_options(parser: argparse.ArgumentParser, first: str) -> None:
    """Where the sentences come from: one place, or a file for each split."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--data", default=first,
                        help="a .conllu, SentEval, CSV or TSV file, a folder of train, dev and test files, "
                             f"{' or '.join(experiment.OWN)}")
    source.add_argument("--train", default="", help="a file to learn from, instead of --data")
    parser.add_argument("--dev", default="", help="with --train: a file to tune on; a tenth of train where there is none")
    parser.add_argument("--test", default="", help="with --train: a file to test on; a tenth of train where there is none")


def summary(result: results.Result) -> str:
    """What the page shows, as text."""
    sizes, settings = result.sizes, result.settings
    last = settings["seed"] + settings["seeds"] - 1
    seeds = f"seed {last}" if settings["seeds"] == 1 else f"means of the seeds {settings['seed']} to {last}"
    said = [f"{result.title} · {settings['model']} · {settings['data']} ({settings['digest']})",
            f"{sizes['train']:,} examples to learn from, {sizes['dev']:,} to tune, {sizes['test']:,} to test; "
            f"{sizes['skipped']} sentences were too long; {settings['pooling']} of a word's pieces; {seeds}",
            results.table(result).to_string(index=False, float_format=lambda value: f"{value:.3f}"),
            "low, high: 95 % interval over test examples; seed_low, seed_high: smallest and largest of the seeds"]
    if result.mix:
        mix = results.mixture(result)
        expected = "not defined, more layers add nothing" if mix.expected is None else f"{mix.expected:.2f}"
        said.append(f"Centre of gravity of the scalar mix: layer {mix.centre:.2f} (95 % interval {mix.low:.2f} to "
                    f"{mix.high:.2f}); expected layer: {expected}")
    return "\n".join(said)


def bar(progress: dict) -> None:
    """One line that is drawn again and again, on a terminal."""
    if not sys.stderr.isatty():
        return
    full = round(30 * progress["fraction"])
    left = "" if progress["eta"] is None else f", {progress['eta']:.0f} s left"
    line = f"[{'█' * full}{' ' * (30 - full)}] {progress['stage']}{left}"
    print(f"\r{line:<100}", end="\n" if progress["fraction"] >= 1 else "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
