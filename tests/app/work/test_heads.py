"""Long analyses of heads, run as the queue runs them: progress to the end, and a result that can be read back."""

from collections.abc import Iterator

import numpy as np
import pytest

from app.work import heads as work
from model import InputError
from probes import heads
from probes.heads import ablation, dependency_relations
from probes.probing import treebank

TEXTS = ["the cat sat on my mat.", "my dog is cute", "he ran on the new mat"]


@pytest.fixture(scope="module")
def source(tiny_bert, tmp_path_factory) -> str:
    return str(tiny_bert.save(tmp_path_factory.mktemp("models") / "tiny"))


def run(job: Iterator[dict]) -> None:
    """Run a job to its end: its progress never falls and ends at one."""
    fractions = [progress["fraction"] for progress in job]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)


def test_a_corpus_is_summed_up_over_its_lines(tiny_bert, source, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    run(work.corpus(tmp_path, source, sentences=2))
    count, table, uniform = work.corpus_result(tmp_path)
    assert count == 2
    traces = [tiny_bert.trace(text) for text in TEXTS[:2]]
    sizes = [len(trace.tokens) for trace in traces]
    expected = np.average([heads.entropy(trace.attention) for trace in traces], axis=0, weights=sizes)
    np.testing.assert_allclose(table["entropy"].to_numpy().reshape(2, 4), expected, atol=1e-4)
    assert uniform["entropy"] == pytest.approx(np.average(np.log2(sizes), weights=sizes))
    assert uniform["[CLS]"] == pytest.approx(len(sizes) / sum(sizes))


def test_an_empty_corpus_is_refused_in_words(source, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="no line"):
        list(work.corpus(tmp_path, source, 10))


def test_the_table_of_relations_survives_the_disk_with_its_examples(source, tmp_path):
    run(work.grammar(tmp_path, source, sentences=40, data="smallworld"))
    counts = work.grammar_result(tmp_path)
    assert counts.sentences == 40
    table = counts.table(5)
    assert len(table) == 2 * table["relation"].nunique()
    sentences = {tuple(sentence.words): sentence for sentence in work.planted(40).sentences}
    for row in table.to_dict("records"):
        example = counts.example(row["relation"], row["direction"], row["layer"], row["head"])
        assert example is not None
        sentence = sentences[example.words]
        assert sentence.heads[example.dependent] == example.head
        assert sentence.relations[example.dependent] == row["relation"]


def test_on_the_small_world_a_planted_head_is_found_and_random_attention_is_not():
    rng = np.random.default_rng(0)
    planted, random = dependency_relations.RelationCounts(1, 2), dependency_relations.RelationCounts(3, 4)
    for sentence in work.planted(150).sentences:
        size = len(sentence)
        attention = rng.dirichlet(np.ones(size), (1, 2, size))
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if relation == "obj" and head != treebank.ROOT:
                attention[0, 1, head] = np.eye(size)[word]  # a verb that attends to its object
        planted.add(attention, sentence)
        random.add(rng.dirichlet(np.ones(size), (3, 4, size)), sentence)
    best = planted.table(20).iloc[0]
    assert (best["relation"], best["direction"], best["layer"], best["head"]) == (
        "obj",
        dependency_relations.ARC_DIRECTIONS[1],
        0,
        1,
    )
    assert best["accuracy"] > 0.9
    assert float(random.table(40)["gain"].max()) < 0


def test_the_pruning_curve_survives_the_disk(tiny_bert, source, tmp_path):
    run(work.pruning(tmp_path, source, TEXTS, words=3, points=4, orders=3, seed=0))
    curve, words = work.pruning_result(tmp_path)
    assert curve["gone"].tolist() == [0, 2, 4, 6, 8]
    assert float((curve["high"] - curve["low"]).min()) >= 0
    targets = ablation.sample_targets(tiny_bert, TEXTS, seed=0)
    assert words == len(targets)
    loss = float(ablation.losses(tiny_bert, targets, [[]])[0])
    assert float(curve["greedy"].to_numpy()[0]) == pytest.approx(loss, abs=1e-4)
