"""An experiment is fair: model and random-init copy are probed alike, and every seed draws anew."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import model
from model import Bert, BertConfig, InputError, smallworld
from probes.probing import apply, baselines, experiment, features, results, tasks
from probes.probing.data import ProbingData
from probes.probing.examples import ProbingExamples, build_examples
from probes.probing.linear import LinearProbe
from probes.probing.results import ProbingResult
from probes.results import RESULT


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """A checkpoint that reads the small world, never trained."""
    tokenizer = smallworld.tokenizer()
    bert = Bert.random_init(BertConfig(tokenizer.vocab_size, 32, 2, 4, 64, 64, initializer_range=0.2), tokenizer, seed=1)
    return bert.save(tmp_path_factory.mktemp("checkpoint") / "little")


@pytest.fixture(scope="module")
def small_world():
    return experiment.small_world(stories=40)


def run(folder: Path, source: str, **settings) -> ProbingResult:
    folder.mkdir(exist_ok=True)
    for _ in experiment.run(folder, source, experiment.SMALL_WORLD, limit=400, **settings):
        pass
    return ProbingResult.read(folder / RESULT)


def span_states(bert: Bert, examples: ProbingExamples, pooling: str, layer: int) -> np.ndarray:
    """(1, spans, hidden) of one layer, in half precision as an experiment stores them."""
    states = np.empty((1, len(examples.spans), bert.config.hidden_size), dtype=np.float16)
    for indices, vectors in features.iter_spans(bert, examples.encodings, examples.spans, pooling, [layer]):
        states[:, indices] = vectors
    return states


@pytest.fixture(scope="module")
def two_seeds(checkpoint, tmp_path_factory) -> ProbingResult:
    return run(tmp_path_factory.mktemp("run"), str(checkpoint), seed=3, seeds=2)


@pytest.fixture(scope="module")
def random(checkpoint, tmp_path_factory) -> ProbingResult:
    return run(tmp_path_factory.mktemp("run"), f"{checkpoint}:random", seed=5)


def test_the_random_init_copy_of_a_random_model_is_another_one(random):
    for row in random.rows:
        assert row["random_init"] != row["accuracy"] or row["random_init_control"] != row["control"]


@pytest.mark.parametrize("seed", [0, 5])
def test_no_seed_gives_a_random_model_itself_as_its_baseline(checkpoint, seed):
    bert = model.load(checkpoint).random_init_copy(seed)
    digests = {features.digest(baselines.random_init(bert, seed + number)) for number in range(3)}
    assert len(digests) == 3 and features.digest(bert) not in digests


def test_a_model_put_in_the_place_of_its_baseline_gets_the_same_scores(checkpoint, small_world):
    """The gap between a model and its baseline is the weights': equal weights leave none."""
    bert = model.load(checkpoint)
    data = ProbingData(build_examples(bert, small_world.sentences, tasks.find("deprel"), 0, 400), 0)
    states = span_states(bert, data.examples, "mean", 1)
    result = ProbingResult({"probe": "linear", "seed": 0, "code_length": False})
    experiment.probe_layer(result, data, states, states.copy(), 1)
    (row,) = result.rows
    assert (row["accuracy"], row["control"]) == (row["random_init"], row["random_init_control"])


def test_applied_to_training_sentences_it_predicts_as_in_the_experiment_with_the_same_random_weights(random, checkpoint):
    """The weights are named by their seed, which is not 0: with any others the labels come out otherwise."""
    assert random.settings["weights_seed"] == 5
    bert = model.load(checkpoint).random_init_copy(random.settings["weights_seed"])
    examples = build_examples(bert, experiment.small_world().sentences, tasks.find("upos"), 5, 400)
    data = ProbingData(examples, 5)
    states = span_states(bert, examples, random.settings["pooling"], 2)
    probe = LinearProbe()
    data.fit(probe, states)
    predicted = probe.predict(data.features(states, data.train))[0, 0].numpy()
    agree = {"same": 0, "other": 0}
    inputs = examples.input_of[data.train]
    for sentence in np.unique(inputs)[:20]:
        expected = [data.classes[label] for label in predicted[inputs == sentence]]
        for name, weights in (("same", bert), ("other", model.load(checkpoint).random_init_copy())):
            agree[name] += apply.predict(random, weights, examples.inputs[sentence][0].text).labels[2] == expected
    assert agree["same"] == 20 > agree["other"]


def test_every_seed_draws_its_own_split_control_and_random_weights(two_seeds):
    assert [(row["seed"], row["layer"]) for row in two_seeds.rows] == [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2)]
    assert two_seeds.test_sets["3"]["digest"] != two_seeds.test_sets["4"]["digest"]
    first, second = two_seeds.rows[0], two_seeds.rows[3]
    assert first["control"] != second["control"]
    assert first["random_init"] != second["random_init"]


def test_a_seed_is_the_same_alone_and_among_others(two_seeds, checkpoint, tmp_path):
    assert run(tmp_path / "alone", str(checkpoint), seed=4).rows == two_seeds.rows[3:]


def test_the_table_is_the_mean_over_seeds_within_their_range(two_seeds):
    rows = results.table(two_seeds)
    assert rows["layer"].tolist() == [0, 1, 2]
    accuracy = np.array([[row["accuracy"] for row in two_seeds.rows[start : start + 3]] for start in (0, 3)])
    np.testing.assert_allclose(rows["accuracy"], accuracy.mean(0))
    np.testing.assert_allclose(rows["seed_low"], accuracy.min(0))
    np.testing.assert_allclose(rows["seed_high"], accuracy.max(0))
    assert all(rows["low"] < rows["accuracy"]) and all(rows["accuracy"] < rows["high"])


def test_a_stopped_run_goes_on_after_its_last_layer_of_its_last_seed(two_seeds, checkpoint, tmp_path):
    work = experiment.run(tmp_path, str(checkpoint), experiment.SMALL_WORLD, limit=400, seed=3, seeds=2)
    for progress in work:
        if progress["stage"] == "Layer 1 of 2: learning (seed 2 of 2)":
            break
    work.close()
    half = ProbingResult.read(tmp_path / RESULT)
    assert [(row["seed"], row["layer"]) for row in half.rows] == [(3, 0), (3, 1), (3, 2), (4, 0)]
    for row in half.rows:
        row["majority"] = 0.5  # a mark: these are reused, not computed again
    half.write(tmp_path / RESULT)
    whole = run(tmp_path, str(checkpoint), seed=3, seeds=2)
    assert [row["majority"] for row in whole.rows[:4]] == [0.5] * 4 and whole.rows[4:] == two_seeds.rows[4:]
    assert not list(tmp_path.glob("states-*"))


def test_states_of_other_sentences_or_weights_are_not_used_for_these(checkpoint, tmp_path):
    bert = model.load(checkpoint)
    spans = np.array([(0, 1, 2), (0, 2, 3)])
    states = []
    for random_init, text in (
        (bert.random_init_copy(1), "Anna sees the pear ."),
        (bert.random_init_copy(2), "Anna sees the pear ."),
        (bert.random_init_copy(2), "Ben eats an apple ."),
    ):
        encodings = [bert.tokenizer.encode(text)]
        for _ in features.extract_with_baseline(bert, random_init, encodings, spans, "mean", [2], tmp_path):
            pass
        files = [features.states_file(tmp_path, name) for name in ("model", "random_init")]
        states.append([np.array(features.open_memmap(file)) for file in files])
    assert np.array_equal(states[0][0], states[1][0])
    assert not np.array_equal(states[0][1], states[1][1])
    assert not np.array_equal(states[1][0], states[2][0])


def test_the_digest_follows_the_weights_and_not_their_names(checkpoint):
    bert = model.load(checkpoint)
    assert features.digest(bert) == features.digest(model.load(checkpoint))
    assert features.digest(bert) != features.digest(bert.random_init_copy(2))

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for index, parameter in enumerate(reversed(list(bert.parameters()))):
                self.register_parameter(f"weight_{index}", parameter)

    assert features.digest(Renamed()) == features.digest(bert)  # pyright: ignore[reportArgumentType]  # weights are all it reads


def test_precision_recall_and_f1_are_scikit_learns(two_seeds):
    from sklearn.metrics import precision_recall_fscore_support

    counts = np.array(two_seeds.confusion["2"])
    if counts.sum() < two_seeds.sizes["test"]:
        pytest.fail("the sample must hold no label that training never saw, or the two count differently")
    gold, predicted = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
    labels = [two_seeds.classes.index(scores["label"]) for scores in two_seeds.labels["2"]]
    theirs: Any = precision_recall_fscore_support(gold, predicted, labels=labels, zero_division=0)  # pyright: ignore[reportArgumentType]  # 0 or nan, not only words
    for name, values in zip(("precision", "recall", "f1", "count"), theirs, strict=True):
        np.testing.assert_allclose([scores[name] for scores in two_seeds.labels["2"]], values)


def test_two_results_on_the_same_test_sets_are_compared_sentence_by_sentence(two_seeds, checkpoint, tmp_path):
    other = run(tmp_path / "random", f"{checkpoint}:random", seed=3, seeds=2)
    difference = results.difference(two_seeds, other)
    assert difference is not None and difference.low < difference.value < difference.high
    best = [results.table(result)["accuracy"].max() for result in (two_seeds, other)]
    assert difference.value == pytest.approx(best[1] - best[0])
    itself = results.difference(two_seeds, two_seeds)
    assert itself is not None and itself.value == 0
    assert results.difference(two_seeds, run(tmp_path / "seed", str(checkpoint), seed=9)) is None


def test_the_result_names_its_model_by_its_weights(two_seeds, random, checkpoint):
    trained = features.digest(model.load(checkpoint))
    assert two_seeds.settings["model_digest"] == random.settings["model_digest"] == trained
    assert two_seeds.settings["weights_seed"] is None
    assert trained != features.digest(model.load(checkpoint).random_init_copy())


def test_no_seed_at_all_is_refused(checkpoint, tmp_path):
    with pytest.raises(InputError, match="one seed at least"):
        run(tmp_path, str(checkpoint), seeds=0)
