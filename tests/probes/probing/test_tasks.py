"""A task's labels are what the tree says, and the examples of each split are its own."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from model import InputProblem, smallworld
from probes.probing import experiment, sentence_tasks, tasks, treebank
from probes.probing.treebank import ROOT, Sentence


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
    for ask, answer in ((sentence_tasks.length, "5–8"), (sentence_tasks.tree_depth, "2"), (sentence_tasks.main_tense,
                                                                                           "Past"),
                        (sentence_tasks.subject_number, "Plur"), (sentence_tasks.top, "nsubj VERB advmod")):
        assert list(ask([DOGS], draw)) == [(DOGS, answer)]
    assert list(sentence_tasks.object_number([DOGS], draw)) == [None]


def test_half_of_the_pairs_are_edges_and_the_others_never_are(world, draw):
    for sentence in world[:50]:
        edges = {(word, head) for word, head in enumerate(sentence.heads)}
        edges |= {(head, word) for word, head in edges}
        found = list(tasks.find("edge").mark(sentence, draw))
        assert all((pair in edges) == (label == "edge") for pair, label in found)
        assert Counter(label for _, label in found)["edge"] * 2 == len(found)


def test_a_shifted_sentence_differs_in_two_neighbours_only(world, draw):
    seen = Counter()
    for before, made in zip(world, sentence_tasks.bigram_shift(world, draw), strict=True):
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
    for before, made in zip(world, sentence_tasks.odd_word(world, draw), strict=True):
        if made and made[1] != "as written":
            (place,) = [p for p in range(len(before)) if before.words[p] != made[0].words[p]]
            assert before.upos[place] in ("NOUN", "VERB")
            assert (made[0].words[place], before.upos[place], *sorted(before.feats[place].items())) in forms


def test_swapped_clauses_hold_the_same_words():
    both = Sentence(tuple("Ann ran and Bob sat .".split()), heads=(1, ROOT, 4, 4, 1, 1),
                    relations=("nsubj", "root", "cc", "nsubj", "conj", "punct"))
    labels = set()
    for seed in range(8):
        made, label = next(item for item in sentence_tasks.inversion([both], np.random.default_rng(seed)) if item)
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


def numbered(count: int, **fields) -> list[Sentence]:
    """Different sentences that every vocabulary of letters can read."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [Sentence(("the", letters[row % 26] + letters[row // 26 % 26], "cat", "sat"), ("DET", "ADJ", "NOUN", "VERB"),
                     **fields) for row in range(count)]


def texts_by_split(made: tasks.Examples) -> dict[str, set[str]]:
    return {split: {made.inputs[row][0].text.lower() for row in made.inputs_of[made.splits == split]}
            for split in ("train", "dev", "test")}


def no_text_twice(texts: dict[str, set[str]]) -> bool:
    return len(set.union(*texts.values())) == sum(map(len, texts.values())) and all(texts.values())


def test_no_sentence_is_in_two_splits(little, world):
    assert len({sentence.text for sentence in world}) < len(world), "stories repeat their sentences"
    made = tasks.examples(little, world, tasks.find("upos"), limit=100_000)
    assert no_text_twice(texts_by_split(made))


def test_copies_go_where_their_original_goes_whatever_their_case_and_spacing(little):
    given = numbered(200)
    copies = [replace(sentence, words=tuple(word.title() for word in sentence.words)) for sentence in given]
    spaced = [replace(sentence, words=("the" + sentence.words[1], *sentence.words[2:]), upos=sentence.upos[1:])
              for sentence in given[:50]]
    made = tasks.examples(little, [*given, *copies, *spaced], tasks.find("upos"), limit=100_000)
    sets = {split: {text.replace(" ", "") for text in texts} for split, texts in texts_by_split(made).items()}
    assert no_text_twice(sets)
    assert (made.duplicates, made.left_out) == (250, 0)
    assert len(made.inputs) == 450


def test_a_pair_is_a_text_of_its_own():
    given = [replace(sentence, second=(second,)) for sentence in numbered(100) for second in ("yes", "no")]
    drawn = tasks.splits([*given, *given], seed=0)
    assert drawn.duplicates == 200
    assert drawn.names[:200] == drawn.names[200:]
    assert drawn.names[:200:2] != drawn.names[1:200:2], "the same A with another B is another pair"


def test_documents_are_kept_whole_and_what_they_share_with_the_test_is_left_out_of_training():
    given = [replace(sentence, document=f"d{row // 5}") for row, sentence in enumerate(numbered(500))]
    shared = [Sentence(("thanks", "!"), document=f"d{row}") for row in range(0, 100, 2)]
    drawn = tasks.splits([*given, *shared], seed=0)
    for row in range(0, 500, 5):
        assert len(set(drawn.names[row: row + 5])) == 1, "a document is in one split"
    where = Counter(drawn.names[500:])
    assert set(where) == {"test", ""}, "the sentence all documents share stays in the test alone"
    assert drawn.left_out == where[""] and drawn.duplicates == where["test"] - 1
    words = Counter()
    for name, sentence in zip(drawn.names, [*given, *shared], strict=True):
        words[name] += len(sentence)
    total = sum(words.values())
    assert 0.08 < words["test"] / total < 0.12 and 0.08 < words["dev"] / total < 0.12


def test_documents_too_few_to_be_split_do_not_hinder():
    given = [replace(sentence, document=f"d{row // 100}") for row, sentence in enumerate(numbered(300))]
    assert Counter(tasks.splits(given, seed=0).names) == {"train": 240, "dev": 30, "test": 30}


def test_the_stories_of_the_small_world_are_split_whole_and_keep_sane_sizes():
    bank = experiment.small_world()
    drawn = tasks.splits(bank.sentences, seed=0)
    stories: dict[str, set[str]] = {}
    for sentence, name in zip(bank.sentences, drawn.names, strict=True):
        stories.setdefault(sentence.document, set()).add(name)
    assert len(stories) == 600
    assert all(len(names - {""}) <= 1 for names in stories.values())
    sizes = Counter(drawn.names)
    assert sizes[""] == drawn.left_out < 0.25 * len(bank)
    assert 0.7 < sizes["train"] / (len(bank) - sizes[""]) < 0.85
    assert min(sizes["dev"], sizes["test"]) > 0.08 * len(bank)


def test_the_split_of_a_text_does_not_depend_on_the_order_of_the_file():
    given = numbered(300)
    forth, back = tasks.splits(given, seed=3), tasks.splits(given[::-1], seed=3)
    assert forth.names == back.names[::-1]
    assert forth.names == tasks.splits(given, seed=3).names != tasks.splits(given, seed=4).names


def test_the_order_in_which_sentences_are_read_says_nothing_of_their_split(little):
    made = tasks.examples(little, numbered(600), tasks.find("upos"), seed=0, limit=100_000)
    half = made.splits[: len(made.splits) // 2]
    for split in ("dev", "test"):
        assert 0.3 < (half == split).sum() / (made.splits == split).sum() < 0.7


def test_the_splits_a_file_names_are_kept_and_missing_ones_are_drawn_from_train():
    given = [replace(sentence, split="test" if row < 30 else "train") for row, sentence in enumerate(numbered(100))]
    drawn = tasks.splits(given, seed=0)
    assert drawn.names[:30] == ["test"] * 30
    assert Counter(drawn.names) == {"test": 30, "train": 63, "dev": 7}


def test_a_sentence_of_two_named_splits_is_counted_and_left_out_of_the_one_that_learns():
    train, dev, test = (numbered(40, split=split) for split in ("train", "dev", "test"))
    given = [*train, *dev[:10], *test[5:20]]
    drawn = tasks.splits(given, seed=0)
    assert drawn.names == [""] * 20 + ["train"] * 20 + ["dev"] * 5 + [""] * 5 + ["test"] * 15
    assert (drawn.duplicates, drawn.left_out) == (0, 25)


def test_train_and_test_that_are_the_same_are_refused_with_the_reason(little):
    given = [*numbered(40, split="train"), *numbered(40, split="test")]
    with pytest.raises(InputProblem, match=r"no train example.*40 sentences"):
        tasks.examples(little, given, tasks.find("upos"))


def test_the_same_seed_gives_the_same_examples(little, world):
    one, two = (tasks.examples(little, world, tasks.find("edge"), seed=5, limit=300) for _ in range(2))
    assert np.array_equal(one.rows, two.rows) and np.array_equal(one.labels, two.labels)


def test_sentences_too_long_for_the_model_are_counted(little):
    long = [Sentence(("cat",) * 70, ("NOUN",) * 70)] * 3
    assert tasks.examples(little, [*long, *numbered(400)], tasks.find("upos")).skipped == 3


def test_data_without_the_labels_of_a_task_say_so(little):
    with pytest.raises(InputProblem, match="part of speech"):
        tasks.examples(little, [replace(sentence, upos=()) for sentence in numbered(20)], tasks.find("upos"))
    with pytest.raises(InputProblem, match="too few"):
        tasks.examples(little, [DOGS] * 30, tasks.find("upos"))
    with pytest.raises(InputProblem, match="no task"):
        tasks.find("nonsense")
