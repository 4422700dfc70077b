"""`python3 run.py strategies`: train small models that differ in one thing, and measure what each can do."""

import argparse
import json
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import model
from model import Problem
from model.pretraining import token_store
from model.smallworld import optimal

from .. import bundled
from . import evaluation, training_runs
from .training_runs import Budget


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 run.py strategies", description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR",
        help="where models and results go; what is finished there is not done again")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--mixes", nargs="+", metavar="MASK/SAME/RND", default=[t.name for t in training_runs.STRATEGIES],
                      help="how chosen words are treated, in percent (default: the six of the paper's Table 8)")
    what.add_argument("--sights", action="store_true", help="left, right and both sights instead, with 80/10/10")
    add("--seeds", type=int, default=3, help="models a trial (default %(default)s)")
    add("--corpus", metavar="PATH", help="text file or folder (default: stories of the small world)")
    add("--ceiling", action="store_true", help="also find what the best possible predictor reaches in the small world")
    add("--ship", action="store_true", help="take the results into the project, in place of those it came with")
    for one in fields(Budget):
        add(f"--{one.name}", type=type(one.default), default=one.default, help="(default %(default)s)")
    typed = sys.argv[1:] if words is None else words
    given = parser.parse_args(typed)
    try:
        return _run(given, shlex.join(["python3", "run.py", "strategies", *typed]))
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2


def _run(given: argparse.Namespace, typed: str) -> int:
    asked = training_runs.SIGHTS if given.sights else [training_runs.named(name) for name in given.mixes]
    budget = {one.name: getattr(given, one.name) for one in fields(Budget)}
    said = ""
    for progress in training_runs.run(given.out, [training_runs.described(trial) for trial in asked],
                                      list(range(given.seeds)), budget,
                               given.corpus):
        if progress["stage"] != said:
            said = progress["stage"]
            left = "" if progress.get("eta") is None else f", about {progress['eta'] / 60:.0f} min left"
            print(f"{progress['fraction']:4.0%}  {said}{left}", flush=True)
    if given.ceiling and given.corpus is None:
        _ceiling(given.out, budget["length"])
    if given.ship:
        bundled.ship(given.out, bundled.SIGHT if given.sights else "strategies", typed)
    table = training_runs.results(given.out)
    columns = [name for name in evaluation.COLUMNS if name in table]
    print(table.groupby("trial", sort=False)[columns].mean().map("{:.1%}".format).to_string())
    return 0


def _ceiling(folder: Path, length: int) -> None:
    """Write into run.json what no model can exceed on the masked words that all were asked for."""
    pieces = model.load(folder / "vocabulary").tokenizer
    held = token_store.Store(folder / "corpus" / "held")
    *_, found = optimal.ceiling(held, pieces, evaluation.READS["masked"], length, count=evaluation.PAIRS)
    run = json.loads((folder / "run.json").read_text(encoding="utf-8")) | {"ceiling": found.accuracy}
    (folder / "run.json").write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
