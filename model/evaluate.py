"""`python3 run.py evaluate`: ask a checkpoint about documents that were held out of its training."""

import argparse
import sys
import tempfile
from pathlib import Path

import torch

from . import checkpoint
from .bert import Bert
from .errors import InputProblem, Problem
from .pretraining import corpus, objective, token_store
from .pretraining.masking import Mix
from .pretraining.sentence_pairs import NEGATIVES
from .pretraining.token_store import Store

GUESSES = 5


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 run.py evaluate", description=__doc__)
    add = parser.add_argument
    add("checkpoint", help="a shipped name or a checkpoint folder")
    add("--corpus", nargs="+", type=Path, metavar="PATH",
        help="the texts it was trained with, a corpus each; the documents that training holds out are asked (default: "
             "the texts kept in the checkpoint's own folder)")
    add("--hold-out", type=int, default=60, metavar="N",
        help="1 document in N, as in training; 1 for all of them (default %(default)s)")
    add("--pairs", type=int, default=1024, help="pairs of each corpus, 0 for none (default %(default)s)")
    add("--length", type=int, default=128, help="wordpieces of a pair at most (default %(default)s)")
    add("--singles", type=int, default=2048, metavar="N",
        help="single sentences of each corpus with one word hidden, 0 for none (default %(default)s)")
    add("--cloze", type=Path, metavar="FILE", help="also the guesses for each line of this file that has a [MASK]")
    options = parser.parse_args(words)
    try:
        return _evaluate(options)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2


def _evaluate(options: argparse.Namespace) -> int:
    bert = checkpoint.load(options.checkpoint)
    with tempfile.TemporaryDirectory() as place:
        if options.corpus or not options.cloze:
            corpora = _held(options, bert, Path(place))
            if options.pairs:
                _pairs(bert, corpora, options)
            if options.singles:
                _singles(bert, corpora, options)
    if options.cloze:
        _cloze(bert, options.cloze)
    return 0


def _pairs(bert: Bert, corpora: dict[str, tuple[Store, Store]], options: argparse.Namespace) -> None:
    print(f"{bert.about.name}: {options.pairs:,} pairs of held-out documents of each corpus, 15 % chosen, 80/10/10")
    print(f"{'corpus':24} {'NotNext from':18} {'word loss':>10} {'words right':>12} {'pair loss':>10} {'pairs right':>12}")
    for name, (held, _) in corpora.items():
        for negatives in NEGATIVES if len(held) > 1 else ():
            try:
                scores = objective.evaluate(bert, held, Mix(), options.length, negatives, options.pairs)
            except InputProblem as problem:
                print(f"{name:24} {negatives + ' document':18} {problem}")
                continue
            print(f"{name:24} {negatives + ' document':18} {scores.mlm_loss:10.3f} {scores.mlm_accuracy:12.1%} "
                  f"{scores.nsp_loss:10.3f} {scores.nsp_accuracy:12.1%}", flush=True)


def _singles(bert: Bert, corpora: dict[str, tuple[Store, Store]], options: argparse.Namespace) -> None:
    print(f"{bert.about.name}: held-out sentences alone, one word hidden in each")
    print(f"{'corpus':24} {'sentences':>10} {'first':>8} {'among five':>11} {'of letters, first':>18} {'among five':>11}")
    for name, stores in corpora.items():
        scores = objective.hidden_words(bert, stores, options.singles)
        print(f"{name:24} {scores.sentences:10,} {scores.first:8.1%} {scores.among_five:11.1%} "
              f"{scores.letters_first:18.1%} {scores.letters_among_five:11.1%}", flush=True)


def _cloze(bert: Bert, file: Path) -> None:
    for line in corpus.decoded(file.read_bytes(), file.name).splitlines():
        if "[MASK]" not in line:
            continue
        encoding = bert.tokenizer.encode(line)
        places = torch.tensor([place for place, piece in enumerate(encoding.ids) if piece == bert.tokenizer.mask])
        with torch.no_grad():
            chances = bert.words(bert.at(torch.zeros_like(places), places, encoding)).softmax(-1)
        for row in chances:
            best = row.topk(GUESSES)
            guesses = (f"{bert.tokenizer.words[word]} {chance:.0%}"
                       for word, chance in zip(best.indices.tolist(), best.values.tolist(), strict=True))
            print(f"{line}  {', '.join(guesses)}")


def _held(options: argparse.Namespace, bert: Bert, place: Path) -> dict[str, tuple[Store, Store]]:
    """The held-out documents of each corpus, those of several sentences and those of one."""
    inside = Path(options.checkpoint) / "corpus"
    if options.corpus is None:
        folders = [path for path in (inside, *sorted(inside.glob("*"))) if token_store.complete(path)]
        if not folders:
            raise InputProblem("Name the texts it was trained with: --corpus with text files or folders.")
    else:
        folders = []
        for number, path in enumerate(options.corpus):
            folder = path
            if not token_store.complete(path):
                folder = place / f"{number}-{path.name.split('.')[0]}"
                for _ in token_store.build(corpus.documents(path), bert.tokenizer, folder, options.hold_out):
                    pass
            folders.append(folder)
    corpora = {folder.name: (Store(folder / "held"), Store(folder / "held-single")) for folder in folders}
    for held in (part for parts in corpora.values() for part in parts):
        held.check(bert.tokenizer)
    return corpora


if __name__ == "__main__":
    sys.exit(main())
