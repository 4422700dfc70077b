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
    texts = [sentence.text for story in smallworld.stories(3, 60) for sentence in story.sentences]
    sentences = random.Random(0).sample(list(dict.fromkeys(texts)), SENTENCES)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = bert.save(Path(folder) / "english")
        theirs = BertForNextSentencePrediction.from_pretrained(checkpoint).eval()
        tokenizer = AutoTokenizer.from_pretrained(checkpoint)

    def ours() -> np.ndarray:
        return nextsentence.to_probability(sentence_order.matrix(bert, sentences))

    def one_by_one(pairs: list[tuple[str, str]]) -> list[float]:
        with torch.inference_mode():
            return [float(theirs(**tokenizer(a, b, return_tensors="pt")).logits.softmax(-1)[0, 0]) for a, b in pairs]

    pairs = list(permutations(sentences, 2))

    def in_batches() -> np.ndarray:
        """Pairs of similar length together, as ours."""
        inputs = tokenizer([a for a, _ in pairs], [b for _, b in pairs])
        by_length = sorted(range(len(pairs)), key=lambda index: len(inputs["input_ids"][index]))
        probabilities = np.empty(len(pairs))
        with torch.inference_mode():
            for start in range(0, len(pairs), BATCH):
                indices = by_length[start : start + BATCH]
                batch = {name: [values[index] for index in indices] for name, values in inputs.items()}
                padded = tokenizer.pad(batch, return_tensors="pt")
                probabilities[indices] = theirs(**padded).logits.softmax(-1)[:, 0]
        return probabilities

    matrix = ours()[~np.eye(SENTENCES, dtype=bool)]
    np.testing.assert_allclose(matrix[:100], one_by_one(pairs[:100]), atol=1e-5)
    np.testing.assert_allclose(matrix, in_batches(), atol=1e-5)
    name = f"document matrix, {SENTENCES} sentences, {len(pairs):,} pairs"
    yield compare(
        name,
        ours,
        in_batches,
        f"transformers, batches of {BATCH}",
        1.0,
        repeats=3,
        work=SAME,
        sides="both: every pair once, from text, in batches of similar length",
    )
    yield compare(
        name,
        ours,
        lambda: one_by_one(pairs),
        "transformers, pair by pair",
        2.0,
        repeats=3,
        work=AS_USED,
        sides="ours in batches of similar length, theirs one pair after the other",
    )
