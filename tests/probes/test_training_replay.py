"""A run replayed: from random weights to the finished model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from model import InputError, checkpoint
from probes import training_replay

RUN = checkpoint.BUNDLED / "smallworld"


def test_the_bundled_snapshots_lead_from_random_weights_to_the_finished_model():
    steps = [snapshot.step for snapshot in training_replay.snapshots(RUN)]
    assert steps[0] == 0 and len(steps) >= 12 and steps == sorted(set(steps))
    size = sum(file.stat().st_size for file in RUN.rglob("*") if file.is_file())
    assert size < 25e6


def test_agreement_at_a_distance_is_learned_on_the_way():
    first, *_, last = training_replay.snapshots(RUN)
    plural = "Anna and her brother like the market and [MASK] there every Friday."
    singular = plural.replace(" and her brother like", " likes")
    assert training_replay.predict(first.path, plural).words.get("go", 0) < 0.05
    assert training_replay.predict(last.path, plural).words["go"] > 0.8
    assert training_replay.predict(last.path, singular).words["goes"] > 0.8


def test_attention_rows_of_a_snapshot_sum_to_one():
    said = training_replay.predict(training_replay.snapshots(RUN)[-1].path, training_replay.question(RUN))
    np.testing.assert_allclose(said.attention.astype(float).sum(-1), 1, atol=0.01)
    assert said.texts[said.place] == "[MASK]"
    layer, head = said.head
    assert layer < said.attention.shape[0] and head < said.attention.shape[1]


def test_followed_words_have_a_probability_at_every_snapshot():
    predictions = {
        snapshot.step: training_replay.predict(snapshot.path, training_replay.question(RUN))
        for snapshot in training_replay.snapshots(RUN)[::4]
    }
    table = training_replay.followed(predictions, k=4)
    assert table.groupby("word").size().tolist() == [len(predictions)] * 4
    assert table["probability"].between(0, 1).all()


def test_a_sentence_without_a_mask_is_refused():
    with pytest.raises(InputError, match="MASK"):
        training_replay.predict(RUN, "Every Monday Anna goes to the market.")


def test_a_folder_without_a_run_has_no_snapshots_and_no_history(tmp_path):
    assert training_replay.snapshots(tmp_path) == [] and training_replay.ceiling(tmp_path) == {}
    assert training_replay.history(tmp_path).empty


def test_the_top_words_and_the_strongest_target_are_those_of_the_prediction():
    prediction = training_replay.predict(RUN, training_replay.question(RUN))
    attention = np.zeros_like(prediction.attention)
    attention[0, 1, prediction.place, 2:4] = (0.75, 0.25)
    planted = replace(prediction, words={"go": 0.5, "goes": 0.25, "went": 0.125}, attention=attention)
    assert planted.top(2).to_dict("list") == {"word": ["go", "goes"], "probability": [0.5, 0.25]}
    assert planted.strongest_target(0, 1) == (prediction.texts[2], 0.75)


def test_values_at_a_step_are_the_last_known_before_it():
    history = pd.DataFrame({"step": [0, 10, 20], "mlm_loss": [9.0, 5.0, 3.0], "heldout_mlm_accuracy": [0.1, np.nan, 0.6]})
    assert training_replay.values_at(history, 10) == {"step": 10, "mlm_loss": 5, "heldout_mlm_accuracy": 0.1}
    assert training_replay.values_at(history)["heldout_mlm_accuracy"] == 0.6
    assert training_replay.values_at(history.head(0)) == {}
