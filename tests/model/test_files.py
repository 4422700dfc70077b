"""A file takes the place of another in one stroke, also where the system lets nobody replace what is being read."""

import os

import pytest

from model import files


@pytest.fixture
def new_and_old(tmp_path):
    for name in ("new", "old"):
        (tmp_path / name).write_text(name)
    return tmp_path / "new", tmp_path / "old"


def refusing(times: int):
    """`os.replace` as on Windows while a reader holds the target open, for some turns."""
    left, really = [times], os.replace

    def replace(source, target):
        if left[0]:
            left[0] -= 1
            raise PermissionError(13, "The process cannot access the file because it is being used by another process")
        really(source, target)

    return replace


def test_a_file_takes_the_place_of_another(new_and_old):
    files.replace(*new_and_old)
    assert new_and_old[1].read_text() == "new"
    assert not new_and_old[0].exists()


def test_a_reader_who_lets_go_in_time_is_waited_for(new_and_old, monkeypatch):
    monkeypatch.setattr(os, "replace", refusing(3))
    files.replace(*new_and_old, patience=60.0)
    assert new_and_old[1].read_text() == "new"


def test_who_may_never_write_there_is_told_and_nothing_changes(new_and_old, monkeypatch):
    monkeypatch.setattr(os, "replace", refusing(10_000))
    with pytest.raises(PermissionError):
        files.replace(*new_and_old, patience=0.02)
    assert new_and_old[1].read_text() == "old"
