"""Wordpieces learned from in a second against transformers' BertForPreTraining, from the same pairs.

Once on the same batches with the same optimizer, and once as each is used: ours batched by length, as our training does it,
theirs as they come, padded to the longest of each batch, with AdamW as it comes.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining
from transformers.utils import logging

from bench import limit
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig, tokenizer
from model.pretraining import token_store
from model.pretraining.masking import MaskingStrategy
from model.pretraining.mixture import POOL, Corpus, Mixture
from model.pretraining.objective import PretrainingBatch, PretrainingLoss, pretraining_batch

BATCH, LENGTH, STEPS = 16, 128, 4
AIMS = {8_000: 1.8, 30_000: 2.5}


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for vocab_size, aim in AIMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield from _compare(vocab_size, aim, Path(folder))


def _compare(vocab_size: int, aim: float, folder: Path) -> Iterator[Row]:
    pieces = tokenizer.from_vocabulary([f"w{number}" for number in range(vocab_size - 5)])
    by_length, as_they_come = _batches(pieces, folder)
    config = BertConfig.preset("mini", vocab_size=vocab_size, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    bert = Bert.random_init(config, pieces).train().requires_grad_(True)
    theirs = BertForPreTraining.from_pretrained(bert.save(folder / "begin")).train()
    _check_losses(bert, theirs, by_length)
    name = f"training, mini 4/256, {vocab_size:,} wordpieces, {STEPS} batches of {BATCH}"
    train_ours = _ours(bert, by_length)
    products = limit.training(
        config, [(batch.batch.ids.shape[0], batch.batch.ids.shape[1], len(batch.mlm_labels)) for batch in by_length]
    )
    yield _by_wordpiece(
        compare(
            name,
            train_ours,
            _theirs(theirs, by_length, fused=True),
            "transformers",
            1.0,
            repeats=7,
            work=SAME,
            sides="both: the same batches, sorted by length, the same losses, fused AdamW, clipped gradients, float32; "
            "theirs scores the words of every token, ours those of the selected ones",
            limit=products,
        ),
        by_length,
        by_length,
    )
    yield _by_wordpiece(
        compare(
            name,
            train_ours,
            _theirs(theirs, as_they_come, fused=False),
            "transformers, as they come",
            aim,
            repeats=7,
            work=AS_USED,
            sides="ours batched by length with fused AdamW; theirs as the pairs come, padded, with AdamW as it comes",
            limit=products,
        ),
        by_length,
        as_they_come,
    )


def _batches(pieces: tokenizer.WordPiece, folder: Path) -> tuple[list[PretrainingBatch], list[PretrainingBatch]]:
    """STEPS batches as our training forms them, and as many of pairs in the order they are sampled."""
    for _ in token_store.build(_documents(pieces.vocab_size), pieces, folder / "corpus"):
        pass
    mixture = Mixture([Corpus.open(folder / "corpus", "random", 1.0, pieces)], LENGTH, BATCH, "another", 0.0, seed=0)
    pools = sorted(islice(mixture.batches(), POOL), key=lambda pairs: len(pairs[0]))
    unsorted = mixture.pair_samplers[0].sample(0, STEPS * BATCH)
    rng = np.random.default_rng(0)
    # every eighth batch stands for all of them: short and long ones
    by_length = [
        pretraining_batch(pools[index], pieces, MaskingStrategy(), rng)
        for index in range(POOL // STEPS // 2, POOL, POOL // STEPS)
    ]
    as_they_come = [
        pretraining_batch(unsorted[start : start + BATCH], pieces, MaskingStrategy(), rng)
        for start in range(0, STEPS * BATCH, BATCH)
    ]
    return by_length, as_they_come


def _documents(vocab_size: int) -> list[list[str]]:
    """Documents of random words; like articles, many short and some long."""
    rng = np.random.default_rng(0)
    return [
        [
            " ".join(f"w{word}" for word in rng.integers(vocab_size - 5, size=rng.integers(5, 40)))
            for _ in range(2 + int(rng.exponential(10)))
        ]
        for _ in range(150)
    ]


def _by_wordpiece(row: Row, ours: list[PretrainingBatch], theirs: list[PretrainingBatch]) -> Row:
    """Two sets of batches hold nearly, not exactly, as many wordpieces: what counts is wordpieces a second."""
    our_tokens, their_tokens = (
        sum(int(batch.batch.attention_mask.sum()) for batch in batches) for batches in (ours, theirs)
    )
    return replace(
        row,
        ours=row.ours / our_tokens,
        theirs=row.theirs / their_tokens,
        limit=None if row.limit is None else row.limit / our_tokens,
        note=f"per wordpiece; {our_tokens / row.ours:,.0f} against {their_tokens / row.theirs:,.0f} a second",
    )


def _mean_loss(objective: PretrainingLoss, batch: PretrainingBatch) -> torch.Tensor:
    losses, _ = objective(batch)
    return (losses / torch.tensor([len(batch.mlm_labels), len(batch.nsp_labels)])).sum()


def _check_losses(bert: Bert, theirs: BertForPreTraining, batches: Sequence[PretrainingBatch]) -> None:
    with torch.no_grad():
        for batch in batches:
            difference = _mean_loss(PretrainingLoss(bert), batch) - theirs(**_inputs(batch)).loss
            assert abs(float(difference)) < 1e-3, "the two losses are not the same"


def _ours(bert: Bert, batches: Sequence[PretrainingBatch]) -> Callable[[], None]:
    objective, optimizer = PretrainingLoss(bert), torch.optim.AdamW(bert.parameters(), lr=1e-6, fused=True)

    def steps():
        for batch in batches:
            _mean_loss(objective, batch).backward()
            torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return steps


def _inputs(batch: PretrainingBatch) -> dict[str, torch.Tensor]:
    """A batch in transformers' words; labels of -100 where nothing is selected."""
    labels = torch.full_like(batch.batch.ids, -100)
    labels.view(-1)[batch.selected_positions] = batch.mlm_labels
    return {
        "input_ids": batch.batch.ids,
        "token_type_ids": batch.batch.segments,
        "attention_mask": batch.batch.attention_mask.long(),
        "labels": labels,
        "next_sentence_label": batch.nsp_labels,
    }


def _theirs(bert: BertForPreTraining, batches: Sequence[PretrainingBatch], fused: bool) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(bert.parameters(), lr=1e-6, fused=fused or None)
    inputs = [_inputs(batch) for batch in batches]

    def steps():
        for batch in inputs:
            bert(**batch).loss.backward()
            torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return steps
