"""What is timed side by side, and the table of it."""

import importlib

import pytest

from bench import timing
from bench.__main__ import NOT_BENCHES, main
from bench.timing import AS_USED, SAME, Row, compare, table
from tests.conftest import ROOT


def test_both_sides_run_in_turn_and_neither_is_always_first():
    order: list[str] = []
    row = compare("work", lambda: order.append("ours"), lambda: order.append("theirs"), "them", repeats=4)
    turns = [order[at : at + 2] for at in range(0, len(order), 2)]
    assert row.repeats == len(turns) - 1 == 4  # one to warm up
    assert all(set(turn) == {"ours", "theirs"} for turn in turns)
    assert {turn[0] for turn in turns[1:]} == {"ours", "theirs"}


def test_a_quick_look_repeats_less(monkeypatch):
    monkeypatch.setattr(timing, "at_most", 2)
    assert compare("work", list, list, "them", repeats=9).repeats == 2
    assert compare("work", list, list, "them", repeats=1).repeats == 1


def test_the_table_has_a_line_for_every_row_and_says_what_each_side_does_once():
    rows = [
        Row("fast", "them", 0.5, 1.0, 1.5, work=SAME, sides="both: this", repeats=3, limit=0.4),
        Row("slow", "others", 2.0, 1.0, 1.5, work=AS_USED, sides="ours this, theirs that"),
        Row("again", "them", 0.0005, 0.001, work=SAME, sides="both: this"),
    ]
    lines = table(rows).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:5]]
    assert cells[0] == ["what", "against", "ours", "theirs", "ratio", "of the limit", "work", "aim", "runs"]
    assert cells[2] == ["fast", "them", "500.0 ms", "1.00 s", "2.00×", "80%", "same (1)", "1.5×, reached", "3"]
    assert cells[3] == ["slow", "others", "2.00 s", "1.00 s", "0.50×", "", "as used (2)", "1.5×, missed", "1"]
    assert cells[4] == ["again", "them", "500.0 µs", "1.0 ms", "2.00×", "", "same (1)", "", "1"]
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[-2:] == ["(1) both: this", "(2) ours this, theirs that"]


@pytest.mark.parametrize("work", [SAME, AS_USED])
def test_a_row_says_as_it_comes_what_kind_of_comparison_it_is(work):
    line = str(Row("fill", "pipeline", 0.5, 1.0, work=work, sides="both: five words", note="of 60 tokens"))
    assert f"[{work}]" in line
    assert all(part in line for part in ("fill", "pipeline", "2.00×", "both: five words", "of 60 tokens"))


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem not in NOT_BENCHES))
def test_every_bench_can_be_imported_and_has_rows(name: str):
    assert callable(importlib.import_module(f"bench.{name}").rows)


def test_an_unknown_bench_is_named_in_one_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["speed"]) == 2
    assert "no bench called speed; there are attention" in capsys.readouterr().err
