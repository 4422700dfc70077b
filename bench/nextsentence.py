"""The matrix of a document, all pairs of 40 sentences, against a loop of single pairs in transformers."""

import random
import tempfile
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer, BertForNextSentencePrediction
from transformers.utils import logging

import model
from bench.timing import Row, compare
from model import smallworld
from probes import nextsentence, order

SENTENCES = 40


def rows() -> Iterator[Row]:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    bert = model.load("english")
    told = [sentence.text for story in smallworld.stories(3, 60) for sentence in story.sentences]
    sentences = random.Random(0).sample(list(dict.fromkeys(told)), SENTENCES)
    with tempfile.TemporaryDirectory() as folder:
        saved = bert.save(Path(folder) / "english")
        theirs = BertForNextSentencePrediction.from_pretrained(saved).eval()
        cut = AutoTokenizer.from_pretrained(saved)

    def mine():
        return nextsentence.probabilities(order.matrix(bert, sentences))

    def loop(pairs: list[tuple[str, str]]):
        with torch.inference_mode():
            return [float(theirs(**cut(a, b, return_tensors="pt")).logits.softmax(-1)[0, 0]) for a, b in pairs]

    every = list(permutations(sentences, 2))
    np.testing.assert_allclose(mine()[~np.eye(SENTENCES, dtype=bool)][:100], loop(every[:100]), atol=1e-5)
    yield compare(f"document matrix, {SENTENCES} sentences, {len(every):,} pairs", mine, lambda: loop(every),
                  "transformers, pair by pair", 2.0, repeats=3)
