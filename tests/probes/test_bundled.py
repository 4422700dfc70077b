"""The stored experiments are what their own commands make of the models and the small world as they are now."""

import shlex

import pytest

import model
from probes import bundled
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


def test_the_stored_experiments_are_finished_and_each_file_holds_the_model_it_is_named_after():
    stored = bundled.probing()
    assert [result.settings["model"] for result in stored] == ["english", "english, random weights", "smallworld"]
    assert all(result.finished and result.settings["seeds"] > 1 for result in stored)


@pytest.mark.parametrize("stored", bundled.probing(), ids=bundled.PROBED)
def test_command_data_and_weights_belong_to_a_stored_experiment(stored):
    options, settings = arguments(stored), stored.settings
    name = options.pop("model")
    random = name.endswith(experiment.RANDOM)
    trained = model.load(name.removesuffix(experiment.RANDOM))
    assert settings["model"] == (trained.random_init_copy() if random else trained).info.name
    assert settings["model_digest"] == features.digest(trained)
    assert settings["weights_seed"] == (settings["seed"] if random else None)
    assert settings["digest"] == experiment.BUNDLED_DATA[options.pop("data")]().digest
    assert not any(options.pop(split) for split in ("train", "dev", "test"))
    assert {option: settings[option] for option in options} == options
    assert [(row["seed"], row["layer"]) for row in stored.rows] == [
        (seed, layer) for seed in range(settings["seeds"]) for layer in range(trained.config.num_hidden_layers + 1)
    ]


def test_the_stored_command_makes_the_same_numbers_again(tmp_path):
    stored = bundled.probing()[-1]
    for _ in experiment.run(tmp_path, **arguments(stored)):
        pass
    again = ProbingResult.read(tmp_path / RESULT)
    assert again.settings == stored.settings
    # two machines add in another order: a test example may fall to the other side
    for name in ("accuracy", "control", "random_init"):
        assert results.table(again)[name].tolist() == pytest.approx(results.table(stored)[name].tolist(), abs=0.02)


def test_trained_weights_know_more_than_random_ones_in_the_stored_experiments():
    english, random, _ = (results.table(result) for result in bundled.probing())
    assert max(english["low"].tolist()) > max(random["high"].tolist())


def test_the_stored_fine_tuning_is_finished_and_about_the_reviews_as_they_are_now():
    stored = bundled.finetuning()
    assert stored.finished
    typed = finetuning_command.parser().parse_args(shlex.split(stored.command.removeprefix("python3 run.py finetune ")))
    options = experiment_options(typed)
    assert stored.settings["model_digest"] == features.digest(model.load(options.pop("model")))
    assert stored.settings["digest"] == experiment.BUNDLED_DATA[options.pop("data")]().digest
    assert not any(options.pop(split) for split in ("train", "dev", "test"))
    assert {option: stored.settings[option] for option in options} == options
    assert stored.scores["finetuned"][0] > stored.scores["frozen"][0] > stored.scores["majority"][0]
