"""What masking selects, what replaces it, and that the loss counts nothing else."""

import hashlib
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model import InputError
from model.pretraining.masking import MASKED, RANDOM, SAME, MaskingStrategy, corrupt, unit_lengths
from model.pretraining.objective import PretrainingLoss, pretraining_batch
from model.pretraining.sentence_pairs import SentencePair


@pytest.fixture(scope="module")
def rows(english):
    """Random ordinary wordpieces between [CLS] and [SEP], some rows padded: (200, 64)."""
    pieces, rng = english.tokenizer, np.random.default_rng(0)
    ids = rng.integers(1000, 30522, (200, 64))
    ids[:, 0], ids[:, 63] = pieces.cls_id, pieces.sep_id
    ids[::2, 41] = pieces.sep_id
    ids[::2, 42:] = pieces.pad_id
    return ids


def is_special(ids, pieces):
    return np.isin(ids, list(pieces.special_ids))


@pytest.mark.parametrize(
    "masking",
    [
        MaskingStrategy(),
        MaskingStrategy(whole_word=True),
        MaskingStrategy(1, 0, 0),
        MaskingStrategy(0, 0, 1),
        MaskingStrategy(0, 1, 0, mlm_probability=0.4),
    ],
)
def test_probabilities_are_met(rows, english, masking):
    ordinary = ~is_special(rows, english.tokenizer)
    fractions, counts, total = [], np.zeros(4), 0
    for seed in range(10):
        corruption = corrupt(rows, english.tokenizer, masking, np.random.default_rng(seed))
        fractions.append(corruption.selected.sum() / ordinary.sum())
        counts += np.bincount(corruption.replacement.ravel(), minlength=4)
        total += corruption.selected.sum()
    assert abs(np.mean(fractions) - masking.mlm_probability) < 0.002
    for replacement, probability in ((MASKED, masking.mask), (RANDOM, masking.random), (SAME, masking.keep)):
        assert abs(counts[replacement] / total - probability) < 4 * np.sqrt(0.25 / total)


def test_labels_undo_the_masking(rows, english):
    corruption = corrupt(rows, english.tokenizer, MaskingStrategy(), np.random.default_rng(1))
    assert (np.where(corruption.selected, rows, corruption.ids) == rows).all()
    assert (corruption.ids[corruption.replacement == MASKED] == english.tokenizer.mask_id).all()
    assert (corruption.ids[corruption.replacement == SAME] == rows[corruption.replacement == SAME]).all()


def test_special_tokens_are_neither_selected_nor_random_words(rows, english):
    corruption = corrupt(rows, english.tokenizer, MaskingStrategy(0, 1, 0, mlm_probability=0.9), np.random.default_rng(1))
    assert not (corruption.selected & is_special(rows, english.tokenizer)).any()
    assert not is_special(corruption.ids[corruption.selected], english.tokenizer).any()


def test_every_row_gives_something_to_learn(english):
    short = np.array([[english.tokenizer.cls_id, 2000 + n, english.tokenizer.sep_id] for n in range(100)])
    assert (
        corrupt(short, english.tokenizer, MaskingStrategy(mlm_probability=0.01), np.random.default_rng(0))
        .selected[:, 1]
        .all()
    )


def test_whole_words_are_selected_whole(english):
    encoding = english.tokenizer.encode("the antidisestablishmentarians were extraordinarily unphotogenic yesterday")
    words = np.array([-1 if token.word is None else token.word for token in encoding.tokens])
    assert len(words) > words.max() + 6
    ids = np.array([encoding.ids] * 500)
    corruption = corrupt(
        ids, english.tokenizer, MaskingStrategy(mlm_probability=0.3, whole_word=True), np.random.default_rng(2)
    )
    for row in corruption.selected:
        for word in range(words.max() + 1):
            assert len(set(row[words == word])) == 1
    split = corrupt(ids, english.tokenizer, MaskingStrategy(mlm_probability=0.3), np.random.default_rng(2)).selected
    assert any(len(set(row[words == word])) == 2 for row in split for word in range(words.max() + 1))


@pytest.fixture(scope="module")
def long_word(english):
    """95 words of one piece and among them one of five, in one row; and where the five stand."""
    pieces = english.tokenizer
    continuing = [index for index, word in enumerate(pieces.vocabulary) if word.startswith("##")][:4]
    single = [index for index, word in enumerate(pieces.vocabulary) if word.isalpha() and len(word) > 2][:96]
    row = np.array([pieces.cls_id, *single[:50], *continuing, *single[50:], pieces.sep_id])
    return row, slice(50, 55)


def test_a_long_word_is_selected_as_often_as_a_short_one(english, long_word):
    row, pieces = long_word
    draws = 40_000
    selected = corrupt(
        np.repeat(row[None], draws, axis=0), english.tokenizer, MaskingStrategy(whole_word=True), np.random.default_rng(5)
    ).selected
    assert unit_lengths(row[None], english.tokenizer, whole_words=True)[0].tolist() == [1] * 49 + [5] + [1] * 46
    error = np.sqrt(0.15 * 0.85 / draws)
    assert abs(selected[:, pieces].mean() - 0.15) < 4 * error
    assert (selected[:, pieces].all(1) == selected[:, pieces].any(1)).all()
    assert selected.any(1).all()
    ordinary = ~is_special(row, english.tokenizer)
    assert abs(selected[:, ordinary].mean() - 0.15) < 0.001
    assert np.abs(selected.mean(0)[ordinary] - 0.15).max() < 5 * error


def test_single_pieces_are_sampled_as_ever(tiny_bert):
    """Recorded once: a training that goes on from its generator must sample what it would have sampled."""
    pieces = tiny_bert.tokenizer
    ids = np.random.default_rng(7).integers(5, pieces.vocab_size, (64, 40))
    ids[:, 0], ids[:, 39] = pieces.cls_id, pieces.sep_id
    ids[::3, 25] = pieces.sep_id
    ids[::3, 26:] = pieces.pad_id
    corruption = corrupt(ids, pieces, MaskingStrategy(0.7, 0.2, 0.1), np.random.default_rng(11))
    assert np.argwhere(corruption.replacement[:3]).tolist() == [
        [0, 3],
        [0, 6],
        [0, 7],
        [0, 14],
        [1, 7],
        [1, 12],
        [1, 13],
        [1, 20],
        [1, 29],
        [1, 33],
        [2, 7],
        [2, 8],
        [2, 25],
        [2, 32],
        [2, 37],
    ]
    digests = [
        hashlib.sha256(part.astype("<i8").tobytes()).hexdigest()[:16] for part in (corruption.ids, corruption.replacement)
    ]
    assert digests == ["cd0ada6696f74c3f", "77dd4196d9cae79e"]


def test_the_seed_decides_and_another_seed_decides_otherwise(rows, english):
    first, again, other = (
        corrupt(rows, english.tokenizer, MaskingStrategy(), np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert (first.ids == again.ids).all()
    assert (first.replacement != other.replacement).any()


@pytest.mark.parametrize(
    "fractions", [{"mask": 0.9}, {"mask": -0.1, "keep": 1.0}, {"mlm_probability": 0.0}, {"mlm_probability": 1.5}]
)
def test_an_impossible_strategy_is_refused_with_its_numbers(fractions: dict[str, Any]):
    with pytest.raises(InputError, match="%"):
        MaskingStrategy(**fractions)


def some_batch(tiny_bert):
    ids = np.array(tiny_bert.tokenizer.piece_ids("the cat sat on the mat . my dog is cute ! he likes playing"))
    pairs = [SentencePair(ids[:7], ids[7:12], True), SentencePair(ids[2:6], ids[9:15], False)]
    return pretraining_batch(pairs, tiny_bert.tokenizer, MaskingStrategy(mlm_probability=0.4), np.random.default_rng(3))


def test_the_loss_counts_selected_positions_only(tiny_bert):
    """Over all positions, with the labels of those not selected ignored, loss and gradients are the same."""
    batch, bert = some_batch(tiny_bert), tiny_bert.random_init_copy(1).requires_grad_(True)
    losses, _ = PretrainingLoss(bert)(batch)
    losses.sum().backward()
    gradients = {name: parameter.grad.clone() for name, parameter in bert.named_parameters()}
    bert.zero_grad()
    labels = torch.full_like(batch.batch.ids, -100).flatten()
    labels[batch.selected_positions] = batch.mlm_labels
    states = bert(batch.batch)
    expected = F.cross_entropy(bert.mlm_logits(states).flatten(0, 1), labels, ignore_index=-100, reduction="sum")
    expected = expected + F.cross_entropy(bert.nsp_logits(states), batch.nsp_labels, reduction="sum")
    expected.backward()
    torch.testing.assert_close(losses.sum(), expected)
    for name, parameter in bert.named_parameters():
        torch.testing.assert_close(gradients[name], parameter.grad, msg=name)


def test_losses_are_those_of_transformers(tiny_bert, tmp_path):
    from transformers import BertForPreTraining

    theirs = BertForPreTraining.from_pretrained(tiny_bert.save(tmp_path / "tiny"), attn_implementation="eager").eval()
    batch = some_batch(tiny_bert)
    labels = torch.full_like(batch.batch.ids, -100).flatten()
    labels[batch.selected_positions] = batch.mlm_labels
    with torch.no_grad():
        losses, _ = PretrainingLoss(tiny_bert)(batch)
        expected = theirs(
            input_ids=batch.batch.ids,
            token_type_ids=batch.batch.segments,
            attention_mask=batch.batch.attention_mask.long(),
            labels=labels.view_as(batch.batch.ids),
            next_sentence_label=batch.nsp_labels,
        ).loss
    ours = losses[0] / len(batch.mlm_labels) + losses[1] / len(batch.nsp_labels)
    torch.testing.assert_close(ours, expected)
