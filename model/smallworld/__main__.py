"""`python3 run.py smallworld`: stories as text or CoNLL-U, and what the best possible predictor reaches on them."""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .. import command
from ..progress import StatusLine
from . import documents, stories, untrained_model
from .ceilings import distinct, measure


def main(argv: list[str] | None = None) -> int:
    return command.run(lambda args: args.work(args), _parser(), argv)


def _parser() -> argparse.ArgumentParser:
    parser = command.parser("smallworld", __doc__)
    commands = parser.add_subparsers(required=True)
    for name, work, description in (
        ("stories", _stories, "plain text, a blank line between stories: a corpus for run.py train"),
        ("conllu", _conllu, "every sentence with its tree, features and referents"),
    ):
        texts = commands.add_parser(name, help=description)
        texts.add_argument("--seed", type=int, default=1)
        texts.add_argument("--count", type=int, default=100)
        texts.add_argument("--out", type=Path, help="a file; standard output if left out")
        texts.set_defaults(work=work)
    bound = commands.add_parser("bound", help="upper bound on masked accuracy, by exact inference")
    bound.add_argument("--corpus", type=Path, help="the folder `corpus` of a run: the pairs its model was evaluated on")
    bound.add_argument("--pairs", type=int, default=512)
    bound.add_argument("--keep", type=float, default=0.1, help="fraction of selected words left unchanged (default: 0.1)")
    bound.add_argument("--seed", type=int, default=1)
    bound.set_defaults(work=_bound)
    untrained = commands.add_parser(
        "untrained", help="a tiny BERT over its words that has learned nothing: for train --init"
    )
    untrained.add_argument("--out", type=Path, required=True)
    untrained.add_argument("--seed", type=int, default=0)
    untrained.set_defaults(work=_untrained)
    commands.add_parser("count", help="how many different sentences there are").set_defaults(work=_count)
    return parser


def _stories(args: argparse.Namespace) -> None:
    _write(args.out, (text + "\n\n" for text in documents(args.seed, args.count)))


def _conllu(args: argparse.Namespace) -> None:
    _write(args.out, (story.conllu() for story in stories(args.seed, args.count)))


def _untrained(args: argparse.Namespace) -> None:
    untrained_model(args.seed).save(args.out)


def _count(args: argparse.Namespace) -> None:
    for kind, sentences in distinct().items():
        print(f"{kind:10} {sentences:>10,} sentences", flush=True)


def _bound(args: argparse.Namespace) -> None:
    line, corpus = StatusLine(sys.stderr), str(args.corpus) if args.corpus else None
    with tempfile.TemporaryDirectory() as folder:
        for progress in measure(Path(folder), seed=args.seed, count=args.pairs, keep=args.keep, corpus=corpus):
            if "accuracy" in progress:
                line.update(
                    f"{progress['pairs']:>5} pairs, {progress['words']:>6} words: accuracy at most "
                    f"{progress['accuracy']:.4f} ± {progress['error']:.4f}, loss at least {progress['loss']:.4f}"
                )
        line.print("")
        print((Path(folder) / "bound.json").read_text(encoding="utf-8"), end="")


def _write(out: Path | None, parts: Iterable[str]) -> None:
    if out is None:
        sys.stdout.writelines(parts)
    else:
        with out.open("w", encoding="utf-8") as file:
            file.writelines(parts)


if __name__ == "__main__":
    sys.exit(main())
