"""How every command ends: 0, or one sentence and a code that a script can read."""

import argparse
import shlex
import subprocess
import sys

import pytest

from model import InputError, command
from tests.conftest import ROOT


def outcome(work, argv=()) -> int:
    return command.run(work, command.parser("dance", "Dance."), list(argv))


def test_a_command_that_returns_nothing_went_well():
    assert outcome(lambda args: None) == 0
    assert outcome(lambda args: 7) == 7


def test_a_problem_is_one_sentence_and_exit_code_2(capsys: pytest.CaptureFixture[str]):
    def work(args: argparse.Namespace) -> None:
        raise InputError("There is no music.")

    assert outcome(work) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "There is no music.\n")


def test_control_c_is_one_sentence_and_exit_code_130(capsys: pytest.CaptureFixture[str]):
    def work(args: argparse.Namespace) -> None:
        raise KeyboardInterrupt

    assert outcome(work) == 130
    assert capsys.readouterr().err == "Stopped before the end.\n"


def test_a_fault_of_ours_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        outcome(lambda args: 1 // 0)


def test_an_unknown_option_exits_with_2_and_names_the_command(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        outcome(lambda args: None, ["--no-such-option"])
    assert ended.value.code == 2
    assert "python3 run.py dance" in capsys.readouterr().err


def test_a_quoted_command_can_be_pasted():
    words = ["train", "--out", "my bert", "--corpus", "it's.txt"]
    quoted = command.quote(*words)
    assert quoted.startswith("python3 run.py train ")
    assert shlex.split(quoted)[2:] == words


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell with head")
def test_who_reads_only_the_first_lines_ends_the_command_quietly():
    words = f"{shlex.quote(sys.executable)} -m model.smallworld stories --count 3000 | head -1"
    ended = subprocess.run(["sh", "-c", words], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.stdout.count("\n") == 1
    assert ended.stderr == ""
