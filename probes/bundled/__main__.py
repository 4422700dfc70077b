"""`python3 -m probes.bundled`: make the stored probing experiments again where weights, data or settings have changed."""

import argparse
import os
import sys
import time
from collections.abc import Sequence

from . import experiments


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m probes.bundled",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Make the probing experiments that come with the project: what is current is left alone.",
    )
    parser.add_argument("names", nargs="*", help="such as english-upos; all where none is named")
    parser.add_argument("--processes", default=os.cpu_count() or 1, type=int, help="experiments at the same time")
    options = parser.parse_args(words)
    unknown = set(options.names) - {one.slug for one in experiments.EXPERIMENTS}
    if unknown:
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}")
    started = time.monotonic()
    for slug, outcome in experiments.make(options.processes, frozenset(options.names)):
        print(f"{time.monotonic() - started:6.0f} s  {slug}: {outcome}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
