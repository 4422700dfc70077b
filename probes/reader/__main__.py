"""`python -m probes.reader`: check the texts of the reader, show their trees, count, print them as CoNLL-U."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model import InputError, command

from . import check, compact_form, counts
from .texts import show


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m probes.reader", description="The reader of everyday English: check, show, counts, conllu."
    )
    parser.add_argument("action", choices=("check", "show", "counts", "conllu"))
    parser.add_argument("texts", nargs="*", help="files, or numbers such as 016; all texts when left out")
    return command.run(_act, parser, argv)


def _act(args: argparse.Namespace) -> int:
    paths = [
        path
        for name in args.texts
        for path in (
            [Path(name)]
            if name.endswith(".txt")
            else [path for path in compact_form.files() if path.name.startswith(f"{name}-")]
        )
    ]
    if args.texts and not paths:
        raise InputError(f"There is no text {' or '.join(args.texts)}.")
    if args.action == "check":
        return check.report(paths or compact_form.files(), whole=not paths)
    reader = compact_form.read(paths or None)
    if args.action == "counts":
        print(counts.counts(reader))
    elif args.action == "show":
        print("\n\n".join(show(text) for text in reader.texts))
    else:
        print(reader.conllu(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
