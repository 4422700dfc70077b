"""A task's labels are what the tree says, and the examples of each split are its own."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from model import InputError, smallworld
from probes.probing import experiment, sentence_tasks, tasks, treebank
from probes.probing.examples import ProbingExamples, build_examples
from probes.probing.splits import assign_splits
from probes.probing.treebank import ROOT, Sentence


@pytest.fixture(scope="module")
def small_world() -> tuple[Sentence, ...]:
    """Real trees without any download."""
    return treebank.parse("".join(story.conllu() for story in smallworld.stories(3, 60)), "world.conllu").sentences


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def labels_of(name: str, sentence: Sentence, rng: np.random.Generator) -> dict:
    return dict(tasks.find(name).label(sentence, rng))


DOGS = Sentence(
    ("The", "dogs", "ran", "home", "."),
    ("DET", "NOUN", "VERB", "ADV", "PUNCT"),
    ({}, {"Number": "Plur"}, {"Tense": "Past", "VerbForm": "Fin"}, {}, {}),
    (1, 2, ROOT, 2, 2),
    ("det", "nsubj", "root", "advmod", "punct"),
)


def test_word_labels_are_what_the_tree_says(rng):
    assert list(labels_of("upos", DOGS, rng).values()) == list(DOGS.upos)
    assert labels_of("deprel", DOGS, rng)[(1,)] == "nsubj"
    assert labels_of("direction", DOGS, rng) == {
        (0,): "head after",
        (1,): "head after",
        (2,): "root",
        (3,): "head before",
        (4,): "head before",
    }
    assert labels_of("distance", DOGS, rng) == {(0,): "1", (1,): "1", (3,): "1", (4,): "2"}
    assert labels_of("depth", DOGS, rng) == {(0,): "2", (1,): "1", (2,): "0", (3,): "1", (4,): "1"}
    assert labels_of("number", DOGS, rng) == {(1,): "Plur"}
    assert labels_of("tense", DOGS, rng) == {(2,): "Past"}


def test_sentence_labels_are_what_the_tree_says(rng):
    for task, label in (
        (sentence_tasks.length, "5–8"),
        (sentence_tasks.tree_depth, "2"),
        (sentence_tasks.main_tense, "Past"),
        (sentence_tasks.subject_number, "Plur"),
        (sentence_tasks.top, "nsubj VERB advmod"),
    ):
        assert list(task([DOGS], rng)) == [(DOGS, label)]
    assert list(sentence_tasks.object_number([DOGS], rng)) == [None]


def test_half_of_the_pairs_are_edges_and_the_others_never_are(small_world, rng):
    for sentence in small_world[:50]:
        edges = {(word, head) for word, head in enumerate(sentence.heads)}
        edges |= {(head, word) for word, head in edges}
        pairs = list(tasks.find("edge").label(sentence, rng))
        assert all((pair in edges) == (label == "edge") for pair, label in pairs)
        assert Counter(label for _, label in pairs)["edge"] * 2 == len(pairs)


def test_a_shifted_sentence_differs_in_two_neighbours_only(small_world, rng):
    counts = Counter()
    for before, labelled in zip(small_world, sentence_tasks.bigram_shift(small_world, rng), strict=True):
        if labelled is None:
            continue
        after, label = labelled
        counts[label] += 1
        changed = [word for word in range(len(before)) if before.words[word] != after.words[word]]
        if label == "as written":
            assert not changed
        else:
            assert len(changed) == 2
            assert changed[1] == changed[0] + 1
            assert sorted(before.words) == sorted(after.words)
    assert min(counts.values()) > 0.35 * sum(counts.values())


def test_a_replaced_word_has_the_form_of_the_one_it_replaces(small_world, rng):
    forms = {
        (word, tag, *sorted(feats.items()))
        for s in small_world
        for word, tag, feats in zip(s.words, s.upos, s.feats, strict=True)
    }
    for before, labelled in zip(small_world, sentence_tasks.odd_word(small_world, rng), strict=True):
        if labelled and labelled[1] != "as written":
            after, _ = labelled
            (word,) = [word for word in range(len(before)) if before.words[word] != after.words[word]]
            assert before.upos[word] in ("NOUN", "VERB")
            assert (after.words[word], before.upos[word], *sorted(before.feats[word].items())) in forms


def test_swapped_clauses_hold_the_same_words():
    both = Sentence(
        tuple("Ann ran and Bob sat .".split()),
        heads=(1, ROOT, 4, 4, 1, 1),
        relations=("nsubj", "root", "cc", "nsubj", "conj", "punct"),
    )
    labels = set()
    for seed in range(8):
        sentence, label = next(item for item in sentence_tasks.inversion([both], np.random.default_rng(seed)) if item)
        labels.add(label)
        assert sentence.text == ("Ann ran and Bob sat ." if label == "as written" else "Bob sat and Ann ran .")
    assert len(labels) == 2


def test_every_task_of_a_treebank_gives_examples(tiny_bert, small_world):
    offered = {task.name for task in tasks.available(small_world)}
    assert {"upos", "deprel", "edge", "number", "tense", "length", "shift", "position", "previous"} <= offered
    assert "tag" not in offered and "label" not in offered
    for name in ("upos", "edge", "length", "shift", "content", "position", "segment", "continues", "previous"):
        examples = build_examples(tiny_bert, small_world, tasks.find(name), limit=200)
        assert set(examples.splits) == {"train", "dev", "test"}
        assert examples.spans.shape[1] == 3
        assert (examples.spans[:, 1] < examples.spans[:, 2]).all()
        assert examples.span_indices.max() < len(examples.spans)
        assert examples.span_indices.shape[1] == (2 if examples.task.unit == "pair" else 1)


def numbered(count: int, **fields) -> list[Sentence]:
    """Different sentences that every vocabulary of letters can read."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        Sentence(
            ("the", letters[row % 26] + letters[row // 26 % 26], "cat", "sat"), ("DET", "ADJ", "NOUN", "VERB"), **fields
        )
        for row in range(count)
    ]


def texts_by_split(examples: ProbingExamples) -> dict[str, set[str]]:
    return {
        split: {examples.inputs[row][0].text.lower() for row in examples.input_of[examples.splits == split]}
        for split in ("train", "dev", "test")
    }


def no_text_twice(texts: dict[str, set[str]]) -> bool:
    return len(set.union(*texts.values())) == sum(map(len, texts.values())) and all(texts.values())


def test_no_text_is_in_two_splits(tiny_bert, small_world):
    assert len({sentence.text for sentence in small_world}) < len(small_world), "stories repeat their sentences"
    examples = build_examples(tiny_bert, small_world, tasks.find("upos"), limit=100_000)
    texts = texts_by_split(examples)
    assert len(set.union(*texts.values())) > 50
    assert no_text_twice(texts)


def test_copies_go_where_their_original_goes_whatever_their_case_and_spacing(tiny_bert):
    sentences = numbered(200)
    copies = [replace(sentence, words=tuple(word.title() for word in sentence.words)) for sentence in sentences]
    spaced = [
        replace(sentence, words=("the" + sentence.words[1], *sentence.words[2:]), upos=sentence.upos[1:])
        for sentence in sentences[:50]
    ]
    examples = build_examples(tiny_bert, [*sentences, *copies, *spaced], tasks.find("upos"), limit=100_000)
    texts = {
        split: {text.replace(" ", "") for text in split_texts} for split, split_texts in texts_by_split(examples).items()
    }
    assert no_text_twice(texts)
    assert (examples.duplicates, examples.left_out) == (250, 0)
    assert len(examples.inputs) == 450


def test_a_pair_is_a_text_of_its_own():
    sentences = [replace(sentence, second=(second,)) for sentence in numbered(100) for second in ("yes", "no")]
    assignment = assign_splits([*sentences, *sentences], seed=0)
    assert assignment.duplicates == 200
    assert assignment.names[:200] == assignment.names[200:]
    assert assignment.names[:200:2] != assignment.names[1:200:2], "the same A with another B is another pair"


def test_documents_are_kept_whole_and_what_they_share_with_the_test_is_left_out_of_training():
    sentences = [replace(sentence, document=f"d{row // 5}") for row, sentence in enumerate(numbered(500))]
    shared = [Sentence(("thanks", "!"), document=f"d{row}") for row in range(0, 100, 2)]
    assignment = assign_splits([*sentences, *shared], seed=0)
    for row in range(0, 500, 5):
        assert len(set(assignment.names[row : row + 5])) == 1, "a document is in one split"
    where = Counter(assignment.names[500:])
    assert set(where) == {"test", ""}, "the sentence all documents share stays in the test alone"
    assert assignment.left_out == where[""] and assignment.duplicates == where["test"] - 1
    words = Counter()
    for name, sentence in zip(assignment.names, [*sentences, *shared], strict=True):
        words[name] += len(sentence)
    total = sum(words.values())
    assert 0.08 < words["test"] / total < 0.12 and 0.08 < words["dev"] / total < 0.12


def test_documents_too_few_to_be_split_do_not_hinder():
    sentences = [replace(sentence, document=f"d{row // 100}") for row, sentence in enumerate(numbered(300))]
    assert Counter(assign_splits(sentences, seed=0).names) == {"train": 240, "dev": 30, "test": 30}


def test_the_stories_of_the_small_world_are_split_whole_and_keep_sane_sizes():
    bank = experiment.small_world()
    assignment = assign_splits(bank.sentences, seed=0)
    stories: dict[str, set[str]] = {}
    for sentence, name in zip(bank.sentences, assignment.names, strict=True):
        stories.setdefault(sentence.document, set()).add(name)
    assert len(stories) == 600
    assert all(len(names - {""}) <= 1 for names in stories.values())
    sizes = Counter(assignment.names)
    assert sizes[""] == assignment.left_out < 0.25 * len(bank)
    assert 0.7 < sizes["train"] / (len(bank) - sizes[""]) < 0.85
    assert min(sizes["dev"], sizes["test"]) > 0.08 * len(bank)


def test_the_split_of_a_text_does_not_depend_on_the_order_of_the_file():
    sentences = numbered(300)
    forth, back = assign_splits(sentences, seed=3), assign_splits(sentences[::-1], seed=3)
    assert forth.names == back.names[::-1]
    assert forth.names == assign_splits(sentences, seed=3).names != assign_splits(sentences, seed=4).names


def test_the_order_in_which_sentences_are_read_says_nothing_of_their_split(tiny_bert):
    splits = build_examples(tiny_bert, numbered(600), tasks.find("upos"), seed=0, limit=100_000).splits
    first_half = splits[: len(splits) // 2]
    for split in ("dev", "test"):
        assert 0.3 < (first_half == split).sum() / (splits == split).sum() < 0.7


def test_the_splits_a_file_names_are_kept_and_missing_ones_are_drawn_from_train():
    sentences = [replace(sentence, split="test" if row < 30 else "train") for row, sentence in enumerate(numbered(100))]
    assignment = assign_splits(sentences, seed=0)
    assert assignment.names[:30] == ["test"] * 30
    assert Counter(assignment.names) == {"test": 30, "train": 63, "dev": 7}


def test_a_sentence_of_two_named_splits_is_counted_and_left_out_of_the_one_that_learns():
    train, dev, test = (numbered(40, split=split) for split in ("train", "dev", "test"))
    sentences = [*train, *dev[:10], *test[5:20]]
    assignment = assign_splits(sentences, seed=0)
    assert assignment.names == [""] * 20 + ["train"] * 20 + ["dev"] * 5 + [""] * 5 + ["test"] * 15
    assert (assignment.duplicates, assignment.left_out) == (0, 25)


def test_train_and_test_that_are_the_same_are_refused_with_the_reason(tiny_bert):
    sentences = [*numbered(40, split="train"), *numbered(40, split="test")]
    with pytest.raises(InputError, match=r"no train example.*40 sentences"):
        build_examples(tiny_bert, sentences, tasks.find("upos"))


def test_the_same_seed_gives_the_same_examples(tiny_bert, small_world):
    one, two = (build_examples(tiny_bert, small_world, tasks.find("edge"), seed=5, limit=300) for _ in range(2))
    assert np.array_equal(one.span_indices, two.span_indices)
    assert np.array_equal(one.labels, two.labels)


def test_sentences_too_long_for_the_model_are_counted(tiny_bert):
    long = [Sentence(("cat",) * 70, ("NOUN",) * 70)] * 3
    assert build_examples(tiny_bert, [*long, *numbered(400)], tasks.find("upos")).skipped == 3


def test_data_without_the_labels_of_a_task_say_so(tiny_bert):
    with pytest.raises(InputError, match="part of speech"):
        build_examples(tiny_bert, [replace(sentence, upos=()) for sentence in numbered(20)], tasks.find("upos"))
    with pytest.raises(InputError, match="too few"):
        build_examples(tiny_bert, [DOGS] * 30, tasks.find("upos"))
    with pytest.raises(InputError, match="no task"):
        tasks.find("nonsense")
