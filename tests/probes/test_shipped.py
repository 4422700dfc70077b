"""The stored experiments are what their own commands make of the models and the small world as they are now."""

import shlex
from typing import Any

import pytest

from probes import experiment, results, shipped
from probes.results import RESULT


def test_the_stored_experiments_are_finished_and_about_the_small_world_as_it_is_now():
    stored = shipped.probed()
    assert [one.settings["model"] for one in stored] == ["english", "english, random weights", "smallworld"]
    assert {one.settings["digest"] for one in stored} == {experiment.small_world().digest}
    assert all(one.finished for one in stored)


def test_the_stored_command_makes_the_same_numbers_again(tmp_path):
    stored = shipped.probed()[-1]
    typed = shlex.split(stored.command.removeprefix("python3 run.py probe "))
    asked: dict[str, Any] = dict(zip([name.removeprefix("--") for name in typed[::2]], typed[1::2], strict=True))
    asked |= {name: int(asked[name]) for name in ("seed", "limit")}
    for _ in experiment.run(tmp_path, **asked):
        pass
    again = results.read(tmp_path / RESULT)
    assert again.settings == stored.settings
    # two machines add in another order: a test example may fall to the other side
    for name in ("accuracy", "control", "twin"):
        assert results.table(again)[name].tolist() == pytest.approx(results.table(stored)[name].tolist(), abs=0.02)


def test_trained_weights_know_more_than_random_ones_in_the_stored_experiments():
    english, random, _ = (results.table(one) for one in shipped.probed())
    assert max(english["low"].tolist()) > max(random["high"].tolist())


def test_the_stored_fine_tuning_is_finished_and_about_the_reviews_as_they_are_now():
    stored = shipped.tuned()
    assert stored.finished and stored.settings["digest"] == experiment.reviews().digest
    assert stored.scores["tuned"][0] > stored.scores["frozen"][0] > stored.scores["majority"][0]
