"""Time left and the line on the terminal."""

import io

import pytest

from model.progress import Clock, StatusLine, bar, format_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (-3, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (4800, "1 h 20 min"),
        (3599.7, "1 h 00 min"),
    ],
)
def test_a_duration_reads_as_people_say_it(seconds: float, text: str):
    assert format_duration(seconds) == text


def test_a_bar_has_the_same_width_whatever_the_fraction():
    assert bar(0.5, "half").startswith("█" * 10 + "░" * 10)
    assert len({bar(fraction, "x").index("x") for fraction in (-1.0, 0.0, 0.301, 0.999, 1.0, 7.0)}) == 1
    assert bar(7.0) == bar(1.0)


class FakeTime:
    def __init__(self):
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_the_time_left_follows_from_what_is_done():
    now = FakeTime()
    clock = Clock(now)
    assert clock.eta(0.0) is None
    now.seconds += 10
    assert clock.eta(0.25) == pytest.approx(30)
    now.seconds += 30
    assert clock.eta(0.5) == pytest.approx(40)
    assert clock.eta(1.0) == 0


def test_resumed_work_is_not_taken_for_work_done_in_no_time():
    now = FakeTime()
    clock = Clock(now)
    clock.eta(0.5)
    now.seconds += 10
    assert clock.eta(0.51) is None
    assert clock.eta(0.75) == pytest.approx(10)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_file_every_stage_has_one_line_and_nothing_redraws():
    stream = io.StringIO()
    line = StatusLine(stream)
    for stage in ("reading", "reading", "training", "training"):
        line.update(f"{stage} …", stage)
    line.print("Done.")
    assert stream.getvalue() == "reading …\ntraining …\nDone.\n"


def test_on_a_terminal_the_line_is_replaced_and_what_is_said_stays():
    stream = Terminal()
    line = StatusLine(stream)
    line.update("reading …", "reading")
    line.print("Held-out: 3.2")
    line.update("training …", "training")
    assert [part.removeprefix("\033[K") for part in stream.getvalue().split("\r")[1:]] == [
        "reading …",
        "Held-out: 3.2\n",
        "training …",
    ]


def test_one_of_several_processes_writes():
    stream = io.StringIO()
    StatusLine(stream, enabled=False).print("nothing")
    assert stream.getvalue() == ""
