"""Wordpieces learned from in a second against transformers' BertForPreTraining: the same pairs, batch and AdamW.

Ours are batched as our training batches them, by length; theirs as they come, padded to the longest of each batch.
"""

import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining
from transformers.utils import logging

from bench.timing import Row, compare
from model import Bert, BertConfig, store, tokenizer
from model.masking import Mix
from model.objective import Objective, Task, task
from model.pairs import POOL, Pairs, batches
from model.store import Store

BATCH, LENGTH, STEPS = 16, 128, 4
AIMS = {8_000: 1.8, 30_000: 2.5}


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for vocabulary, aim in AIMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield _trained(vocabulary, aim, Path(folder))


def _trained(vocabulary: int, aim: float, folder: Path) -> Row:
    pieces = tokenizer.from_words([f"w{number}" for number in range(vocabulary - 5)])
    pairs = _pairs(pieces, folder)
    generator = np.random.default_rng(0)
    sorted_, unsorted = list(islice(batches(pairs, BATCH), POOL)), pairs.stretch(0, POOL * BATCH)
    # every eighth batch stands for all of them: short and long ones
    ours = [task(sorted(sorted_, key=lambda batch: len(batch[0]))[at], pieces, Mix(), generator)
            for at in range(POOL // STEPS // 2, POOL, POOL // STEPS)]
    theirs = [task(unsorted[at * BATCH: (at + 1) * BATCH], pieces, Mix(), generator) for at in range(STEPS)]
    bert = Bert.random(BertConfig.preset("mini", vocab_size=vocabulary, hidden_dropout_prob=0.0,
                                         attention_probs_dropout_prob=0.0), pieces).train().requires_grad_(True)
    other = BertForPreTraining.from_pretrained(bert.save(folder / "begin")).train()
    row = compare(f"training, mini 4/256, {vocabulary:,} wordpieces, {STEPS} batches of {BATCH}", _ours(bert, ours),
                  _theirs(other, theirs), "transformers", repeats=7)
    # the two sets of batches hold nearly, not exactly, as many wordpieces: what counts is wordpieces a second
    read, read_by_them = (sum(int(given.batch.mask.sum()) for given in tasks) for tasks in (ours, theirs))
    return Row(row.name, row.against, row.ours / read, row.theirs / read_by_them, aim,
               f"per wordpiece; {read / row.ours:,.0f} against {read_by_them / row.theirs:,.0f} tokens/s")


def _pairs(pieces: tokenizer.WordPiece, folder: Path) -> Pairs:
    """Documents of random words; like articles, many short and some long."""
    generator = np.random.default_rng(0)
    documents = [[" ".join(f"w{word}" for word in generator.integers(pieces.size - 5, size=generator.integers(5, 40)))
                  for _ in range(2 + int(generator.exponential(10)))] for _ in range(150)]
    for _ in store.build(documents, pieces, folder / "corpus"):
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


def _theirs(bert: BertForPreTraining, tasks: list[Task]) -> Callable[[], None]:
    """As their own examples train: labels of -100 where nothing is asked, AdamW as it comes."""
    optimizer = torch.optim.AdamW(bert.parameters(), lr=1e-6)
    inputs = []
    for given in tasks:
        labels = torch.full_like(given.batch.ids, -100)
        labels.view(-1)[given.places] = given.words
        inputs.append({"input_ids": given.batch.ids, "token_type_ids": given.batch.segments,
                       "attention_mask": given.batch.mask.long(), "labels": labels,
                       "next_sentence_label": given.labels})

    def steps():
        for given in inputs:
            bert(**given).loss.backward()
            torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return steps
