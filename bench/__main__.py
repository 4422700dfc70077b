"""`python3 run.py bench [name …]`: run the benches named, or all; each row as it comes, then one table."""

import argparse
import importlib
import sys
from pathlib import Path

from bench import timing
from model import InputError, command

NOT_BENCHES = {"__init__", "__main__", "timing", "limit", "load_floor"}


def main(argv: list[str] | None = None) -> int:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHES)
    parser = command.parser("bench", "Time this project against the tools people use today.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names)} (default: all)")
    parser.add_argument("--repeats", type=int, metavar="N", help="at most so many runs of each side (default: 1 to 25)")
    return command.run(lambda args: _bench(args, names), parser, argv)


def _bench(args: argparse.Namespace, names: list[str]) -> None:
    unknown = sorted(set(args.names) - set(names))
    if unknown:
        raise InputError(f"There is no bench called {', '.join(unknown)}; there are {', '.join(names)}.")
    if args.repeats is not None and args.repeats < 1:
        raise InputError(f"--repeats is {args.repeats}; at least 1 is needed.")
    timing.at_most = args.repeats
    rows: list[timing.Row] = []
    for name in args.names or names:
        print(f"· {name}", flush=True)
        for row in importlib.import_module(f"bench.{name}").rows():
            print(row, flush=True)
            rows.append(row)
    print(f"\n{timing.table(rows)}")


if __name__ == "__main__":
    sys.exit(main())
