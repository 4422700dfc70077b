"""Wordpieces learned from in a second: our training step against transformers' BertForPreTraining, same data and AdamW."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from transformers import BertForPreTraining
from transformers.utils import logging

from bench.timing import Row, compare
from model import Bert, BertConfig, store, tokenizer
from model.masking import Mix
from model.objective import Objective, Task, task
from model.pairs import Pairs, batches
from model.store import Store

BATCH, LENGTH = 16, 128
AIMS = {8_000: 1.8, 30_000: 2.5}


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for vocabulary, aim in AIMS.items():
        with tempfile.TemporaryDirectory() as folder:
            yield _trained(vocabulary, aim, Path(folder))


def _trained(vocabulary: int, aim: float, folder: Path) -> Row:
    pieces = tokenizer.from_words([f"w{number}" for number in range(vocabulary - 5)])
    given = _batch(pieces, folder)
    ours = Bert.random(BertConfig.preset("mini", vocab_size=vocabulary, hidden_dropout_prob=0.0,
                                         attention_probs_dropout_prob=0.0), pieces).train().requires_grad_(True)
    theirs = BertForPreTraining.from_pretrained(ours.save(folder / "begin")).train()
    tokens = int(given.batch.mask.sum())
    row = compare(f"training step, mini 4/256, {vocabulary:,} wordpieces, batch {BATCH}", _ours(ours, given),
                  _theirs(theirs, given), "transformers", aim)
    return Row(row.name, row.against, row.ours, row.theirs, row.aim,
               f"{tokens / row.ours:,.0f} against {tokens / row.theirs:,.0f} tokens/s")


def _batch(pieces: tokenizer.WordPiece, folder: Path) -> Task:
    """Pairs from documents of random words, padded as training pads them."""
    generator = np.random.default_rng(0)
    documents = [[" ".join(f"w{word}" for word in generator.integers(pieces.size - 5, size=generator.integers(8, 30)))
                  for _ in range(30)] for _ in range(60)]
    for _ in store.build(documents, pieces, folder / "corpus"):
        pass
    drawn = max((batch for batch, _ in zip(batches(Pairs(Store(folder / "corpus" / "train"), LENGTH), BATCH), range(32),
                                           strict=False)), key=lambda batch: sum(map(len, batch)))
    return task(drawn, pieces, Mix(), generator)


def _ours(bert: Bert, given: Task):
    objective, optimizer = Objective(bert), torch.optim.AdamW(bert.parameters(), lr=1e-6, fused=True)
    counts = torch.tensor([len(given.words), len(given.labels)])

    def step():
        losses, _ = objective(given)
        loss = (losses / counts).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()
    return step


def _theirs(bert: BertForPreTraining, given: Task):
    """As their own examples train: labels of -100 where nothing is asked, the mask as numbers, AdamW as it comes."""
    optimizer = torch.optim.AdamW(bert.parameters(), lr=1e-6)
    labels = torch.full_like(given.batch.ids, -100).flatten()
    labels[given.places] = given.words
    labels = labels.view_as(given.batch.ids)

    def step():
        loss = bert(input_ids=given.batch.ids, token_type_ids=given.batch.segments,
                    attention_mask=given.batch.mask.long(), labels=labels, next_sentence_label=given.labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(bert.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.item()
    return step
