"""Trees planted in vectors are found; the scores count what they say; an experiment is the same each time."""

import json

import numpy as np
import pytest
import torch

from model import Bert, BertConfig, InputProblem, smallworld
from probes.probing import apply, experiment, results, structural, structural_experiment, treebank
from probes.probing.structural import StructuralProbe, Trees
from probes.probing.treebank import ROOT, Sentence


@pytest.fixture(scope="module")
def trees() -> Trees:
    bank = treebank.parse("".join(story.conllu() for story in smallworld.stories(1, 40)), "world.conllu")
    sentences = bank.sentences[:200]
    return Trees(sentences, np.cumsum([0] + [len(sentence) for sentence in sentences]))


def planted(trees: Trees, seed: int = 0) -> np.ndarray:
    """Vectors in which every edge is a step in a direction of its own, so squared distance is tree distance,
    turned and hidden among noise; and a layer of nothing but noise: (2, words, hidden)."""
    draw, size = np.random.default_rng(seed), 24
    turn = np.linalg.qr(draw.normal(size=(2 * size, 2 * size)))[0]
    rows = []
    for sentence in trees.sentences:
        depths, made = sentence.depths(), np.zeros((len(sentence), 2 * size))
        for step, word in enumerate(sorted(range(len(sentence)), key=depths.__getitem__)):
            if sentence.heads[word] != ROOT:
                made[word] = made[sentence.heads[word]]
                made[word, step % size] += 1
        made[:, size:] = draw.normal(size=(len(sentence), size))
        rows.append(made @ turn)
    found = np.concatenate(rows)
    return np.stack([found, draw.normal(size=found.shape)]).astype(np.float32)


def test_planted_trees_are_found_and_noise_is_not(trees):
    states = planted(trees)
    probe = StructuralProbe(rank=24).fit(states, trees)
    clear, noise = (structural.scored(probe, states, trees, layer) for layer in (0, 1))
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
    draw, size = np.random.default_rng(0), 32
    # vectors of the long sentences are half as long, so no map fits both; three short ones stand against two long ones
    given = [star(draw.permutation(size)[:2], 1.0, size) for _ in range(120)]
    given += [star(draw.permutation(size)[:29], 0.5, size) for _ in range(80)]
    sentences = tuple(sentence for sentence, _ in given)
    trees = Trees(sentences, np.cumsum([0] + [len(sentence) for sentence in sentences]))
    probe = StructuralProbe(rank=size).fit(np.concatenate([vectors for _, vectors in given])[None], trees)
    short = torch.from_numpy(np.stack([vectors for _, vectors in given[:120]])).float()[None]
    apart = structural.distances(short, probe.distance_)[0, :, 0, 1:]
    deep = structural.depth(short, probe.depth_)[0, :, 1:]
    assert float(apart.mean()) == pytest.approx(1, abs=0.3), "4 where the long sentences have their way"
    assert float(deep.mean()) == pytest.approx(1, abs=0.3)


def test_equal_states_get_equal_scores_in_any_company(trees):
    states = planted(trees)
    company = np.concatenate([states, states[:1]])
    probe = StructuralProbe(rank=24).fit(company, trees)
    first, noise, last = (structural.scored(probe, company, trees, layer) for layer in range(3))
    assert (first.uuas, first.root, first.distance, first.depth) == (last.uuas, last.root, last.distance, last.depth)
    assert first.uuas != noise.uuas
    alone = structural.scored(StructuralProbe(rank=24).fit(states[:1], trees), states[:1], trees, 0)
    # the sums of one layer and of three are rounded differently
    assert (alone.uuas, alone.root) == pytest.approx((first.uuas, first.root), abs=0.01)


def test_a_sentence_of_one_word_that_counts_has_a_root_and_no_edge():
    yes = Sentence(("Yes", "!"), heads=(ROOT, 0), relations=("root", "punct"))
    hello = Sentence(("Hello",), heads=(ROOT,), relations=("root",))
    ann = Sentence(("Ann", "ran"), heads=(1, ROOT), relations=("nsubj", "root"))
    trees = Trees((yes, hello, ann), np.array([0, 2, 3, 5]))
    probe = StructuralProbe(rank=1)
    probe.distance_ = probe.depth_ = torch.ones(1, 1, 1)
    scores = structural.scored(probe, np.array([[[5.0], [0.0], [3.0], [1.0], [2.0]]]), trees, 0)
    assert scores.root == pytest.approx(2 / 3), "right in two of three: the mark of exclamation does not count"
    assert scores.there.tolist() == [0, 0, 1]


def test_gold_distances_give_the_gold_tree(trees):
    for sentence in trees.sentences[:40]:
        found = {(min(edge), max(edge)) for edge in structural.spanning_tree(sentence.distances())}
        assert found == {(min(word, head), max(word, head)) for word, head in enumerate(sentence.heads) if head != ROOT}


def test_punctuation_does_not_count():
    sentence = Sentence(("Ann", ",", "ran", "."), heads=(2, 0, ROOT, 2), relations=("nsubj", "punct", "root", "punct"))
    assert structural.gold_edges(sentence) == {(0, 2)} == structural.chain_edges(sentence)


def test_spearman_is_a_correlation_of_ranks():
    rows = np.array([[1.0, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]])
    other = np.array([[10.0, 200, 300, 4000], [4, 3, 2, 1], [1, 1, 2, 2]])
    np.testing.assert_allclose(structural.spearman(rows, other), [1, -1, 0.8944], atol=1e-4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint that reads the small world, never trained."""
    tokenizer = smallworld.tokenizer()
    bert = Bert.random(BertConfig(tokenizer.size, 32, 2, 4, 64, 64, initializer_range=0.2), tokenizer, seed=1)
    return bert.save(tmp_path_factory.mktemp("checkpoint") / "little")


def asked(place, folder, **settings) -> results.Result:
    place.mkdir(exist_ok=True)
    seen = list(experiment.run(place, str(folder), experiment.SMALL_WORLD, limit=600, **settings))
    assert [said["fraction"] for said in seen] == sorted(said["fraction"] for said in seen)
    assert seen[-1]["fraction"] == 1
    return results.read(place / results.RESULT)


@pytest.fixture(scope="module")
def upos(folder, tmp_path_factory) -> results.Result:
    return asked(tmp_path_factory.mktemp("run"), folder, bits=True, mix=True)


def test_every_layer_stands_beside_its_baselines(upos):
    rows = results.table(upos)
    assert rows["layer"].tolist() == [0, 1, 2]
    for name in ("accuracy", "control", "twin", "majority", "word_type"):
        assert rows[name].between(0, 1).all()
    np.testing.assert_allclose(rows["selectivity"], rows["accuracy"] - rows["control"])
    low, accuracy, high = (rows[name].to_numpy() for name in ("low", "accuracy", "high"))
    assert np.all(low <= accuracy) and np.all(accuracy <= high)
    assert accuracy.max() > rows["majority"].to_numpy().max() + 0.2
    assert all(rows["bits"] < rows["uniform_bits"])
    mix = results.mixture(upos)
    assert abs(sum(mix.weights) - 1) < 1e-4 and mix.low <= mix.centre <= mix.high


def test_the_same_seed_gives_the_same_numbers(upos, folder, tmp_path):
    assert asked(tmp_path / "again", folder, bits=True, mix=True).rows == upos.rows


def test_another_seed_tells_nearly_the_same_story(upos, folder, tmp_path):
    other = asked(tmp_path / "other", folder, seed=7)
    assert abs(other.rows[-1]["accuracy"] - upos.rows[-1]["accuracy"]) < 0.12


def test_a_stopped_run_goes_on_after_its_last_layer(folder, tmp_path, upos):
    work = experiment.run(tmp_path, str(folder), experiment.SMALL_WORLD, limit=600, bits=True, mix=True)
    for said in work:
        if said["stage"].startswith("Layer 1"):
            break
    work.close()
    half = results.read(tmp_path / results.RESULT)
    assert [row["layer"] for row in half.rows] == [0] and not half.finished
    half.rows[0]["accuracy"] = -1.0  # a mark: the layer must be taken over, not computed again
    half.write(tmp_path / results.RESULT)
    whole = asked(tmp_path, folder, bits=True, mix=True)
    assert whole.rows[0]["accuracy"] == -1.0 and whole.rows[1:] == upos.rows[1:]
    assert not list(tmp_path.glob("states-*"))


def test_a_saved_result_is_reopened_whole(upos):
    assert results.parse(upos.json(), "saved.json") == upos


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "bertscope probe 2"}',
                                  '{"format": "bertscope probe 2", "settings": {}, "rows": [{"layer": "x"}]}'])
def test_a_file_that_is_no_result_is_refused_in_a_sentence(text):
    with pytest.raises(InputProblem, match=r"mine\.json"):
        results.parse(text, "mine.json")


def test_the_confusion_matrix_counts_every_test_example_whose_label_was_seen_in_training(upos):
    counts = np.array(upos.confusion["2"])
    unseen = upos.sizes["test"] - counts.sum()
    assert 0 <= unseen <= 0.02 * upos.sizes["test"]
    # a label that training never saw cannot be said, so its examples count as wrong
    assert counts.trace() / upos.sizes["test"] == pytest.approx(upos.rows[2]["accuracy"])


def test_the_live_probe_says_what_the_experiment_learned(upos, folder):
    import model
    said = apply.labelled(upos, model.load(folder), "Anna sees the pear .")
    assert said.units == ["anna", "sees", "the", "pear", "."]
    assert said.labels[0][2:] == ["DET", "NOUN", "PUNCT"]
    assert said.sure.shape == (3, 5) and (said.sure <= 1).all()


def test_probes_of_another_model_are_refused_in_a_sentence(upos, english):
    with pytest.raises(InputProblem, match="trained on"):
        apply.labelled(upos, english, "Anna sees the pear .")


def test_the_tree_experiment_draws_trees_of_typed_sentences(folder, tmp_path):
    import model
    bert = model.load(folder)
    result = asked(tmp_path / "tree", folder, task="tree", width=8)
    assert results.table(result)["uuas"].between(0, 1).all() and 0 < result.baselines["chain"] < 1
    drawn = apply.tree(result, bert, apply.typed(bert, "Anna sees the pear ."))
    assert set(drawn) == {0, 1, 2}
    assert all(len(edges) == 3 for edges in drawn.values())  # four words and a full stop
    assert json.loads(result.json())["command"].startswith("python3 run.py probe --model")


def test_each_seed_has_rows_of_its_own_and_is_not_learned_twice(folder, tmp_path):
    import model
    bert, bank = model.load(folder), experiment.small_world(stories=100)
    result = results.Result({"seed": 3, "limit": 300, "pooling": "mean", "width": 4})
    maps = None
    for seed in (3, 4, 3):
        fractions = [fraction for fraction, _ in structural_experiment.layers(tmp_path, bank, bert, [0, 2], result, seed)]
        assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions)
        assert maps is None or result.maps == maps, "the maps are those of the first seed"
        maps = dict(result.maps)
    assert not fractions, "a seed whose layers are all there is not learned again"
    assert [(row["seed"], row["layer"]) for row in result.rows] == [(3, 0), (3, 2), (4, 0), (4, 2)]
    assert result.rows[0]["chain"] != result.rows[2]["chain"], "each seed draws its own test sentences"
    assert set(maps) == {"0", "2"} and result.sizes["duplicates"] > 0


def test_random_weights_stand_beside_other_random_weights(folder, tmp_path):
    place = tmp_path / "random"
    place.mkdir()
    for _ in experiment.run(place, f"{folder}:random", experiment.SMALL_WORLD, "tree", "1-2", limit=600, width=8):
        pass
    rows = results.read(place / results.RESULT).rows
    assert any(row["uuas"] != row["twin"] for row in rows)


def test_layers_are_named_one_by_one_or_in_ranges():
    assert experiment.layers_of("all", 3) == [0, 1, 2, 3]
    assert experiment.layers_of("0, 2-3", 6) == [0, 2, 3]
    for wrong in ("7", "two", "", "1-"):
        with pytest.raises(InputProblem):
            experiment.layers_of(wrong, 6)
