"""Trees planted in vectors are recovered; the scores count what they name; an experiment is the same each time."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import model
from model import Bert, BertConfig, InputError, smallworld
from probes.probing import apply, experiment, results, structural, structural_experiment, treebank
from probes.probing.results import ProbingResult
from probes.probing.structural import StructuralProbe, TreeSet
from probes.probing.treebank import ROOT, Sentence
from probes.results import RESULT


@pytest.fixture(scope="module")
def trees() -> TreeSet:
    conllu = "".join(story.conllu() for story in smallworld.stories(1, 40))
    sentences = treebank.parse(conllu, "world.conllu").sentences[:200]
    return TreeSet(sentences, np.cumsum([0] + [len(sentence) for sentence in sentences]))


def tree_states(trees: TreeSet, seed: int = 0) -> np.ndarray:
    """Vectors in which every edge is a step in a direction of its own, so squared distance is tree distance,
    rotated together with as many dimensions of noise; and a layer of nothing but noise: (2, words, hidden)."""
    rng, size = np.random.default_rng(seed), 24
    rotation = np.linalg.qr(rng.normal(size=(2 * size, 2 * size)))[0]
    by_sentence = []
    for sentence in trees.sentences:
        depths, vectors = sentence.depths(), np.zeros((len(sentence), 2 * size))
        for step, word in enumerate(sorted(range(len(sentence)), key=depths.__getitem__)):
            if sentence.heads[word] != ROOT:
                vectors[word] = vectors[sentence.heads[word]]
                vectors[word, step % size] += 1
        vectors[:, size:] = rng.normal(size=(len(sentence), size))
        by_sentence.append(vectors @ rotation)
    states = np.concatenate(by_sentence)
    return np.stack([states, rng.normal(size=states.shape)]).astype(np.float32)


def test_planted_trees_are_recovered_and_noise_is_not(trees):
    states = tree_states(trees)
    probe = StructuralProbe(rank=24).fit(states, trees)
    clear, noise = (structural.evaluate(probe, states, trees, layer) for layer in (0, 1))
    assert clear.uuas > 0.9 and clear.root > 0.9 and clear.distance > 0.85 and clear.depth > 0.8
    assert noise.uuas < 0.5 and noise.distance < 0.6


def star(directions: np.ndarray, scale: float, size: int) -> tuple[Sentence, np.ndarray]:
    """A root with a child in each direction, and vectors whose squared distances are the tree's times `scale`²."""
    words = len(directions) + 1
    sentence = Sentence(("word",) * words, heads=(ROOT, *[0] * (words - 1)), relations=("root", *["obj"] * (words - 1)))
    vectors = np.zeros((words, size))
    vectors[np.arange(1, words), directions] = scale
    return sentence, vectors


def test_every_sentence_weighs_the_same_however_long_it_is():
    rng, size = np.random.default_rng(0), 32
    # vectors of the long sentences are half as long, so no map fits both; three short ones stand against two long ones
    stars = [star(rng.permutation(size)[:2], 1.0, size) for _ in range(120)]
    stars += [star(rng.permutation(size)[:29], 0.5, size) for _ in range(80)]
    sentences = tuple(sentence for sentence, _ in stars)
    trees = TreeSet(sentences, np.cumsum([0] + [len(sentence) for sentence in sentences]))
    probe = StructuralProbe(rank=size).fit(np.concatenate([vectors for _, vectors in stars])[None], trees)
    short = torch.from_numpy(np.stack([vectors for _, vectors in stars[:120]])).float()[None]
    distances = structural.distances(short, probe.distance_)[0, :, 0, 1:]
    depths = structural.depth(short, probe.depth_)[0, :, 1:]
    assert float(distances.mean()) == pytest.approx(1, abs=0.3), "4 where long sentences weigh more"
    assert float(depths.mean()) == pytest.approx(1, abs=0.3)


def test_equal_states_get_equal_scores_in_any_company(trees):
    states = tree_states(trees)
    three_layers = np.concatenate([states, states[:1]])
    probe = StructuralProbe(rank=24).fit(three_layers, trees)
    first, noise, last = (structural.evaluate(probe, three_layers, trees, layer) for layer in range(3))
    assert (first.uuas, first.root, first.distance, first.depth) == (last.uuas, last.root, last.distance, last.depth)
    assert first.uuas != noise.uuas
    alone = structural.evaluate(StructuralProbe(rank=24).fit(states[:1], trees), states[:1], trees, 0)
    # the sums of one layer and of three are rounded differently
    assert (alone.uuas, alone.root) == pytest.approx((first.uuas, first.root), abs=0.01)


def test_a_sentence_of_one_scored_word_has_a_root_and_no_edge():
    yes = Sentence(("Yes", "!"), heads=(ROOT, 0), relations=("root", "punct"))
    hello = Sentence(("Hello",), heads=(ROOT,), relations=("root",))
    ann = Sentence(("Ann", "ran"), heads=(1, ROOT), relations=("nsubj", "root"))
    trees = TreeSet((yes, hello, ann), np.array([0, 2, 3, 5]))
    probe = StructuralProbe(rank=1)
    probe.distance_ = probe.depth_ = torch.ones(1, 1, 1)
    scores = structural.evaluate(probe, np.array([[[5.0], [0.0], [3.0], [1.0], [2.0]]]), trees, 0)
    assert scores.root == pytest.approx(2 / 3), "in two of three: the exclamation mark is not scored"
    assert scores.n_gold.tolist() == [0, 0, 1]


def test_gold_distances_give_the_gold_tree(trees):
    for sentence in trees.sentences[:40]:
        predicted = {(min(edge), max(edge)) for edge in structural.spanning_tree(sentence.distances())}
        assert predicted == {(min(word, head), max(word, head)) for word, head in enumerate(sentence.heads) if head != ROOT}


def test_punctuation_is_not_scored():
    sentence = Sentence(("Ann", ",", "ran", "."), heads=(2, 0, ROOT, 2), relations=("nsubj", "punct", "root", "punct"))
    assert structural.gold_edges(sentence) == {(0, 2)} == structural.chain_edges(sentence)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """A checkpoint that reads the small world, never trained."""
    tokenizer = smallworld.tokenizer()
    bert = Bert.random_init(BertConfig(tokenizer.vocab_size, 32, 2, 4, 64, 64, initializer_range=0.2), tokenizer, seed=1)
    return bert.save(tmp_path_factory.mktemp("checkpoint") / "little")


def run(folder: Path, checkpoint: Path, **settings) -> ProbingResult:
    folder.mkdir(exist_ok=True)
    work = experiment.run(folder, str(checkpoint), experiment.SMALL_WORLD, limit=600, **settings)
    fractions = [progress["fraction"] for progress in work]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    return ProbingResult.read(folder / RESULT)


@pytest.fixture(scope="module")
def upos(checkpoint, tmp_path_factory) -> ProbingResult:
    return run(tmp_path_factory.mktemp("run"), checkpoint, code_length=True, mix=True)


def test_every_layer_stands_beside_its_baselines(upos):
    rows = results.table(upos)
    assert rows["layer"].tolist() == [0, 1, 2]
    for name in ("accuracy", "control", "random_init", "majority", "word_type"):
        assert rows[name].between(0, 1).all()
    np.testing.assert_allclose(rows["selectivity"], rows["accuracy"] - rows["control"])
    low, accuracy, high = (rows[name].to_numpy() for name in ("low", "accuracy", "high"))
    assert np.all(low <= accuracy) and np.all(accuracy <= high)
    assert accuracy.max() > rows["majority"].to_numpy().max() + 0.2
    assert all(rows["code_length"] < rows["uniform_code_length"])
    mix = results.mixture(upos)
    assert abs(sum(mix.weights) - 1) < 1e-4 and mix.low <= mix.center_of_gravity <= mix.high


def test_the_same_seed_gives_the_same_numbers(upos, checkpoint, tmp_path):
    assert run(tmp_path / "again", checkpoint, code_length=True, mix=True).rows == upos.rows


def test_another_seed_tells_nearly_the_same_story(upos, checkpoint, tmp_path):
    other = run(tmp_path / "other", checkpoint, seed=7)
    assert abs(other.rows[-1]["accuracy"] - upos.rows[-1]["accuracy"]) < 0.12


def test_a_stopped_run_goes_on_after_its_last_layer(checkpoint, tmp_path, upos):
    work = experiment.run(tmp_path, str(checkpoint), experiment.SMALL_WORLD, limit=600, code_length=True, mix=True)
    for progress in work:
        if progress["stage"].startswith("Layer 1"):
            break
    work.close()
    half = ProbingResult.read(tmp_path / RESULT)
    assert [row["layer"] for row in half.rows] == [0] and not half.finished
    half.rows[0]["accuracy"] = -1.0  # a mark: the layer must be reused, not computed again
    half.write(tmp_path / RESULT)
    whole = run(tmp_path, checkpoint, code_length=True, mix=True)
    assert whole.rows[0]["accuracy"] == -1.0 and whole.rows[1:] == upos.rows[1:]
    assert not list(tmp_path.glob("states-*"))


def test_a_saved_result_is_reopened_whole(upos):
    assert ProbingResult.parse(upos.json(), "saved.json") == upos


def test_the_confusion_matrix_counts_every_test_example_whose_label_was_seen_in_training(upos):
    counts = np.array(upos.confusion["2"])
    unseen = upos.sizes["test"] - counts.sum()
    assert 0 <= unseen <= 0.02 * upos.sizes["test"]
    # a label that training never saw cannot be predicted, so its examples count as wrong
    assert counts.trace() / upos.sizes["test"] == pytest.approx(upos.rows[2]["accuracy"])


def test_a_probe_applied_to_a_text_predicts_what_the_experiment_learned(upos, checkpoint):
    predictions = apply.predict(upos, model.load(checkpoint), "Anna sees the pear .")
    assert predictions.units == ["anna", "sees", "the", "pear", "."]
    assert predictions.labels[0][2:] == ["DET", "NOUN", "PUNCT"]
    assert predictions.confidence.shape == (3, 5)
    assert (predictions.confidence <= 1).all()


def test_probes_of_another_model_are_refused_in_a_sentence(upos, english):
    with pytest.raises(InputError, match="trained on"):
        apply.predict(upos, english, "Anna sees the pear .")


def test_the_tree_experiment_predicts_trees_of_any_sentence(checkpoint, tmp_path):
    bert = model.load(checkpoint)
    result = run(tmp_path / "tree", checkpoint, task="tree", width=8)
    assert results.table(result)["uuas"].between(0, 1).all() and 0 < result.baselines["chain"] < 1
    trees = apply.predict_tree(result, bert, apply.from_text(bert, "Anna sees the pear ."))
    assert set(trees) == {0, 1, 2}
    assert all(len(edges) == 3 for edges in trees.values())  # four words and a full stop
    assert json.loads(result.json())["command"].startswith("python3 run.py probe --model")


def test_each_seed_has_rows_of_its_own_and_is_not_fitted_twice(checkpoint, tmp_path):
    bert, dataset = model.load(checkpoint), experiment.small_world(stories=100)
    result = ProbingResult({"seed": 3, "limit": 300, "pooling": "mean", "width": 4})
    weights = None
    for seed in (3, 4, 3):
        fractions = [fraction for fraction, _ in structural_experiment.layers(tmp_path, dataset, bert, [0, 2], result, seed)]
        assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
        assert weights is None or result.weights == weights, "the weights are those of the first seed"
        weights = dict(result.weights)
    assert not fractions, "a seed whose layers are all there is not fitted again"
    assert [(row["seed"], row["layer"]) for row in result.rows] == [(3, 0), (3, 2), (4, 0), (4, 2)]
    assert result.rows[0]["chain"] != result.rows[2]["chain"], "each seed draws its own test sentences"
    assert set(weights) == {"0", "2"} and result.sizes["duplicates"] > 0


def test_random_weights_stand_beside_other_random_weights(checkpoint, tmp_path):
    for _ in experiment.run(tmp_path, f"{checkpoint}:random", experiment.SMALL_WORLD, "tree", "1-2", limit=600, width=8):
        pass
    rows = ProbingResult.read(tmp_path / RESULT).rows
    assert any(row["uuas"] != row["random_init"] for row in rows)


def test_layers_are_named_one_by_one_or_in_ranges():
    assert experiment.parse_layers("all", 3) == [0, 1, 2, 3]
    assert experiment.parse_layers("0, 2-3", 6) == [0, 2, 3]
    for wrong in ("7", "two", "", "1-"):
        with pytest.raises(InputError):
            experiment.parse_layers(wrong, 6)
