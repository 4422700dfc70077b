"""Wordpieces learned from in a second against transformers' BertForPreTraining, from the same pairs.

Once on the same batches with the same optimizer, and once as each is used: ours batched by length, as our training does it,
theirs as they come, padded to the longest of each batch, with AdamW as it comes.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining
from transformers.utils import logging

from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig, tokenizer
from model.pretraining import token_store
from model.pretraining.masking import Mix
from model.pretraining.objective import Objective, Task, task
from model.pretraining.sentence_pairs import POOL, Pairs, batches
from model.pretraining.token_store import Store

BATCH, LENGTH, STEPS = 16, 128, 4
AIMS = {8_000: 1.8, 30_000: 2.5}


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for vocabulary, aim in AIMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield from _trained(vocabulary, aim, Path(folder))


def _trained(vocabulary: int, aim: float, folder: Path) -> Iterator[Row]:
    pieces = tokenizer.from_words([f"w{number}" for number in range(vocabulary - 5)])
    pairs = _pairs(pieces, folder)
    generator = np.random.default_rng(0)
    sorted_, unsorted = list(islice(batches(pairs, BATCH), POOL)), pairs.stretch(0, POOL * BATCH)
    # every eighth batch stands for all of them: short and long ones
    by_length = [task(sorted(sorted_, key=lambda batch: len(batch[0]))[at], pieces, Mix(), generator)
                 for at in range(POOL // STEPS // 2, POOL, POOL // STEPS)]
    as_they_come = [task(unsorted[at * BATCH: (at + 1) * BATCH], pieces, Mix(), generator) for at in range(STEPS)]
    bert = Bert.random(BertConfig.preset("mini", vocab_size=vocabulary, hidden_dropout_prob=0.0,
                                         attention_probs_dropout_prob=0.0), pieces).train().requires_grad_(True)
    other = BertForPreTraining.from_pretrained(bert.save(folder / "begin")).train()
    _check_losses(bert, other, by_length)
    name = f"training, mini 4/256, {vocabulary:,} wordpieces, {STEPS} batches of {BATCH}"
    ours = _ours(bert, by_length)
    yield _by_wordpiece(compare(
        name, ours, _theirs(other, by_length, fused=True), "transformers", 1.0, repeats=7, work=SAME,
        sides="both: the same batches, sorted by length, the same losses, fused AdamW, clipped gradients, float32; theirs "
              "scores the words of every token, ours those of the chosen ones"), by_length, by_length)
    yield _by_wordpiece(compare(
        name, ours, _theirs(other, as_they_come, fused=False), "transformers, as they come", aim, repeats=7, work=AS_USED,
        sides="ours batched by length with fused AdamW; theirs as the pairs come, padded, with AdamW as it comes"),
        by_length, as_they_come)


def _by_wordpiece(row: Row, ours: list[Task], theirs: list[Task]) -> Row:
    """Two sets of batches hold nearly, not exactly, as many wordpieces: what counts is wordpieces a second."""
    read, read_by_them = (sum(int(given.batch.mask.sum()) for given in tasks) for tasks in (ours, theirs))
    return replace(row, ours=row.ours / read, theirs=row.theirs / read_by_them,
                   note=f"per wordpiece; {read / row.ours:,.0f} against {read_by_them / row.theirs:,.0f} a second")


def _check_losses(bert: Bert, other: BertForPreTraining, tasks: list[Task]) -> None:
    with torch.no_grad():
        for given in tasks:
            losses, _ = Objective(bert)(given)
            mine = float((losses / torch.tensor([len(given.words), len(given.labels)])).sum())
            assert abs(mine - float(other(**_inputs(given)).loss)) < 1e-3, "the two losses are not the same"


def _pairs(pieces: tokenizer.WordPiece, folder: Path) -> Pairs:
    """Documents of random words; like articles, many short and some long."""
    generator = np.random.default_rng(0)
    documents = [[" ".join(f"w{word}" for word in generator.integers(pieces.size - 5, size=generator.integers(5, 40)))
                  for _ in range(2 + int(generator.exponential(10)))] for _ in range(150)]
    for _ in token_store.build(documents, pieces, folder / "corpus"):
        pass
    return Pairs(Store(folder / "corpus" / "train"), LENGTH)


def _ours(bert: Bert, tasks: list[Task]) -> Callable[[], None]:
    objective, optimizer = Objective(bert), torch.optim.AdamW(bert.parameters(), lr=1e-6, fused=True)

    def steps():
        for given in tasks:
            losses, _ = objective(given)
            (losses / torch.tensor([len(given.words), len(given.labels)])).sum().backward()
            torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return steps


def _inputs(given: Task) -> dict[str, torch.Tensor]:
    """Labels of -100 where nothing is asked."""
    labels = torch.full_like(given.batch.ids, -100)
    labels.view(-1)[given.places] = given.words
    return {"input_ids": given.batch.ids, "token_type_ids": given.batch.segments,
            "attention_mask": given.batch.mask.long(), "labels": labels, "next_sentence_label": given.labels}


def _theirs(bert: BertForPreTraining, tasks: list[Task], fused: bool) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(bert.parameters(), lr=1e-6, fused=fused or None)
    inputs = [_inputs(given) for given in tasks]

    def steps():
        for given in inputs:
            bert(**given).loss.backward()
            torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return steps
