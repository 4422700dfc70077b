"""A task's labels are what the tree says, and the examples of each split are its own."""

from collections import Counter

import numpy as np
import pytest

from model import InputProblem, smallworld
from probes import sentences, tasks, treebank
from probes.treebank import ROOT, Sentence


@pytest.fixture(scope="module")
def world() -> tuple[Sentence, ...]:
    """Real trees without any download."""
    return treebank.parse("".join(story.conllu() for story in smallworld.stories(3, 60)), "world.conllu").sentences


@pytest.fixture
def draw() -> np.random.Generator:
    return np.random.default_rng(0)


def marks(name: str, sentence: Sentence, draw: np.random.Generator) -> dict:
    return dict(tasks.find(name).mark(sentence, draw))


DOGS = Sentence(("The", "dogs", "ran", "home", "."), ("DET", "NOUN", "VERB", "ADV", "PUNCT"),
                ({}, {"Number": "Plur"}, {"Tense": "Past", "VerbForm": "Fin"}, {}, {}),
                (1, 2, ROOT, 2, 2), ("det", "nsubj", "root", "advmod", "punct"))


def test_word_labels_are_what_the_tree_says(draw):
    assert list(marks("upos", DOGS, draw).values()) == list(DOGS.upos)
    assert marks("deprel", DOGS, draw)[(1,)] == "nsubj"
    assert marks("direction", DOGS, draw) == {
        (0,): "head after", (1,): "head after", (2,): "root", (3,): "head before", (4,): "head before"}
    assert marks("distance", DOGS, draw) == {(0,): "1", (1,): "1", (3,): "1", (4,): "2"}
    assert marks("depth", DOGS, draw) == {(0,): "2", (1,): "1", (2,): "0", (3,): "1", (4,): "1"}
    assert marks("number", DOGS, draw) == {(1,): "Plur"}
    assert marks("tense", DOGS, draw) == {(2,): "Past"}


def test_sentence_labels_are_what_the_tree_says(draw):
    for ask, answer in ((sentences.length, "5–8"), (sentences.tree_depth, "2"), (sentences.main_tense, "Past"),
                        (sentences.subject_number, "Plur"), (sentences.top, "nsubj VERB advmod")):
        assert list(ask([DOGS], draw)) == [(DOGS, answer)]
    assert list(sentences.object_number([DOGS], draw)) == [None]


def test_half_of_the_pairs_are_edges_and_the_others_never_are(world, draw):
    for sentence in world[:50]:
        edges = {(word, head) for word, head in enumerate(sentence.heads)}
        edges |= {(head, word) for word, head in edges}
        found = list(tasks.find("edge").mark(sentence, draw))
        assert all((pair in edges) == (label == "edge") for pair, label in found)
        assert Counter(label for _, label in found)["edge"] * 2 == len(found)


def test_a_shifted_sentence_differs_in_two_neighbours_only(world, draw):
    seen = Counter()
    for before, made in zip(world, sentences.bigram_shift(world, draw), strict=True):
        if made is None:
            continue
        after, label = made
        seen[label] += 1
        apart = [place for place in range(len(before)) if before.words[place] != after.words[place]]
        if label == "as written":
            assert not apart
        else:
            assert len(apart) == 2 and apart[1] == apart[0] + 1
            assert sorted(before.words) == sorted(after.words)
    assert min(seen.values()) > 0.35 * sum(seen.values())


def test_a_replaced_word_has_the_form_of_the_one_it_replaces(world, draw):
    forms = {(word, tag, *sorted(feats.items())) for s in world
             for word, tag, feats in zip(s.words, s.upos, s.feats, strict=True)}
    for before, made in zip(world, sentences.odd_word(world, draw), strict=True):
        if made and made[1] != "as written":
            (place,) = [p for p in range(len(before)) if before.words[p] != made[0].words[p]]
            assert before.upos[place] in ("NOUN", "VERB")
            assert (made[0].words[place], before.upos[place], *sorted(before.feats[place].items())) in forms


def test_swapped_clauses_hold_the_same_words():
    both = Sentence(tuple("Ann ran and Bob sat .".split()), heads=(1, ROOT, 4, 4, 1, 1),
                    relations=("nsubj", "root", "cc", "nsubj", "conj", "punct"))
    labels = set()
    for seed in range(8):
        made, label = next(item for item in sentences.inversion([both], np.random.default_rng(seed)) if item)
        labels.add(label)
        assert made.text == ("Ann ran and Bob sat ." if label == "as written" else "Bob sat and Ann ran .")
    assert len(labels) == 2


def test_every_task_of_a_treebank_gives_examples(little, world):
    offered = {task.name for task in tasks.available(world)}
    assert {"upos", "deprel", "edge", "number", "tense", "length", "shift", "position", "previous"} <= offered
    assert "tag" not in offered and "label" not in offered
    for name in ("upos", "edge", "length", "shift", "content", "position", "segment", "continues", "previous"):
        made = tasks.examples(little, world, tasks.find(name), limit=200)
        assert set(made.splits) == {"train", "dev", "test"}
        assert made.places.shape[1] == 3 and (made.places[:, 1] < made.places[:, 2]).all()
        assert made.rows.max() < len(made.places)
        assert made.rows.shape[1] == (2 if made.task.unit == "pair" else 1)


def test_no_sentence_is_in_two_splits(little, world):
    made = tasks.examples(little, world, tasks.find("upos"), limit=100_000)
    inputs = [row for split in ("train", "dev", "test") for row in np.unique(made.inputs_of[made.splits == split])]
    assert len(inputs) == len(set(inputs)) == len(made.inputs)


def test_the_splits_a_file_names_are_kept_and_missing_ones_are_drawn_from_train():
    given = [Sentence(("a",), split="test" if row < 30 else "train") for row in range(100)]
    drawn = tasks.splits(given, seed=0)
    assert drawn[:30] == ["test"] * 30
    assert Counter(drawn) == {"test": 30, "train": 63, "dev": 7}
    assert drawn == tasks.splits(given, seed=0) != tasks.splits(given, seed=1)


def test_the_same_seed_gives_the_same_examples(little, world):
    one, two = (tasks.examples(little, world, tasks.find("edge"), seed=5, limit=300) for _ in range(2))
    assert np.array_equal(one.rows, two.rows) and np.array_equal(one.labels, two.labels)


def test_sentences_too_long_for_the_model_are_counted(little):
    long = [Sentence(("cat",) * 70, ("NOUN",) * 70)] * 3
    short = [Sentence(("cat", "sat"), ("NOUN", "VERB"))] * 40
    assert tasks.examples(little, [*long, *short], tasks.find("upos")).skipped == 3


def test_data_without_the_labels_of_a_task_say_so(little):
    with pytest.raises(InputProblem, match="part of speech"):
        tasks.examples(little, [Sentence(("cat", "sat"))] * 20, tasks.find("upos"))
    with pytest.raises(InputProblem, match="too few"):
        tasks.examples(little, [DOGS] * 3, tasks.find("upos"))
    with pytest.raises(InputProblem, match="no task"):
        tasks.find("nonsense")
