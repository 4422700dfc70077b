"""`python3 run.py bench [name …]`: run the benches named, or all, and print one table."""

import argparse
import importlib
from pathlib import Path

from bench.timing import table

NOT_BENCHES = {"__init__", "__main__", "timing"}


def main() -> None:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NOT_BENCHES)
    parser = argparse.ArgumentParser(prog="python3 run.py bench",
                                     description="Time this project against the tools people use today.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(names)} (default: all)")
    asked = parser.parse_args().names or names
    unknown = sorted(set(asked) - set(names))
    if unknown:
        parser.error(f"there is no bench called {', '.join(unknown)}; there are {', '.join(names)}")
    rows = []
    for name in asked:
        print(f"· {name}", flush=True)
        rows += list(importlib.import_module(f"bench.{name}").rows())
    print(table(rows))


if __name__ == "__main__":
    main()
