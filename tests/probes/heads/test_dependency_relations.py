"""Relations: a planted head stands out, random attention stays at chance."""

import numpy as np
import pytest

from model import InputError
from probes.heads import dependency_relations
from probes.probing import treebank
from probes.probing.alignment import align

TREES = """1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tcat\tcat\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tlikes\tlike\tVERB\t_\t_\t0\troot\t_\t_
4\tmy\tmy\tDET\t_\t_\t6\tdet\t_\t_
5\tnew\tnew\tADJ\t_\t_\t6\tamod\t_\t_
6\tdog\tdog\tNOUN\t_\t_\t3\tobj\t_\t_

1\ta\ta\tDET\t_\t_\t3\tdet\t_\t_
2\tcute\tcute\tADJ\t_\t_\t3\tamod\t_\t_
3\tdog\tdog\tNOUN\t_\t_\t4\tnsubj\t_\t_
4\tran\trun\tVERB\t_\t_\t0\troot\t_\t_
5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_
"""


@pytest.fixture(scope="module")
def sentences(tiny_bert):
    return list(align(tiny_bert, treebank.parse(TREES, "trees.conllu").sentences).sentences)


def following(sentence: treebank.Sentence, relation: str, rng) -> np.ndarray:
    """Random attention (1 layer, 2 heads) whose second head always finds the head of one relation."""
    attention = rng.dirichlet(np.ones(len(sentence)), (1, 2, len(sentence)))
    for word, (above, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if name == relation:
            attention[0, 1, word] = np.eye(len(sentence))[above]
    return attention


def test_a_planted_head_stands_out_and_beats_the_best_offset():
    rng = np.random.default_rng(0)
    bank = treebank.parse(TREES, "trees.conllu").sentences
    counts = dependency_relations.RelationCounts(1, 2)
    for sentence in bank * 20:
        counts.add(following(sentence, "det", rng), sentence)
    best = counts.table().query("relation == 'det' and direction == 'dependent looks at head'").iloc[0]
    assert (best["layer"], best["head"], best["accuracy"]) == (0, 1, 1.0)
    assert best["count"] == 60
    assert (best["offset"], best["baseline"]) == (2, pytest.approx(2 / 3))


def test_random_attention_finds_nothing():
    rng = np.random.default_rng(1)
    bank = treebank.parse(TREES, "trees.conllu").sentences
    counts = dependency_relations.RelationCounts(2, 3)
    for sentence in bank * 60:
        attention = rng.dirichlet(np.ones(len(sentence)), (2, 3, len(sentence)))
        counts.add(attention, sentence)
    table = counts.table(min_count=60)
    assert float(table["gain"].max()) < 0
    assert table["gain"].is_monotonic_decreasing
    assert float(table["accuracy"].max()) < 0.4  # chance is 1/5 or 1/4: as many other words as a sentence has


def test_root_and_punctuation_are_no_relations(tiny_bert, sentences):
    *_, counts = dependency_relations.count(tiny_bert, sentences)
    assert set(counts.count) == {"det", "nsubj", "amod", "obj"}
    assert counts.sentences == 2


def test_accuracy_through_the_model_is_what_counting_by_hand_gives(tiny_bert, sentences):
    *_, counts = dependency_relations.count(tiny_bert, sentences, tokens_at_once=1)
    n_correct = np.zeros((2, 4))
    for aligned in sentences:
        attention = tiny_bert.trace(aligned.sentence.text).attention[..., 1:-1, 1:-1].copy()  # one piece a word here
        attention[..., range(len(aligned.sentence)), range(len(aligned.sentence))] = 0
        for word, name in enumerate(aligned.sentence.relations):
            n_correct += (attention[..., word, :].argmax(-1) == aligned.sentence.heads[word]) * (name == "det")
    np.testing.assert_allclose(counts.accuracy("det")[0], n_correct / 3)


@pytest.mark.parametrize("direction", dependency_relations.ARC_DIRECTIONS)
def test_every_head_that_was_ever_right_shows_a_sentence_in_which_it_is(tiny_bert, sentences, direction):
    *_, counts = dependency_relations.count(tiny_bert, sentences)
    trees = {aligned.sentence.words: aligned.sentence for aligned in sentences}
    for layer, head in np.ndindex(2, 4):
        for relation in counts.count:
            example = counts.example(relation, direction, layer, head)
            accuracy = counts.accuracy(relation)[dependency_relations.ARC_DIRECTIONS.index(direction), layer, head]
            assert (example is not None) == (accuracy > 0)
            if example is not None:
                tree = trees[example.words]
                assert tree.relations[example.dependent] == relation
                assert tree.heads[example.dependent] == example.head
                attention = tiny_bert.trace(tree.text).attention[layer, head, 1:-1, 1:-1] * (1 - np.eye(len(tree)))
                looks = attention if direction == dependency_relations.ARC_DIRECTIONS[0] else attention.T
                assert looks[example.dependent].argmax() == example.head


def test_sentences_without_trees_are_refused_in_words(tiny_bert):
    plain = align(tiny_bert, [treebank.Sentence(("my", "dog"))]).sentences
    with pytest.raises(InputError, match="CoNLL-U"):
        next(dependency_relations.count(tiny_bert, plain))
