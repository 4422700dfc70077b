"""`python3 run.py rehearse`: simulated students use this machine's app as a class would, and the answer is said in words."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from app.rehearsal import classroom
from app.rehearsal.classroom import Rehearsal
from model import InputError, command
from model.progress import StatusLine, bar, format_duration

GOOD, USABLE = 0.6, 2.0  # seconds within which 19 of 20 actions are answered
MOST_STUDENTS, MOST_MINUTES = 300, 60
EXAMPLES = """examples:
  python3 run.py rehearse                              30 students for a minute, on an app started for it
  python3 run.py rehearse --students 60 --processes 2
  python3 run.py rehearse --address http://127.0.0.1:8501"""


def main(argv: list[str] | None = None) -> int:
    parser = command.parser("rehearse", __doc__, EXAMPLES)
    parser.add_argument("--students", type=int, default=30, metavar="N", help="how many at once (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default %(default)s)")
    parser.add_argument(
        "--pause",
        type=float,
        default=2.0,
        metavar="SECONDS",
        help="the longest pause of a student between two actions (default %(default)s, which is a lively class)",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=min(2, os.cpu_count() or 1),
        metavar="N",
        help="processes of the app, as in `run.py --processes` (default %(default)s)",
    )
    parser.add_argument("--address", metavar="URL", help="an app that runs on this machine already")
    return command.run(_rehearse, parser, argv)


def _rehearse(args: argparse.Namespace) -> int:
    if not 1 <= args.students <= MOST_STUDENTS:
        raise InputError(f"--students {args.students}: from 1 to {MOST_STUDENTS}.")
    if not 0 < args.minutes <= MOST_MINUTES:
        raise InputError(f"--minutes {args.minutes:g}: more than 0, at most {MOST_MINUTES}.")
    if args.pause < 0:
        raise InputError(f"--pause {args.pause:g}: a pause is not negative.")
    if args.address:
        return _report(_run([_own(args.address)], args), args)
    print(f"Starting the app with {args.processes} process{'es' if args.processes > 1 else ''} …", flush=True)
    options = ["--processes", str(args.processes)] if args.processes > 1 else []
    with (
        tempfile.TemporaryDirectory() as folder,
        classroom.serving(*options, folder=Path(folder)) as (address, process),
    ):
        return _report(_run(classroom.addresses(address, args.processes, process), args, process.pid), args)


def _own(address: str) -> str:
    """An address of this machine: strangers' servers are not rehearsed with."""
    if not address.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
        raise InputError(f"--address {address}: a rehearsal takes place on this machine, at http://127.0.0.1:PORT.")
    return address.rstrip("/")


def _run(addresses: list[str], args: argparse.Namespace, pid: int | None = None) -> Rehearsal:
    seconds = args.minutes * 60
    line = StatusLine()

    def show(elapsed: float, actions: int) -> None:
        line.update(bar(elapsed / seconds, f"{actions} actions, {format_duration(seconds - elapsed)} left"))

    rehearsal = classroom.rehearse(
        addresses, args.students, seconds, args.pause, processes=classroom.family(pid) if pid else (), report=show
    )
    line.print(f"{len(rehearsal.visits)} actions of {args.students} students in {format_duration(rehearsal.seconds)}:")
    return rehearsal


def _report(rehearsal: Rehearsal, args: argparse.Namespace) -> int:
    """What a student waited for, and one sentence that says whether it will do."""
    print(f"{'page':<16}{'actions':>8}{'half within':>13}{'19 of 20 within':>17}")
    for page in classroom.PAGES:
        count = sum(visit.page == page for visit in rehearsal.visits)
        if count:
            half, most = rehearsal.quantile(0.5, page=page), rehearsal.quantile(0.95, page=page)
            print(f"{page:<16}{count:>8}{_milliseconds(half):>13}{_milliseconds(most):>17}")
    half, most = rehearsal.quantile(0.5), rehearsal.quantile(0.95)
    print(f"{'all':<16}{len(rehearsal.visits):>8}{_milliseconds(half):>13}{_milliseconds(most):>17}")
    for error in sorted({visit.error for visit in rehearsal.errors}):
        print(f"error: {error}")
    print(f"\n{verdict(rehearsal, args.students)}")
    return 1 if rehearsal.errors else 0


def verdict(rehearsal: Rehearsal, students: int) -> str:
    """Whether this machine will do for so many, in one sentence."""
    most = rehearsal.quantile(0.95)
    numbers = f"19 of 20 actions were answered within {_milliseconds(most)}, {rehearsal.rate:.1f} actions a second"
    if rehearsal.errors:
        return f"Not yet: {len(rehearsal.errors)} of {len(rehearsal.visits)} actions ended in an error ({numbers})."
    if most <= GOOD:
        return f"This machine will do for {students} students: {numbers}, no error."
    if most <= USABLE:
        return (
            f"{students} students will wait now and then: {numbers}, no error. A handout (`python3 run.py handout`) takes "
            "the load to their own machines."
        )
    return (
        f"Too slow for {students} students at once: {numbers}. Let them work in pairs, close other programs, or give "
        "them the handout (`python3 run.py handout`), which runs in their own browsers."
    )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


if __name__ == "__main__":
    sys.exit(main())
