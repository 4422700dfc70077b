"""A run replayed: from nothing to the finished model, without loading more than is asked for."""

import numpy as np
import pytest

from model import InputProblem, checkpoint
from probes import training_replay

RUN = checkpoint.SHIPPED / "smallworld"


def test_the_shipped_snapshots_lead_from_nothing_to_the_finished_model():
    steps = [snapshot.step for snapshot in training_replay.snapshots(RUN)]
    assert steps[0] == 0 and len(steps) >= 12 and steps == sorted(set(steps))
    size = sum(file.stat().st_size for file in RUN.rglob("*") if file.is_file())
    assert size < 25e6


def test_agreement_at_a_distance_is_learned_on_the_way():
    kept = training_replay.snapshots(RUN)
    text = "Anna and her brother like the market and [MASK] there every Friday."
    first, last = training_replay.answer(kept[0].path, text), training_replay.answer(kept[-1].path, text)
    assert first.words.get("go", 0) < 0.05 and last.words["go"] > 0.8
    alone = training_replay.answer(kept[-1].path, text.replace(" and her brother like", " likes"))
    assert alone.words["goes"] > 0.8


def test_attention_rows_of_a_snapshot_sum_to_one():
    said = training_replay.answer(training_replay.snapshots(RUN)[-1].path, training_replay.question(RUN))
    np.testing.assert_allclose(said.attention.astype(float).sum(-1), 1, atol=0.01)
    assert said.texts[said.place] == "[MASK]"
    layer, head = divmod(training_replay.telling(said), said.attention.shape[1])
    assert layer < said.attention.shape[0] and head < said.attention.shape[1]


def test_followed_words_have_a_probability_at_every_snapshot():
    answers = {one.step: training_replay.answer(one.path, training_replay.question(RUN))
               for one in training_replay.snapshots(RUN)[::4]}
    table = training_replay.followed(answers, k=4)
    assert table.groupby("word").size().tolist() == [len(answers)] * 4
    assert table["probability"].between(0, 1).all()


def test_a_sentence_with_nothing_hidden_is_refused():
    with pytest.raises(InputProblem, match="MASK"):
        training_replay.answer(RUN, "Every Monday Anna goes to the market.")


def test_a_folder_without_a_run_has_no_snapshots_and_no_history(tmp_path):
    assert training_replay.snapshots(tmp_path) == [] and training_replay.ceiling(tmp_path) == {}
    assert training_replay.history(tmp_path).empty
