"""Switching heads off: what is measured agrees with doing it by hand, one head at a time."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from model import Edits, InputError
from probes.heads import ablation

TEXT = "the cat sat on my mat."


@pytest.fixture(scope="module")
def target(tiny_bert):
    return ablation.target_word(tiny_bert, tiny_bert.tokenizer.encode(TEXT), position=2)


def by_hand(bert, target, off):
    states = bert(target.encoding, Edits(heads_off=frozenset(off)))
    return float(bert.mlm_logits(states[0, target.position]).log_softmax(-1)[target.answer]) / np.log(2)


def test_the_target_is_masked_and_its_word_is_the_answer(tiny_bert, target):
    assert target.encoding.tokens[2].text == "[MASK]"
    assert tiny_bert.tokenizer.vocabulary[target.answer] == "cat"


def test_a_word_outside_the_vocabulary_cannot_be_the_answer(tiny_bert):
    with pytest.raises(InputError):
        ablation.target_word(tiny_bert, tiny_bert.tokenizer.encode(TEXT), 2, "hippopotamus")


def test_all_heads_in_one_batch_give_what_each_gives_alone(tiny_bert, target):
    effects = ablation.effects(tiny_bert, target)
    whole = by_hand(tiny_bert, target, [])
    for layer, head in ablation.all_heads(tiny_bert):
        assert effects[layer, head] == pytest.approx(whole - by_hand(tiny_bert, target, [(layer, head)]), abs=1e-4)


def test_effects_start_from_the_heads_already_off(tiny_bert, target):
    effects = ablation.effects(tiny_bert, target, already=[(0, 0)])
    assert effects[0, 0] == pytest.approx(0, abs=1e-5)
    both = by_hand(tiny_bert, target, [(0, 0)]) - by_hand(tiny_bert, target, [(0, 0), (1, 3)])
    assert effects[1, 3] == pytest.approx(both, abs=1e-4)


def test_before_and_after_are_distributions_and_nothing_off_changes_nothing(tiny_bert, target):
    table = ablation.distribution(tiny_bert, target, off=[], k=5)
    np.testing.assert_allclose(table["before"], table["after"], atol=1e-6)
    assert float(table["before"].sum()) <= 1 + 1e-5
    assert "cat" in set(table["word"])
    changed = ablation.distribution(tiny_bert, target, off=[(0, 1), (1, 2)])
    assert not np.allclose(changed["before"], changed["after"])


def test_next_sentence_before_is_the_trace_and_after_is_the_trace_with_edits(tiny_bert):
    a, b, off = "my dog is cute", "he likes playing", [(1, 0), (1, 1)]
    before, after = ablation.next_sentence(tiny_bert, tiny_bert.tokenizer.encode(a, b), off)
    assert before == pytest.approx(tiny_bert.trace(a, b).nsp, abs=1e-5)
    assert after == pytest.approx(tiny_bert.trace(a, b, Edits(heads_off=frozenset(off))).nsp, abs=1e-5)


def test_gradient_importance_is_the_slope_of_the_loss_at_open_gates(tiny_bert, target):
    importance = ablation.importance(tiny_bert, [target])
    step = 1e-2
    for layer, head in [(0, 2), (1, 1)]:
        sides = []
        for sign in (-1, 1):
            gates = torch.ones(2, 4)
            gates[layer, head] += sign * step
            sides.append(-float(ablation.log_probs(tiny_bert, [target], [Edits(gates=gates)])[0]) / np.log(2))
        assert importance[layer, head] == pytest.approx(abs(sides[1] - sides[0]) / (2 * step), rel=0.05, abs=1e-4)


def test_importance_over_several_targets_is_their_mean_and_leaves_the_model_alone(tiny_bert):
    targets = ablation.sample_targets(tiny_bert, [TEXT, "my dog is cute and new"], words=2)
    alone = [ablation.importance(tiny_bert, [target]) for target in targets]
    np.testing.assert_allclose(ablation.importance(tiny_bert, targets), np.mean(alone, axis=0), atol=1e-5)
    assert all(parameter.grad is None for parameter in tiny_bert.parameters())


def test_importance_is_normalised_by_layer_before_heads_are_pruned_by_it(tiny_bert):
    """A layer with small gradients is not emptied first: only the order within layers and their shares count."""
    importance = np.array([[3.0, 4.0, 0.0, 0.0], [0.02, 0.01, 0.02, 0.0]])
    np.testing.assert_allclose(ablation.normalised(importance), [[0.6, 0.8, 0, 0], [2 / 3, 1 / 3, 2 / 3, 0]])
    np.testing.assert_allclose(ablation.normalised(np.zeros((2, 4))), 0)
    targets = ablation.sample_targets(tiny_bert, [TEXT], words=3)
    scores = ablation.importance(tiny_bert, targets)
    lengths = np.sqrt((scores**2).sum(1, keepdims=True))
    plain, order = (np.argsort(values.ravel(), kind="stable") for values in (scores, scores / lengths))
    assert plain.tolist() != order.tolist()
    heads = ablation.all_heads(tiny_bert)
    curve = list(ablation.prune(tiny_bert, targets, step=1, orders=1))
    expected = ablation.losses(
        tiny_bert, targets, [[heads[i] for i in order[:removed]] for removed in range(len(heads) + 1)]
    )
    np.testing.assert_allclose([point.gradient for point in curve], expected, atol=1e-4)


def test_agreement_is_one_for_the_same_order_and_minus_one_for_the_opposite():
    scores = np.array([[1.0, 4.0], [2.0, 9.0]])
    assert ablation.agreement(scores, scores**3) == pytest.approx(1)
    assert ablation.agreement(scores, -scores) == pytest.approx(-1)


def test_sampled_targets_mask_whole_words_once_and_is_the_same_each_time(tiny_bert):
    targets = ablation.sample_targets(tiny_bert, [TEXT, "he likes playing ."], words=3, seed=3)
    assert targets == ablation.sample_targets(tiny_bert, [TEXT, "he likes playing ."], words=3, seed=3)
    for target in targets:
        assert [t.text for t in target.encoding.tokens].count("[MASK]") == 1
        assert tiny_bert.tokenizer.vocabulary[target.answer].isalpha()
    with pytest.raises(InputError):
        ablation.sample_targets(tiny_bert, ["? !"])


def test_the_pruning_curve_starts_whole_ends_empty_and_greedy_beats_the_average_random_order(tiny_bert):
    targets = ablation.sample_targets(tiny_bert, [TEXT, "my dog is cute", "he ran on the mat"], words=3)
    curve = list(ablation.prune(tiny_bert, targets, step=1, orders=6))
    assert [point.removed for point in curve] == list(range(9))
    first, last = curve[0], curve[-1]
    assert first.greedy == pytest.approx(first.gradient) == pytest.approx(first.random[0])
    assert last.greedy == pytest.approx(last.gradient, abs=1e-4)
    assert set(last.heads) == set(ablation.all_heads(tiny_bert))
    middle = curve[1:-1]
    assert np.mean([point.greedy for point in middle]) <= np.mean([point.random for point in middle])
    assert all(point.heads[:-1] == before.heads for before, point in pairwise(curve))


def test_a_word_the_english_model_knows_needs_its_heads(english):
    target = ablation.target_word(english, english.tokenizer.encode("The keys to the cabinet are on the table."), 6)
    whole, without = ablation.losses(english, [target], [[], ablation.all_heads(english)])
    assert without > whole + 1
