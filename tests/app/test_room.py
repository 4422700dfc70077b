"""The room's votes: one a browser and question, in the file that all processes share."""

import subprocess
import sys

import pytest

from app import room


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))


def test_a_browser_votes_once_and_may_change_its_mind_or_take_it_back():
    assert room.counts("heads", 0, 3) == [0, 0, 0]
    room.vote("heads", 0, "anna", 1)
    room.vote("heads", 0, "anna", 1)
    room.vote("heads", 0, "ben", 2)
    room.vote("heads", 1, "anna", 0)
    assert room.counts("heads", 0, 3) == [0, 1, 1]
    assert room.votes_of("heads", "anna", 3) == [1, 0, None] and room.votes_of("heads", "carl", 2) == [None, None]
    room.vote("heads", 0, "anna", 2)
    assert room.counts("heads", 0, 3) == [0, 0, 2]
    room.vote("heads", 0, "ben", None)
    assert room.counts("heads", 0, 3) == [0, 0, 1] and room.counts("heads", 1, 3) == [1, 0, 0]


def test_another_process_sees_the_same_room():
    room.vote("heads", 0, "anna", 1)
    script = "from app import room; room.vote('heads', 0, 'ben', 1); print(room.counts('heads', 0, 2))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[0, 2]" and room.counts("heads", 0, 2) == [0, 2]
