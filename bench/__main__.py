"""`python3 run.py bench [name …]`: run the benches named, or all; each row as it comes, then one table."""

import argparse
import importlib
from pathlib import Path

from bench import timing

NOT_BENCHES = {"__init__", "__main__", "timing"}


def main() -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHES)
    parser = argparse.ArgumentParser(prog="python3 run.py bench",
                                     description="Time this project against the tools people use today.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names)} (default: all)")
    parser.add_argument("--repeats", type=int, metavar="N", help="at most so many runs of each side (default: 1 to 25)")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names))
    if unknown:
        parser.error(f"there is no bench called {', '.join(unknown)}; there are {', '.join(names)}")
    if arguments.repeats is not None and arguments.repeats < 1:
        parser.error("--repeats is 1 or more")
    timing.at_most = arguments.repeats
    rows: list[timing.Row] = []
    for name in arguments.names or names:
        print(f"· {name}", flush=True)
        for row in importlib.import_module(f"bench.{name}").rows():
            print(row, flush=True)
            rows.append(row)
    print(f"\n{timing.table(rows)}")


if __name__ == "__main__":
    main()
