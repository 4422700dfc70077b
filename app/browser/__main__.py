"""`python3 run.py handout`: a model as one HTML file that opens from a stick, on a phone, offline."""

import argparse
import sys
import time
from pathlib import Path

import model
from app.browser import handout, rounding
from model import InputError, command, files


def main(argv: list[str] | None = None) -> int:
    parser = command.parser("handout", "Write a model, its lessons and the page that shows them as one HTML file.")
    parser.add_argument("--model", default="english", help="a shipped name or a checkpoint folder (default: english)")
    parser.add_argument("--out", type=Path, default=Path("bert.html"), metavar="FILE", help="default: bert.html")
    parser.add_argument(
        "--lessons", type=Path, metavar="DIR", help="a folder of lessons of your own, added to the shipped ones"
    )
    parser.add_argument(
        "--masks",
        type=int,
        default=rounding.MASKS,
        metavar="N",
        help="masked words to measure rounding by; 0 measures nothing",
    )
    return command.run(_write, parser, argv)


def _write(args: argparse.Namespace) -> None:
    if args.lessons and not args.lessons.is_dir():
        raise InputError(f"There is no folder {args.lessons} to take lessons from.")
    if args.out.is_dir():
        raise InputError(f"{args.out} is a folder: name the file to write.")
    if not args.out.parent.is_dir():
        raise InputError(f"There is no folder {args.out.parent} to write {args.out.name} into.")
    started = time.monotonic()
    content = _build(args).html.encode()
    try:
        with files.atomic_write(args.out) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise InputError(f"{args.out} cannot be written: {error.strerror or error}.") from error
    seconds = time.monotonic() - started
    print(f"{args.out}: {len(content) / 1e6:.1f} MB in {seconds:.0f} s. It opens in any browser, offline.")


def _build(args: argparse.Namespace) -> handout.Handout:
    bert = model.load(args.model)
    cost = rounding.cost(bert, args.masks) if args.masks > 0 else None
    print(f"{bert.info.name} rounded to int8: {cost or 'what it changes is not measured'}", flush=True)
    built = handout.build(bert, handout.lesson_books([args.lessons] if args.lessons else []), cost)
    count = sum(parameter.numel() for parameter in bert.parameters())
    print(f"{count / 1e6:.1f} M weights are {built.weight_bytes / 1e6:.1f} MB as int8", flush=True)
    for name, head in (("masked-word", bert.mlm), ("next-sentence", bert.nsp)):
        if head is None:
            print(f"{bert.info.name} has no {name} head: the page says so where one is needed", flush=True)
    return built


if __name__ == "__main__":
    sys.exit(main())
