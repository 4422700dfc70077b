"""`python3 run.py smallworld`: stories as text or CoNLL-U, and what the best possible predictor reaches on them."""

import argparse
import sys
import tempfile
from pathlib import Path

from . import documents, stories, untrained
from .ceilings import distinct, measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 run.py smallworld", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("stories", "plain text, a blank line between stories: a corpus for run.py train"),
                        ("conllu", "every sentence with its tree, features and referents")):
        told = commands.add_parser(name, help=about)
        told.add_argument("--seed", type=int, default=1)
        told.add_argument("--count", type=int, default=100)
        told.add_argument("--out", type=Path, help="a file; standard output if left out")
    bound = commands.add_parser("bound", help="upper bound on masked accuracy, by exact inference")
    bound.add_argument("--corpus", type=Path, help="the folder `corpus` of a run: the questions its model was asked")
    bound.add_argument("--pairs", type=int, default=512)
    bound.add_argument("--keep", type=float, default=0.1, help="share of chosen words left as they are (default: 0.1)")
    bound.add_argument("--seed", type=int, default=1)
    fresh = commands.add_parser("untrained", help="a tiny BERT over its words that has learned nothing: for train --init")
    fresh.add_argument("--out", type=Path, required=True)
    fresh.add_argument("--seed", type=int, default=0)
    commands.add_parser("count", help="how many different sentences and stories there are")
    asked = parser.parse_args()
    if asked.command == "stories":
        _write(asked.out, (text + "\n\n" for text in documents(asked.seed, asked.count)))
    elif asked.command == "conllu":
        _write(asked.out, (story.conllu() for story in stories(asked.seed, asked.count)))
    elif asked.command == "untrained":
        untrained(asked.seed).save(asked.out)
    elif asked.command == "count":
        for name, sentences in distinct().items():
            print(f"{name:10} {sentences:>10,} sentences", flush=True)
    else:
        with tempfile.TemporaryDirectory() as folder:
            for said in measured(Path(folder), seed=asked.seed, count=asked.pairs, keep=asked.keep,
                                 corpus=str(asked.corpus) if asked.corpus else None):
                if "accuracy" in said and (said["pairs"] % 16 == 0 or said["fraction"] == 1):
                    print(f"\r{said['pairs']:>5} pairs, {said['words']:>6} words: accuracy at most "
                          f"{said['accuracy']:.4f} ± {said['error']:.4f}, loss at least {said['loss']:.4f}",
                          end="", file=sys.stderr)
            print(f"\n{(Path(folder) / 'bound.json').read_text()}", end="")


def _write(out: Path | None, parts) -> None:
    if out is None:
        sys.stdout.writelines(parts)
    else:
        with out.open("w", encoding="utf-8") as file:
            file.writelines(parts)


if __name__ == "__main__":
    main()
