"""An experiment is fair: model and random-init copy are asked alike, and every seed draws anew."""

import numpy as np
import pytest

import model
from model import Bert, BertConfig, InputProblem, smallworld
from probes.probing import apply, baselines, experiment, features, results, tasks
from probes.probing.linear import LinearProbe


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint that reads the small world, never trained."""
    tokenizer = smallworld.tokenizer()
    bert = Bert.random(BertConfig(tokenizer.size, 32, 2, 4, 64, 64, initializer_range=0.2), tokenizer, seed=1)
    return bert.save(tmp_path_factory.mktemp("checkpoint") / "little")


@pytest.fixture(scope="module")
def bank():
    return experiment.small_world(stories=40)


def ran(place, source: str, **settings) -> results.Result:
    place.mkdir(exist_ok=True)
    for _ in experiment.run(place, source, experiment.SMALL_WORLD, limit=400, **settings):
        pass
    return results.read(place / results.RESULT)


@pytest.fixture(scope="module")
def seeds(folder, tmp_path_factory) -> results.Result:
    return ran(tmp_path_factory.mktemp("run"), str(folder), seed=3, seeds=2)


@pytest.fixture(scope="module")
def random(folder, tmp_path_factory) -> results.Result:
    return ran(tmp_path_factory.mktemp("run"), f"{folder}:random", seed=5)


def test_the_random_init_copy_of_a_random_model_is_another_one(random):
    for row in random.rows:
        assert row["twin"] != row["accuracy"] or row["twin_control"] != row["control"]


@pytest.mark.parametrize("seed", [0, 5])
def test_no_seed_gives_a_random_model_itself_as_its_baseline(folder, seed):
    bert = model.load(folder).twin(seed)
    digests = {features.digest(baselines.random_init(bert, seed + number)) for number in range(3)}
    assert len(digests) == 3 and features.digest(bert) not in digests


def test_a_model_put_in_the_place_of_its_baseline_gets_the_same_scores(folder, bank):
    """The gap between a model and its baseline is the weights': equal weights leave none."""
    bert = model.load(folder)
    parts = experiment.Parts(tasks.examples(bert, bank.sentences, tasks.find("deprel"), 0, 400), 0)
    states = np.empty((1, len(parts.examples.places), 32), dtype=np.float16)
    for chosen, vectors in features.pooled(bert, [one for _, one in parts.examples.inputs], parts.examples.places,
                                           "mean", [1]):
        states[:, chosen] = vectors
    result = results.Result({"probe": "linear", "seed": 0, "bits": False})
    experiment._layer(result, parts, states, states.copy(), 1)
    (row,) = result.rows
    assert (row["accuracy"], row["control"]) == (row["twin"], row["twin_control"])


def test_live_on_training_sentences_says_what_the_experiment_predicted_with_the_same_random_weights(random, folder, bank):
    """The weights are named by their seed, which is not 0: with any others the labels come out otherwise."""
    assert random.settings["weights_seed"] == 5
    bert = model.load(folder).twin(random.settings["weights_seed"])
    examples = tasks.examples(bert, experiment.small_world().sentences, tasks.find("upos"), 5, 400)
    parts = experiment.Parts(examples, 5)
    states = np.empty((1, len(examples.places), 32), dtype=np.float16)
    for chosen, vectors in features.pooled(bert, [one for _, one in examples.inputs], examples.places,
                                        random.settings["pooling"], [2]):
        states[:, chosen] = vectors
    probe = LinearProbe()
    parts.fitted(probe, states)
    predicted = probe.predict(parts.features(states, parts.train))[0, 0].numpy()
    agree = {"same": 0, "other": 0}
    inputs = examples.inputs_of[parts.train]
    for sentence in np.unique(inputs)[:20]:
        expected = [parts.classes[label] for label in predicted[inputs == sentence]]
        for name, read in (("same", bert), ("other", model.load(folder).twin())):
            agree[name] += apply.labelled(random, read, examples.inputs[sentence][0].text).labels[2] == expected
    assert agree["same"] == 20 > agree["other"]


def test_every_seed_draws_its_own_split_control_and_random_weights(seeds):
    assert [(row["seed"], row["layer"]) for row in seeds.rows] == [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2)]
    assert seeds.tests["3"]["digest"] != seeds.tests["4"]["digest"]
    first, second = seeds.rows[0], seeds.rows[3]
    assert first["control"] != second["control"] and first["twin"] != second["twin"]


def test_a_seed_is_the_same_alone_and_among_others(seeds, folder, tmp_path):
    assert ran(tmp_path / "alone", str(folder), seed=4).rows == seeds.rows[3:]


def test_the_table_is_the_mean_over_seeds_within_their_range(seeds):
    rows = results.table(seeds)
    assert rows["layer"].tolist() == [0, 1, 2]
    both = np.array([[row["accuracy"] for row in seeds.rows[start: start + 3]] for start in (0, 3)])
    np.testing.assert_allclose(rows["accuracy"], both.mean(0))
    np.testing.assert_allclose(rows["seed_low"], both.min(0))
    np.testing.assert_allclose(rows["seed_high"], both.max(0))
    assert all(rows["low"] < rows["accuracy"]) and all(rows["accuracy"] < rows["high"])


def test_a_stopped_run_goes_on_after_its_last_layer_of_its_last_seed(seeds, folder, tmp_path):
    work = experiment.run(tmp_path, str(folder), experiment.SMALL_WORLD, limit=400, seed=3, seeds=2)
    for progress in work:
        if progress["stage"] == "Layer 1 of 2: learning (seed 2 of 2)":
            break
    work.close()
    half = results.read(tmp_path / results.RESULT)
    assert [(row["seed"], row["layer"]) for row in half.rows] == [(3, 0), (3, 1), (3, 2), (4, 0)]
    for row in half.rows:
        row["majority"] = 0.5  # a mark: these are taken over, not computed again
    half.write(tmp_path / results.RESULT)
    whole = ran(tmp_path, str(folder), seed=3, seeds=2)
    assert [row["majority"] for row in whole.rows[:4]] == [0.5] * 4 and whole.rows[4:] == seeds.rows[4:]
    assert not list(tmp_path.glob("states-*"))


def test_states_of_other_sentences_or_weights_are_not_taken_for_these(folder, tmp_path):
    bert = model.load(folder)
    places = np.array([(0, 1, 2), (0, 2, 3)])
    seen = []
    for other, text in ((bert.twin(1), "Anna sees the pear ."), (bert.twin(2), "Anna sees the pear ."),
                        (bert.twin(2), "Ben eats an apple .")):
        for _ in features.extract_both(bert, other, [bert.tokenizer.encode(text)], places, "mean", [2], tmp_path):
            pass
        seen.append([np.array(features.opened(tmp_path / f"states-{name}.npy")) for name in ("model", "twin")])
    assert np.array_equal(seen[0][0], seen[1][0]) and not np.array_equal(seen[0][1], seen[1][1])
    assert not np.array_equal(seen[1][0], seen[2][0])


def test_precision_recall_and_f1_are_scikit_learns(seeds):
    from sklearn.metrics import precision_recall_fscore_support
    counts = np.array(seeds.confusion["2"])
    if counts.sum() < seeds.sizes["test"]:
        pytest.fail("the sample must hold no label that training never saw, or the two count differently")
    gold, predicted = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
    names = [seeds.classes.index(one["label"]) for one in seeds.labels["2"]]
    theirs = precision_recall_fscore_support(gold, predicted, labels=names, zero_division=0)
    for name, values in zip(("precision", "recall", "f1", "count"), theirs, strict=True):
        np.testing.assert_allclose([one[name] for one in seeds.labels["2"]], values)


def test_two_results_on_the_same_test_sets_are_compared_sentence_by_sentence(seeds, folder, tmp_path):
    other = ran(tmp_path / "random", f"{folder}:random", seed=3, seeds=2)
    apart = results.difference(seeds, other)
    assert apart is not None and apart.low < apart.value < apart.high
    best = [results.table(one)["accuracy"].max() for one in (seeds, other)]
    assert apart.value == pytest.approx(best[1] - best[0])
    itself = results.difference(seeds, seeds)
    assert itself is not None and itself.value == 0
    assert results.difference(seeds, ran(tmp_path / "seed", str(folder), seed=9)) is None


def test_the_result_names_its_model_by_its_weights(seeds, random, folder):
    trained = features.digest(model.load(folder))
    assert seeds.settings["model_digest"] == random.settings["model_digest"] == trained
    assert seeds.settings["weights_seed"] is None and trained != features.digest(model.load(folder).twin())


def test_no_seed_at_all_is_refused(folder, tmp_path):
    with pytest.raises(InputProblem, match="one seed at least"):
        ran(tmp_path, str(folder), seeds=0)
