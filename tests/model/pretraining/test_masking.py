"""What masking chooses, what it does with it, and that the loss hears of nothing else."""

import hashlib

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model import InputProblem
from model.pretraining.masking import KEPT, MASKED, RANDOM, Mix, masked, unit_lengths
from model.pretraining.objective import Objective, task
from model.pretraining.sentence_pairs import Pair


@pytest.fixture(scope="module")
def rows(english):
    """Random ordinary wordpieces between [CLS] and [SEP], some rows padded: (200, 64)."""
    pieces, generator = english.tokenizer, np.random.default_rng(0)
    ids = generator.integers(1000, 30522, (200, 64))
    ids[:, 0], ids[:, 63] = pieces.cls, pieces.sep
    ids[::2, 41] = pieces.sep
    ids[::2, 42:] = pieces.pad
    return ids


def special(ids, pieces):
    return np.isin(ids, list(pieces.special_ids))


@pytest.mark.parametrize("mix", [Mix(), Mix(whole_words=True), Mix(1, 0, 0), Mix(0, 0, 1), Mix(0, 1, 0, chosen=0.4)])
def test_shares_are_met(rows, english, mix):
    ordinary = ~special(rows, english.tokenizer)
    shares, fates, total = [], np.zeros(4), 0
    for seed in range(10):
        out = masked(rows, english.tokenizer, mix, np.random.default_rng(seed))
        shares.append(out.chosen.sum() / ordinary.sum())
        fates += np.bincount(out.fate.ravel(), minlength=4)
        total += out.chosen.sum()
    assert abs(np.mean(shares) - mix.chosen) < 0.002
    for fate, share in ((MASKED, mix.mask), (RANDOM, mix.random), (KEPT, mix.keep)):
        assert abs(fates[fate] / total - share) < 4 * np.sqrt(0.25 / total)


def test_labels_undo_the_masking(rows, english):
    out = masked(rows, english.tokenizer, Mix(), np.random.default_rng(1))
    assert (np.where(out.chosen, rows, out.ids) == rows).all()
    assert (out.ids[out.fate == MASKED] == english.tokenizer.mask).all()
    assert (out.ids[out.fate == KEPT] == rows[out.fate == KEPT]).all()


def test_special_tokens_are_neither_chosen_nor_put_in(rows, english):
    out = masked(rows, english.tokenizer, Mix(0, 1, 0, chosen=0.9), np.random.default_rng(1))
    assert not (out.chosen & special(rows, english.tokenizer)).any()
    assert not special(out.ids[out.chosen], english.tokenizer).any()


def test_every_row_gives_something_to_learn(english):
    short = np.array([[english.tokenizer.cls, 2000 + n, english.tokenizer.sep] for n in range(100)])
    assert masked(short, english.tokenizer, Mix(chosen=0.01), np.random.default_rng(0)).chosen[:, 1].all()


def test_whole_words_are_chosen_whole(english):
    encoding = english.tokenizer.encode("the antidisestablishmentarians were extraordinarily unphotogenic yesterday")
    words = np.array([-1 if token.word is None else token.word for token in encoding.tokens])
    assert len(words) > words.max() + 6
    ids = np.array([encoding.ids] * 500)
    out = masked(ids, english.tokenizer, Mix(chosen=0.3, whole_words=True), np.random.default_rng(2))
    for row in out.chosen:
        for word in range(words.max() + 1):
            assert len(set(row[words == word])) == 1
    split = masked(ids, english.tokenizer, Mix(chosen=0.3), np.random.default_rng(2)).chosen
    assert any(len(set(row[words == word])) == 2 for row in split for word in range(words.max() + 1))


@pytest.fixture(scope="module")
def long_word(english):
    """95 words of one piece and among them one of five, in one row; and where the five stand."""
    pieces = english.tokenizer
    continuing = [index for index, word in enumerate(pieces.words) if word.startswith("##")][:4]
    single = [index for index, word in enumerate(pieces.words) if word.isalpha() and len(word) > 2][:96]
    row = np.array([pieces.cls, *single[:50], *continuing, *single[50:], pieces.sep])
    return row, slice(50, 55)


def test_a_long_word_is_chosen_as_often_as_a_short_one(english, long_word):
    row, place = long_word
    draws = 40_000
    chosen = masked(np.repeat(row[None], draws, axis=0), english.tokenizer, Mix(whole_words=True),
                    np.random.default_rng(5)).chosen
    assert unit_lengths(row[None], english.tokenizer, whole_words=True)[0].tolist() == [1] * 49 + [5] + [1] * 46
    error = np.sqrt(0.15 * 0.85 / draws)
    assert abs(chosen[:, place].mean() - 0.15) < 4 * error
    assert (chosen[:, place].all(1) == chosen[:, place].any(1)).all()
    assert chosen.any(1).all()
    ordinary = ~special(row, english.tokenizer)
    assert abs(chosen[:, ordinary].mean() - 0.15) < 0.001
    assert np.abs(chosen.mean(0)[ordinary] - 0.15).max() < 5 * error


def test_single_pieces_are_drawn_as_ever(little):
    """Recorded once: a training that goes on from its generator must meet the draws it would have met."""
    pieces = little.tokenizer
    ids = np.random.default_rng(7).integers(5, pieces.size, (64, 40))
    ids[:, 0], ids[:, 39] = pieces.cls, pieces.sep
    ids[::3, 25] = pieces.sep
    ids[::3, 26:] = pieces.pad
    out = masked(ids, pieces, Mix(0.7, 0.2, 0.1), np.random.default_rng(11))
    assert np.argwhere(out.fate[:3]).tolist() == [
        [0, 3], [0, 6], [0, 7], [0, 14], [1, 7], [1, 12], [1, 13], [1, 20], [1, 29], [1, 33],
        [2, 7], [2, 8], [2, 25], [2, 32], [2, 37]]
    digests = [hashlib.sha256(part.astype("<i8").tobytes()).hexdigest()[:16] for part in (out.ids, out.fate)]
    assert digests == ["cd0ada6696f74c3f", "77dd4196d9cae79e"]


def test_the_seed_decides_and_another_seed_decides_otherwise(rows, english):
    first, again, other = (masked(rows, english.tokenizer, Mix(), np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (first.ids == again.ids).all()
    assert (first.fate != other.fate).any()


@pytest.mark.parametrize("wrong", [{"mask": 0.9}, {"mask": -0.1, "keep": 1.0}, {"chosen": 0.0}, {"chosen": 1.5}])
def test_a_mix_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputProblem):
        Mix(**wrong)


def some_task(little):
    ids = np.array(little.tokenizer.pieces("the cat sat on the mat . my dog is cute ! he likes playing"))
    pairs = [Pair(ids[:7], ids[7:12], True), Pair(ids[2:6], ids[9:15], False)]
    return task(pairs, little.tokenizer, Mix(chosen=0.4), np.random.default_rng(3))


def test_the_loss_counts_chosen_positions_only(little):
    """Taken over all places, with every place that was not chosen struck out, loss and gradients are the same."""
    given, twin = some_task(little), little.twin(1).requires_grad_(True)
    losses, _ = Objective(twin)(given)
    losses.sum().backward()
    learned = {name: parameter.grad.clone() for name, parameter in twin.named_parameters()}
    twin.zero_grad()
    labels = torch.full_like(given.batch.ids, -100).flatten()
    labels[given.places] = given.words
    states = twin(given.batch)
    whole = F.cross_entropy(twin.words(states).flatten(0, 1), labels, ignore_index=-100, reduction="sum")
    whole = whole + F.cross_entropy(twin.follows(states), given.labels, reduction="sum")
    whole.backward()
    torch.testing.assert_close(losses.sum(), whole)
    for name, parameter in twin.named_parameters():
        torch.testing.assert_close(learned[name], parameter.grad, msg=name)


def test_losses_are_those_of_transformers(little, tmp_path):
    from transformers import BertForPreTraining
    theirs = BertForPreTraining.from_pretrained(little.save(tmp_path / "little"), attn_implementation="eager").eval()
    given = some_task(little)
    labels = torch.full_like(given.batch.ids, -100).flatten()
    labels[given.places] = given.words
    with torch.no_grad():
        losses, _ = Objective(little)(given)
        expected = theirs(input_ids=given.batch.ids, token_type_ids=given.batch.segments,
                          attention_mask=given.batch.mask.long(), labels=labels.view_as(given.batch.ids),
                          next_sentence_label=given.labels).loss
    ours = losses[0] / len(given.words) + losses[1] / len(given.labels)
    torch.testing.assert_close(ours, expected)
