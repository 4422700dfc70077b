"""One vector for a whole sentence: the mean of its tokens, or the state of [CLS]."""

from collections.abc import Sequence

import numpy as np

import model
from model import Bert, InputError, as_texts

POOLINGS = ("mean", "cls")


def vectors(bert: Bert, texts: str | Sequence[str], layer: int, pooling: str = "mean") -> np.ndarray:
    """A vector for each text at one layer, (texts, hidden): the mean over its words, without [CLS] and [SEP], or [CLS]."""
    if pooling not in POOLINGS:
        raise InputError(f"pooling must be one of {', '.join(POOLINGS)}, not {pooling!r}.")
    encodings = [bert.tokenizer.encode(text) for text in as_texts(texts)]
    if len(encodings) < 2:
        raise InputError(f"Two sentences at least are needed to compare them, not {len(encodings)}.")
    pooled = np.empty((len(encodings), bert.config.hidden_size), np.float32)
    for row, states in model.hidden_states(bert, encodings, [layer]):
        words = [token.position for token in encodings[row].tokens if not token.is_special]
        pooled[row] = states[0, [0] if pooling == "cls" else words].mean(axis=0)
    return pooled
