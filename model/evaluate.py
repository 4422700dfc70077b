"""`python3 run.py evaluate`: ask a checkpoint about documents that were held out of its training."""

import argparse
import sys
import tempfile
from pathlib import Path

from . import checkpoint, corpus, objective, store
from .bert import Bert
from .masking import Mix
from .pairs import NEGATIVES
from .problem import InputProblem, Problem
from .store import Store


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 run.py evaluate", description=__doc__)
    add = parser.add_argument
    add("checkpoint", help="a shipped name or a checkpoint folder")
    add("--corpus", nargs="+", type=Path, metavar="PATH",
        help="the texts it was trained with; the documents that training holds out are asked (default: the texts kept "
             "in the checkpoint's own folder)")
    add("--hold-out", type=int, default=60, metavar="N", help="1 document in N, as in training (default %(default)s)")
    add("--pairs", type=int, default=1024, help="how many pairs to ask (default %(default)s)")
    add("--length", type=int, default=128, help="wordpieces of a pair at most (default %(default)s)")
    given = parser.parse_args(words)
    try:
        return _evaluate(given)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2


def _evaluate(given: argparse.Namespace) -> int:
    bert = checkpoint.load(given.checkpoint)
    with tempfile.TemporaryDirectory() as place:
        held = _held(given, bert, Path(place))
        print(f"{bert.about.name}: {given.pairs:,} pairs from {len(held):,} held-out documents "
              f"({held.tokens:,} wordpieces), 15 % chosen, 80/10/10")
        print(f"{'NotNext from':16} {'word loss':>10} {'words right':>12} {'pair loss':>10} {'pairs right':>12}")
        for negatives in NEGATIVES:
            scores = objective.evaluate(bert, held, Mix(), given.length, negatives, given.pairs)
            print(f"{negatives + ' document':16} {scores.mlm_loss:10.3f} {scores.mlm_accuracy:12.1%} "
                  f"{scores.nsp_loss:10.3f} {scores.nsp_accuracy:12.1%}")
    return 0


def _held(given: argparse.Namespace, bert: Bert, place: Path) -> Store:
    kept = Path(given.checkpoint) / "corpus"
    if given.corpus is None:
        if not store.complete(kept):
            raise InputProblem("Name the texts it was trained with: --corpus with text files or folders.")
        ids = kept
    elif len(given.corpus) == 1 and store.complete(given.corpus[0]):
        ids = given.corpus[0]
    else:
        for _ in store.build(corpus.documents(given.corpus), bert.tokenizer, place / "corpus", given.hold_out):
            pass
        ids = place / "corpus"
    held = Store(ids / "held")
    held.check(bert.tokenizer)
    return held


if __name__ == "__main__":
    sys.exit(main())
