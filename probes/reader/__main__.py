"""`python -m probes.reader`: check the texts of the reader, show their trees, count, print them as CoNLL-U."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from model import InputError

from . import check, compact_form, counts
from .texts import show


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m probes.reader", description="The reader of everyday English: check, show, counts, conllu."
    )
    parser.add_argument("action", choices=("check", "show", "counts", "conllu"))
    parser.add_argument("texts", nargs="*", help="files, or numbers such as 016; all texts when left out")
    options = parser.parse_args(arguments)
    paths = [
        path
        for name in options.texts
        for path in (
            [Path(name)]
            if name.endswith(".txt")
            else [path for path in compact_form.files() if path.name.startswith(f"{name}-")]
        )
    ]
    if options.texts and not paths:
        print(f"There is no text {' or '.join(options.texts)}.", file=sys.stderr)
        return 2
    if options.action == "check":
        return check.report(paths or compact_form.files(), whole=not paths)
    try:
        reader = compact_form.read(paths or None)
        if options.action == "counts":
            print(counts.counts(reader))
        else:
            print(
                "\n\n".join(show(text) for text in reader.texts) if options.action == "show" else reader.conllu(),
                end="\n" if options.action == "show" else "",
            )
    except InputError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
