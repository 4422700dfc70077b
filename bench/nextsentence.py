"""The matrix of a document, all pairs of 40 sentences, against transformers in sorted batches and pair by pair."""

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
from bench.timing import AS_USED, SAME, Row, compare
from model import smallworld
from probes import nextsentence
from probes.nextsentence import sentence_order

SENTENCES = 40
BATCH = 64


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
        return nextsentence.probabilities(sentence_order.matrix(bert, sentences))

    def loop(pairs: list[tuple[str, str]]):
        with torch.inference_mode():
            return [float(theirs(**cut(a, b, return_tensors="pt")).logits.softmax(-1)[0, 0]) for a, b in pairs]

    every = list(permutations(sentences, 2))

    def in_batches() -> np.ndarray:
        """Pairs of similar length together, as ours."""
        inputs = cut([a for a, _ in every], [b for _, b in every])
        order_ = sorted(range(len(every)), key=lambda at: len(inputs["input_ids"][at]))
        shares = np.empty(len(every))
        with torch.inference_mode():
            for start in range(0, len(every), BATCH):
                rows_ = order_[start: start + BATCH]
                chosen = {name: [values[at] for at in rows_] for name, values in inputs.items()}
                padded = cut.pad(chosen, return_tensors="pt")
                shares[rows_] = theirs(**padded).logits.softmax(-1)[:, 0]
        return shares

    expected = mine()[~np.eye(SENTENCES, dtype=bool)]
    np.testing.assert_allclose(expected[:100], loop(every[:100]), atol=1e-5)
    np.testing.assert_allclose(expected, in_batches(), atol=1e-5)
    name = f"document matrix, {SENTENCES} sentences, {len(every):,} pairs"
    yield compare(name, mine, in_batches, f"transformers, batches of {BATCH}", 1.0, repeats=3, work=SAME,
                  sides="both: every pair once, from text, in batches of similar length")
    yield compare(name, mine, lambda: loop(every), "transformers, pair by pair", 2.0, repeats=3, work=AS_USED,
                  sides="ours in batches of similar length, theirs one pair after the other")
