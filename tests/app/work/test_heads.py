"""Long questions about heads, run as the queue runs them: progress to the end, and a result that can be read back."""

import numpy as np
import pytest

from app.work import heads as headruns
from model import InputProblem
from probes import heads
from probes.heads import ablation, dependency_relations
from probes.probing import treebank

TEXTS = ["the cat sat on my mat.", "my dog is cute", "he ran on the new mat"]


@pytest.fixture(scope="module")
def source(little, tmp_path_factory):
    return str(little.save(tmp_path_factory.mktemp("models") / "little"))


def finished(work) -> list[float]:
    fractions = [said["fraction"] for said in work]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    return fractions


def test_a_corpus_is_summed_up_over_its_lines(little, source, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    finished(headruns.corpus(tmp_path, source, sentences=2))
    count, table, even = headruns.corpus_found(tmp_path)
    assert count == 2
    traces = [little.trace(text) for text in TEXTS[:2]]
    sizes = [len(trace.tokens) for trace in traces]
    expected = np.average([heads.entropy(trace.attention) for trace in traces], axis=0, weights=sizes)
    np.testing.assert_allclose(table["entropy"].to_numpy().reshape(2, 4), expected, atol=1e-4)
    assert even["entropy"] == pytest.approx(np.average(np.log2(sizes), weights=sizes))
    assert even["[CLS]"] == pytest.approx(len(sizes) / sum(sizes))


def test_an_empty_corpus_is_refused_in_words(source, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputProblem, match="no line"):
        list(headruns.corpus(tmp_path, source, 10))


def test_the_table_of_relations_survives_the_disk_with_its_examples(source, tmp_path):
    finished(headruns.grammar(tmp_path, source, sentences=40, name=""))
    found = headruns.grammar_found(tmp_path)
    assert found.sentences == 40
    table = found.table(5)
    assert len(table) == 2 * table["relation"].nunique()
    bank = {tuple(sentence.words): sentence for sentence in headruns.planted(40).sentences}
    for row in table.to_dict("records"):
        example = found.example(row["relation"], row["direction"], row["layer"], row["head"])
        assert example is not None
        sentence = bank[example.words]
        assert sentence.heads[example.dependent] == example.head
        assert sentence.relations[example.dependent] == row["relation"]


def test_on_the_small_world_a_planted_head_is_found_and_random_attention_is_not():
    rng = np.random.default_rng(0)
    planted, chance = dependency_relations.Relations(1, 2), dependency_relations.Relations(3, 4)
    for sentence in headruns.planted(150).sentences:
        size = len(sentence)
        attention = rng.dirichlet(np.ones(size), (1, 2, size))
        for word, (above, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if name == "obj" and above != treebank.ROOT:
                attention[0, 1, above] = np.eye(size)[word]  # a verb that looks at its object
        planted.add(attention, sentence)
        chance.add(rng.dirichlet(np.ones(size), (3, 4, size)), sentence)
    best = planted.table(20).iloc[0]
    assert (best["relation"], best["direction"], best["layer"], best["head"]) == (
        "obj", dependency_relations.DIRECTIONS[1], 0, 1)
    assert best["accuracy"] > 0.9
    assert float(chance.table(40)["gain"].max()) < 0


def test_the_pruning_curve_survives_the_disk(little, source, tmp_path):
    finished(headruns.pruning(tmp_path, source, TEXTS, words=3, points=4, orders=3, seed=0))
    curve, words = headruns.pruning_found(tmp_path)
    assert curve["gone"].tolist() == [0, 2, 4, 6, 8]
    assert float((curve["high"] - curve["low"]).min()) >= 0
    questions = ablation.exam(little, TEXTS, seed=0)
    assert words == len(questions)
    whole = float(ablation.losses(little, questions, [[]])[0])
    assert float(curve["greedy"].to_numpy()[0]) == pytest.approx(whole, abs=1e-4)
