"""Switching heads off: what is measured agrees with doing it by hand, one head at a time."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from model import Edits, InputProblem
from probes.heads import ablation

TEXT = "the cat sat on my mat."


@pytest.fixture(scope="module")
def question(little):
    return ablation.masked(little, little.tokenizer.encode(TEXT), position=2)


def by_hand(bert, question, off):
    states = bert(question.encoding, Edits(heads_off=frozenset(off)))
    return float(bert.words(states[0, question.position]).log_softmax(-1)[question.answer]) / np.log(2)


def test_the_question_masks_the_word_and_remembers_it(little, question):
    assert question.encoding.tokens[2].text == "[MASK]"
    assert little.tokenizer.words[question.answer] == "cat"


def test_a_word_outside_the_vocabulary_cannot_be_the_answer(little):
    with pytest.raises(InputProblem):
        ablation.masked(little, little.tokenizer.encode(TEXT), 2, "hippopotamus")


def test_all_heads_in_one_batch_give_what_each_gives_alone(little, question):
    found = ablation.effects(little, question)
    whole = by_hand(little, question, [])
    for layer, head in ablation.every_head(little):
        assert found[layer, head] == pytest.approx(whole - by_hand(little, question, [(layer, head)]), abs=1e-4)


def test_effects_start_from_the_heads_already_off(little, question):
    found = ablation.effects(little, question, already=[(0, 0)])
    assert found[0, 0] == pytest.approx(0, abs=1e-5)
    both = by_hand(little, question, [(0, 0)]) - by_hand(little, question, [(0, 0), (1, 3)])
    assert found[1, 3] == pytest.approx(both, abs=1e-4)


def test_before_and_after_are_distributions_and_nothing_off_changes_nothing(little, question):
    table = ablation.distribution(little, question, off=[], k=5)
    np.testing.assert_allclose(table["before"], table["after"], atol=1e-6)
    assert float(table["before"].sum()) <= 1 + 1e-5
    assert "cat" in set(table["word"])
    changed = ablation.distribution(little, question, off=[(0, 1), (1, 2)])
    assert not np.allclose(changed["before"], changed["after"])


def test_next_sentence_before_is_the_trace_and_after_is_the_trace_with_edits(little):
    a, b, off = "my dog is cute", "he likes playing", [(1, 0), (1, 1)]
    before, after = ablation.next_sentence(little, little.tokenizer.encode(a, b), off)
    assert before == pytest.approx(little.trace(a, b).nsp, abs=1e-5)
    assert after == pytest.approx(little.trace(a, b, Edits(heads_off=frozenset(off))).nsp, abs=1e-5)


def test_gradient_importance_is_the_slope_of_the_loss_at_open_gates(little, question):
    found = ablation.importance(little, [question])
    step = 1e-2
    for layer, head in [(0, 2), (1, 1)]:
        sides = []
        for sign in (-1, 1):
            gates = torch.ones(2, 4)
            gates[layer, head] += sign * step
            sides.append(-float(ablation.answers(little, [question], [Edits(gates=gates)])[0]) / np.log(2))
        assert found[layer, head] == pytest.approx(abs(sides[1] - sides[0]) / (2 * step), rel=0.05, abs=1e-4)


def test_importance_over_several_questions_is_their_mean_and_leaves_the_model_alone(little):
    questions = ablation.exam(little, [TEXT, "my dog is cute and new"], words=2)
    each = [ablation.importance(little, [question]) for question in questions]
    np.testing.assert_allclose(ablation.importance(little, questions), np.mean(each, axis=0), atol=1e-5)
    assert all(parameter.grad is None for parameter in little.parameters())


def test_importance_is_normalised_by_layer_before_heads_are_pruned_by_it(little):
    """A layer with small gradients is not emptied first: only the order within layers and their shares count."""
    importance = np.array([[3.0, 4.0, 0.0, 0.0], [0.02, 0.01, 0.02, 0.0]])
    found = ablation.normalised(importance)
    np.testing.assert_allclose(found, [[0.6, 0.8, 0, 0], [2 / 3, 1 / 3, 2 / 3, 0]])
    np.testing.assert_allclose(ablation.normalised(np.zeros((2, 4))), 0)
    questions = ablation.exam(little, [TEXT], words=3)
    scores = ablation.importance(little, questions)
    lengths = np.sqrt((scores ** 2).sum(1, keepdims=True))
    plain, order = (np.argsort(each.ravel(), kind="stable") for each in (scores, scores / lengths))
    assert plain.tolist() != order.tolist()
    heads = ablation.every_head(little)
    curve = list(ablation.pruned(little, questions, step=1, orders=1))
    expected = ablation.losses(little, questions, [[heads[i] for i in order[:gone]] for gone in range(len(heads) + 1)])
    np.testing.assert_allclose([point.gradient for point in curve], expected, atol=1e-4)


def test_agreement_is_one_for_the_same_order_and_minus_one_for_the_opposite():
    scores = np.array([[1.0, 4.0], [2.0, 9.0]])
    assert ablation.agreement(scores, scores ** 3) == pytest.approx(1)
    assert ablation.agreement(scores, -scores) == pytest.approx(-1)


def test_an_exam_masks_whole_words_once_and_is_the_same_each_time(little):
    questions = ablation.exam(little, [TEXT, "he likes playing ."], words=3, seed=3)
    assert questions == ablation.exam(little, [TEXT, "he likes playing ."], words=3, seed=3)
    for question in questions:
        assert [t.text for t in question.encoding.tokens].count("[MASK]") == 1
        assert little.tokenizer.words[question.answer].isalpha()
    with pytest.raises(InputProblem):
        ablation.exam(little, ["? !"])


def test_the_pruning_curve_starts_whole_ends_empty_and_greedy_beats_the_average_random_order(little):
    questions = ablation.exam(little, [TEXT, "my dog is cute", "he ran on the mat"], words=3)
    curve = list(ablation.pruned(little, questions, step=1, orders=6))
    assert [point.gone for point in curve] == list(range(9))
    first, last = curve[0], curve[-1]
    assert first.greedy == pytest.approx(first.gradient) == pytest.approx(first.random[0])
    assert last.greedy == pytest.approx(last.gradient, abs=1e-4)
    assert set(last.heads) == set(ablation.every_head(little))
    middle = curve[1:-1]
    assert np.mean([point.greedy for point in middle]) <= np.mean([point.random for point in middle])
    assert all(point.heads[:-1] == before.heads for before, point in pairwise(curve))


def test_a_word_the_english_model_knows_needs_its_heads(english):
    question = ablation.masked(english, english.tokenizer.encode("The keys to the cabinet are on the table."), 6)
    whole, without = ablation.losses(english, [question], [[], ablation.every_head(english)])
    assert without > whole + 1
