"""One vector for a whole sentence: the mean of its tokens, or the state of [CLS]."""

from collections.abc import Sequence

import numpy as np

import model
from model import Bert, InputProblem

POOLINGS = ("mean", "cls")


def vectors(bert: Bert, texts: Sequence[str], layer: int, pooling: str = "mean") -> np.ndarray:
    """A vector for each sentence at one layer, (sentences, hidden); the mean is over its own tokens."""
    if pooling not in POOLINGS:
        raise InputProblem(f"Pooling is one of {', '.join(POOLINGS)}, not {pooling!r}.")
    if len(texts) < 2:
        raise InputProblem("Two sentences at least are needed to compare them: type one a line.")
    encodings = [bert.tokenizer.encode(text) for text in texts]
    pooled = np.empty((len(texts), bert.config.hidden_size), np.float32)
    for row, states in model.states(bert, encodings, [layer]):
        own = [0] if pooling == "cls" else [token.position for token in encodings[row].tokens if not token.special]
        pooled[row] = states[0, own].mean(axis=0)
    return pooled
