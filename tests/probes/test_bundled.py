"""The stored experiments are what their own commands make of the models and the small world as they are now."""

import shlex

import pytest

import model
from probes import bundled
from probes.bundled import experiments
from probes.command import experiment_options
from probes.finetuning import __main__ as finetuning_command
from probes.probing import __main__, experiment, features, results
from probes.probing.results import ProbingResult
from probes.results import RESULT


def arguments(stored: ProbingResult) -> dict:
    """The options of the stored command, parsed as the command line parses them."""
    typed = shlex.split(stored.command.removeprefix("python3 run.py probe "))
    options = vars(__main__.parser().parse_args(typed))
    options.pop("out")
    return options


STORED = bundled.probing()


def test_the_stored_experiments_are_finished_and_those_that_the_command_makes():
    assert set(STORED) == {one.slug for one in experiments.EXPERIMENTS}
    assert {file.stem for file in experiments.FOLDER.glob("*.json")} == set(STORED)
    assert all(result.finished and result.settings["seeds"] == 3 for result in STORED.values())
    assert sum(one.file.stat().st_size for one in experiments.EXPERIMENTS) < 1_500_000


@pytest.mark.parametrize("one", experiments.EXPERIMENTS, ids=lambda one: one.slug)
def test_command_data_and_weights_belong_to_a_stored_experiment(one, digests):
    stored = STORED[one.slug]
    options, settings = arguments(stored), stored.settings
    name = options.pop("model")
    assert name == one.model
    random = name.endswith(experiment.RANDOM)
    plain = name.removesuffix(experiment.RANDOM)
    assert settings["model"] == (f"{plain}, random weights" if random else plain)
    assert settings["model_digest"] == digests[plain]
    assert settings["weights_seed"] == (settings["seed"] if random else None)
    assert settings["digest"] == digests[f"data {options.pop('data')}"]
    assert not any(options.pop(split) for split in ("train", "dev", "test"))
    width = options.pop("width")  # the command of a linear probe does not name it
    assert one.task != "tree" or width == settings["width"]
    assert {option: settings[option] for option in options} == options
    layers = {int(row["layer"]) for row in stored.rows}
    assert [(row["seed"], row["layer"]) for row in stored.rows] == [(seed, layer) for seed in range(3) for layer in layers]


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    """Of the shipped models and of the data that come with the project."""
    models = {name: features.digest(model.load(name)) for name in ("english", "smallworld")}
    data = {"reader": experiment.reader().digest, "smallworld": experiment.small_world().digest}
    assert all(one.data in data for one in experiments.EXPERIMENTS)
    return models | {f"data {name}": digest for name, digest in data.items()}


def test_the_stored_command_makes_the_same_numbers_again(tmp_path):
    stored = STORED["smallworld-tense"]
    for _ in experiment.run(tmp_path, **arguments(stored)):
        pass
    again = ProbingResult.read(tmp_path / RESULT)
    assert again.settings == stored.settings | {"width": again.settings["width"]}
    # two machines add in another order: a test example may fall to the other side
    for name in ("accuracy", "control", "random_init"):
        assert results.table(again)[name].tolist() == pytest.approx(results.table(stored)[name].tolist(), abs=0.02)


def test_trained_weights_know_more_than_random_ones_in_the_stored_experiments():
    english, random = (results.table(STORED[slug]) for slug in ("english-entity", "english-random-entity"))
    assert max(english["low"].tolist()) > max(random["high"].tolist())


@pytest.mark.parametrize("task", experiments.FINETUNED_TASKS)
def test_a_stored_fine_tuning_is_finished_and_about_the_reader_and_the_weights_as_they_are_now(task, digests):
    stored = bundled.finetuning()[task]
    assert stored.finished and stored.settings["task"] == task
    typed = finetuning_command.parser().parse_args(shlex.split(stored.command.removeprefix("python3 run.py finetune ")))
    options = experiment_options(typed)
    assert options.pop("model") == "english" and options.pop("data") == "reader"
    assert stored.settings["digest"] == digests["data reader"]
    assert stored.settings["model_digest"] == digests["english"]
    assert not any(options.pop(split) for split in ("train", "dev", "test"))
    assert {option: stored.settings[option] for option in options} == options
    assert stored.scores["finetuned"][0] > stored.scores["majority"][0]
    assert len(stored.change["cka"]) == 7 and len(stored.change["attention"]) == 6
