"""Relations: a planted head is found, random attention finds nothing beyond chance."""

import numpy as np
import pytest

from model import InputProblem
from probes.heads import dependency_relations
from probes.probing import treebank

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
def sentences(little):
    return treebank.aligned(little, treebank.parse(TREES, "trees.conllu").sentences)[0]


def following(sentence: treebank.Sentence, relation: str, rng) -> np.ndarray:
    """Random attention (1 layer, 2 heads) whose second head always finds the head of one relation."""
    attention = rng.dirichlet(np.ones(len(sentence)), (1, 2, len(sentence)))
    for word, (above, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
        if name == relation:
            attention[0, 1, word] = np.eye(len(sentence))[above]
    return attention


def test_a_planted_head_is_found_and_beats_the_best_offset():
    rng = np.random.default_rng(0)
    bank = treebank.parse(TREES, "trees.conllu").sentences
    found = dependency_relations.Relations(1, 2)
    for sentence in bank * 20:
        found.add(following(sentence, "det", rng), sentence)
    best = found.table().query("relation == 'det' and direction == 'dependent looks at head'").iloc[0]
    assert (best["layer"], best["head"], best["accuracy"]) == (0, 1, 1.0)
    assert best["count"] == 60
    assert (best["offset"], best["baseline"]) == (2, pytest.approx(2 / 3))


def test_random_attention_finds_nothing():
    rng = np.random.default_rng(1)
    bank = treebank.parse(TREES, "trees.conllu").sentences
    found = dependency_relations.Relations(2, 3)
    for sentence in bank * 60:
        attention = rng.dirichlet(np.ones(len(sentence)), (2, 3, len(sentence)))
        found.add(attention, sentence)
    table = found.table(least=60)
    assert float(table["gain"].max()) < 0
    assert float(table["accuracy"].max()) < 0.4  # chance is 1/5 or 1/4: as many other words as a sentence has


def test_root_and_punctuation_are_no_relations(little, sentences):
    *_, found = dependency_relations.relations(little, sentences)
    assert set(found.count) == {"det", "nsubj", "amod", "obj"}
    assert found.sentences == 2


def test_accuracy_through_the_model_is_what_counting_by_hand_gives(little, sentences):
    *_, found = dependency_relations.relations(little, sentences, tokens_at_once=1)
    hits = np.zeros((2, 4))
    for one in sentences:
        attention = little.trace(one.sentence.text).attention[..., 1:-1, 1:-1].copy()  # one piece a word here
        attention[..., range(len(one.sentence)), range(len(one.sentence))] = 0
        for word, name in enumerate(one.sentence.relations):
            hits += (attention[..., word, :].argmax(-1) == one.sentence.heads[word]) * (name == "det")
    np.testing.assert_allclose(found.accuracy("det")[0], hits / 3)


@pytest.mark.parametrize("direction", dependency_relations.DIRECTIONS)
def test_every_head_that_was_ever_right_shows_a_sentence_in_which_it_is(little, sentences, direction):
    *_, found = dependency_relations.relations(little, sentences)
    trees = {one.sentence.words: one.sentence for one in sentences}
    for layer, head in np.ndindex(2, 4):
        for relation in found.count:
            example = found.example(relation, direction, layer, head)
            right = found.accuracy(relation)[dependency_relations.DIRECTIONS.index(direction), layer, head]
            assert (example is not None) == (right > 0)
            if example is not None:
                tree = trees[example.words]
                assert tree.relations[example.dependent] == relation
                assert tree.heads[example.dependent] == example.head
                attention = little.trace(tree.text).attention[layer, head, 1:-1, 1:-1] * (1 - np.eye(len(tree)))
                looks = attention if direction == dependency_relations.DIRECTIONS[0] else attention.T
                assert looks[example.dependent].argmax() == example.head


def test_sentences_without_trees_are_refused_in_words(little):
    plain, _ = treebank.aligned(little, [treebank.Sentence(("my", "dog"))])
    with pytest.raises(InputProblem, match="CoNLL-U"):
        next(dependency_relations.relations(little, plain))
