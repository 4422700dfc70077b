"""The history of a run is written and read back as it was, however long it gets."""

from pathlib import Path

import pytest

import model
from model.checkpoint import BUNDLED
from model.pretraining.history import AVERAGED, COLUMNS, HELDOUT, MAX_ROWS, TrainingHistory


def history_of(steps: int, every: int, tokens: int = 1000) -> TrainingHistory:
    """A run in which every loss, of training and held out, is the number of its step."""
    history = TrainingHistory()
    for step in range(steps + 1):
        heldout = {name: float(step) for name in HELDOUT} if step % every == 0 else {}
        training = {name: float(step) for name in AVERAGED} if step else {}
        history.add({"step": step, "tokens": step * tokens, "seconds": step / 7, "learning_rate": 1e-4} | training | heldout)
    return history


@pytest.mark.parametrize(("step", "tokens"), [(999_999, 12_345_678), (1_234_567, 987_654_321_012), (7, 0)])
def test_counts_come_back_whole_however_often_a_run_is_resumed(tmp_path, step, tokens):
    history = TrainingHistory()
    history.add({"step": step, "tokens": tokens, "seconds": 12.5, "learning_rate": 1e-4, "mlm_loss": 2.5})
    for turn in range(3):
        history.write(tmp_path / f"{turn}.csv")
        history = TrainingHistory.read(tmp_path / f"{turn}.csv", until=step)
        assert [(row["step"], row["tokens"], row["mlm_loss"]) for row in history.rows] == [(step, tokens, 2.5)]
    assert len({(tmp_path / f"{turn}.csv").read_text() for turn in range(3)}) == 1


def test_a_history_read_up_to_a_step_ends_there(tmp_path):
    history_of(12, 4).write(tmp_path / "history.csv")
    assert [row["step"] for row in TrainingHistory.read(tmp_path / "history.csv", until=5).rows] == list(range(6))


@pytest.mark.parametrize("every", [333, 1000])
def test_held_out_figures_stay_at_the_step_they_were_measured_at(every):
    history = history_of(30_000, every)
    assert len(history.rows) <= MAX_ROWS
    evaluated = [row for row in history.rows if row["heldout_mlm_loss"] is not None]
    assert [row["step"] for row in evaluated] == list(range(0, 30_001, every))
    assert all(row[name] == row["step"] for row in evaluated for name in HELDOUT)


def test_a_run_measured_at_every_step_is_thinned_and_no_figure_is_moved():
    history = history_of(9_000, 1)
    assert len(history.rows) <= MAX_ROWS
    assert history.rows[-1]["heldout_mlm_loss"] == 9_000
    assert all(row["heldout_mlm_loss"] in (None, row["step"]) for row in history.rows)
    assert sum(row["heldout_mlm_loss"] is not None for row in history.rows) > MAX_ROWS // 20


def test_a_row_is_the_mean_over_the_steps_since_the_row_before_it():
    rows = history_of(10_000, 700).rows
    steps = [row["step"] or 0 for row in rows]
    for before, step, row in zip(steps, steps[1:], rows[1:], strict=False):
        assert row["mlm_loss"] == pytest.approx((before + 1 + step) / 2)
    assert rows[-1]["step"] == 10_000
    assert rows[-1]["tokens"] == 10_000_000
    assert set(rows[0]) == set(COLUMNS)


@pytest.mark.parametrize(
    "info", [info for info in model.available() if (info.path / "history.csv").is_file()], ids=lambda info: info.name
)
def test_a_shipped_history_begins_with_what_the_model_was_before_it_learned(info):
    rows = TrainingHistory.read(Path(info.path) / "history.csv").rows
    assert info.path.parent == BUNDLED
    assert (rows[0]["step"], rows[0]["tokens"], rows[0]["mlm_loss"]) == (0, 0, None)
    assert (rows[0]["heldout_mlm_accuracy"] or 1) < 0.05
    steps = [row["step"] or 0 for row in rows]
    assert steps == sorted(set(steps))
