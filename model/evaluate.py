"""`python3 run.py evaluate`: MLM and NSP scores of a checkpoint on documents that were held out of its training."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import torch

from . import checkpoint, command
from .bert import Bert
from .errors import InputError
from .pretraining import corpus, evaluation, token_store
from .pretraining.masking import MaskingStrategy
from .pretraining.sentence_pairs import NEGATIVES
from .pretraining.token_store import TokenStore

GUESSES = 5

# by the name of a corpus: its held-out documents of several sentences, and those of one
Heldout = Mapping[str, tuple[TokenStore, TokenStore]]


def main(argv: list[str] | None = None) -> int:
    parser = command.parser("evaluate", __doc__)
    add = parser.add_argument
    add("checkpoint", help="a shipped name or a checkpoint folder")
    add(
        "--corpus",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="the texts it was trained with, a corpus each, of which training holds documents out (default: those in the "
        "checkpoint's own folder)",
    )
    add(
        "--hold-out",
        type=int,
        default=60,
        metavar="N",
        help="1 document in N, as in training; 1 for all of them (default %(default)s)",
    )
    add("--pairs", type=int, default=1024, help="pairs of each corpus, 0 for none (default %(default)s)")
    add("--length", type=int, default=128, help="wordpieces of a pair at most (default %(default)s)")
    add(
        "--singles",
        type=int,
        default=2048,
        metavar="N",
        help="single sentences of each corpus with one word masked, 0 for none (default %(default)s)",
    )
    add("--cloze", type=Path, metavar="FILE", help="also the guesses for each line of this file that has a [MASK]")
    return command.run(_evaluate, parser, argv)


def _evaluate(args: argparse.Namespace) -> None:
    bert = checkpoint.load(args.checkpoint)
    if args.corpus or not args.cloze:
        with tempfile.TemporaryDirectory() as folder:
            heldout = _heldout(args, bert, Path(folder))
            if args.pairs:
                _print_pairs(bert, heldout, args)
            if args.singles:
                _print_singles(bert, heldout, args)
    if args.cloze:
        _print_guesses(bert, args.cloze)


def _print_pairs(bert: Bert, heldout: Heldout, args: argparse.Namespace) -> None:
    print(f"{bert.info.name}: {args.pairs:,} pairs of held-out documents of each corpus, 15 % selected, 80/10/10")
    print(f"{'corpus':24} {'NotNext from':18} {'MLM loss':>10} {'MLM accuracy':>13} {'NSP loss':>10} {'NSP accuracy':>13}")
    for name, (documents, _) in heldout.items():
        for negatives in NEGATIVES if len(documents) > 1 else ():
            row = f"{name:24} {negatives + ' document':18}"
            try:
                scores = evaluation.evaluate(bert, documents, MaskingStrategy(), args.length, negatives, args.pairs)
            except InputError as error:
                print(f"{row} {error}")
                continue
            print(
                f"{row} {scores.mlm_loss:10.3f} {scores.mlm_accuracy:13.1%} {scores.nsp_loss:10.3f} "
                f"{scores.nsp_accuracy:13.1%}",
                flush=True,
            )


def _print_singles(bert: Bert, heldout: Heldout, args: argparse.Namespace) -> None:
    print(f"{bert.info.name}: held-out sentences alone, one word masked in each")
    print(f"{'corpus':24} {'sentences':>10} {'top 1':>8} {'top 5':>8} {'of letters, top 1':>18} {'top 5':>8}")
    for name, stores in heldout.items():
        scores = evaluation.cloze_accuracy(bert, stores, args.singles)
        print(
            f"{name:24} {scores.sentences:10,} {scores.top1:8.1%} {scores.top5:8.1%} "
            f"{scores.alphabetic_top1:18.1%} {scores.alphabetic_top5:8.1%}",
            flush=True,
        )


def _print_guesses(bert: Bert, file: Path) -> None:
    """The first guesses for every [MASK] of every line of a file."""
    for line in corpus.decode_utf8(file.read_bytes(), file.name).splitlines():
        if "[MASK]" not in line:
            continue
        encoding = bert.tokenizer.encode(line)
        positions = torch.tensor([p for p, token_id in enumerate(encoding.ids) if token_id == bert.tokenizer.mask_id])
        with torch.no_grad():
            states = bert.states_at(torch.zeros_like(positions), positions, encoding)
            probabilities = bert.mlm_logits(states).softmax(-1)  # (masks, vocabulary)
        for row in probabilities:
            top = row.topk(GUESSES)
            guesses = (
                f"{bert.tokenizer.vocabulary[token_id]} {probability:.0%}"
                for token_id, probability in zip(top.indices.tolist(), top.values.tolist(), strict=True)
            )
            print(f"{line}  {', '.join(guesses)}")


def _heldout(args: argparse.Namespace, bert: Bert, temporary: Path) -> Heldout:
    """The held-out documents of the corpora named, or of those in the checkpoint's own folder."""
    if args.corpus is None:
        inside = Path(args.checkpoint) / "corpus"
        folders = [path for path in (inside, *sorted(inside.glob("*"))) if token_store.is_complete(path)]
        if not folders:
            raise InputError(f"{args.checkpoint} holds no corpus; name the texts it was trained with: --corpus.")
    else:
        folders = []
        for number, path in enumerate(args.corpus):
            folder = path
            if not token_store.is_complete(path):
                folder = temporary / f"{number}-{path.name.split('.')[0]}"
                for _ in token_store.build(corpus.documents(path), bert.tokenizer, folder, args.hold_out):
                    pass
            folders.append(folder)
    heldout = {folder.name: (TokenStore(folder / "heldout"), TokenStore(folder / "heldout-single")) for folder in folders}
    for store in (store for stores in heldout.values() for store in stores):
        store.check(bert.tokenizer)
    return heldout


if __name__ == "__main__":
    sys.exit(main())
