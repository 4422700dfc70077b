"""Simulated students: their actions are real ones, and the verdict follows the numbers."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.navigation import PAGES
from app.rehearsal import __main__ as command
from app.rehearsal import classroom
from app.rehearsal.classroom import Rehearsal
from app.rehearsal.student import Student, Visit
from tests.conftest import in_a_thread, serving

FAST = Visit("mask", True, 0.1, 50, 40_000)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("models"), tmp_path_factory.mktemp("rehearsed")) as address:
        yield address


def test_every_page_of_the_app_is_visited_and_its_boxes_are_the_pages():
    entries = {entry.address: entry.reads for group in PAGES.values() for entry in group}
    labels = {"a": classroom.A, "b": classroom.B}
    assert {page: set(boxes) for page, boxes in classroom.PAGES.items()} == {
        page: {labels[name] for name in reads if name in labels} for page, reads in entries.items()
    }


def test_students_open_pages_and_type_sentences_without_an_error(address):
    rehearsal = in_a_thread(lambda: classroom.rehearse([address], readers=3, seconds=6, longest_pause=0.2))
    assert not rehearsal.errors, {visit.error for visit in rehearsal.errors}
    assert {visit.typed for visit in rehearsal.visits} == {True, False}
    assert all(visit.messages > 10 and visit.size > 1000 for visit in rehearsal.visits)


def test_an_error_on_a_page_is_noticed(address):
    async def visit() -> Visit:
        student = Student(address)
        await student.join()
        answer = await student.visit("mask", {"model": "nobody"})
        await student.leave()
        return answer

    assert "no model called nobody" in in_a_thread(lambda: asyncio.run(visit())).error.replace("\\", "")


def test_the_verdict_says_whether_the_machine_will_do():
    fast = Rehearsal((FAST,) * 40, 2.0, 1.0, ())
    assert command.verdict(fast, 30).startswith("This machine will do for 30 students: 19 of 20 actions were answered")
    slow = replace(fast, visits=(replace(FAST, seconds=1.0),) * 40)
    assert "wait now and then" in command.verdict(slow, 30)
    assert "Too slow" in command.verdict(replace(fast, visits=(replace(FAST, seconds=5.0),) * 40), 30)
    assert command.verdict(replace(fast, visits=(FAST, replace(FAST, error="x"))), 30).startswith("Not yet: 1 of 2")


def test_only_a_server_of_this_machine_is_rehearsed_with(capsys):
    assert command.main(["--address", "http://10.0.0.1:8501"]) == 2
    assert "on this machine" in capsys.readouterr().err
    assert command.main(["--students", "0"]) == 2


def test_memory_that_grows_has_a_slope():
    growing = tuple((float(second), 1 + 0.001 * second) for second in range(0, 600, 5))
    assert Rehearsal((FAST,), 600.0, 1.0, growing).memory_slope == pytest.approx(60)


def test_the_floor_is_a_page_of_its_own(tmp_path: Path):
    with classroom.serving(folder=tmp_path, module=("-m", "bench.load_floor")) as (address, _):
        rehearsal = in_a_thread(lambda: classroom.rehearse([address], readers=2, seconds=2, longest_pause=0.1, pages=("",)))
    assert rehearsal.visits and not rehearsal.errors
