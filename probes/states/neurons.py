"""Feed-forward neurons: which fire at a token, and which tokens make one fire."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from torch import Tensor

import model
from model import Bert, Encoding, InputProblem

from .token_contexts import Places, places


def activations(bert: Bert, encoding: Encoding) -> np.ndarray:
    """What every neuron of every layer says at every token: (layers, seq, intermediate)."""
    return model.activations(bert, encoding, ("neurons",))["neurons"]


def strongest(layer: np.ndarray, position: int, k: int = 20) -> pd.DataFrame:
    """The k neurons that fire most at a token, (seq, intermediate) -> neuron, activation, elsewhere; strongest first.

    `elsewhere` is the mean of the same neuron at the other tokens: a neuron that is always on says nothing of this one.
    """
    here = layer[position]
    others = np.delete(layer, position, axis=0)
    order = np.argsort(-here, kind="stable")[:k]
    elsewhere = others.mean(axis=0)[order] if len(others) else np.full(len(order), np.nan)
    return pd.DataFrame({"neuron": order, "activation": here[order], "elsewhere": elsewhere})


def responses(bert: Bert, sentences: Sequence[str], layer: int, neuron: int) -> tuple[Places, np.ndarray]:
    """Where one neuron was watched, and what it said at each token there: (tokens)."""
    size = bert.config.intermediate_size
    if not 0 <= neuron < size:
        raise InputProblem(f"This model has {size:,} neurons in each layer: choose one from 1 to {size:,}.")
    if not sentences:
        raise InputProblem("There is no sentence to read: type one a line.")
    encodings = [bert.tokenizer.encode(sentence) for sentence in sentences]
    heard: list[np.ndarray] = [np.empty(0)] * len(encodings)
    for rows in model.alike(encodings):
        kept: list[Tensor] = []

        def watch(name: str, at: int, value: Tensor, kept: list[Tensor] = kept) -> None:
            if name == "neurons" and at == layer:
                kept.append(value[:, :, neuron].clone())

        with torch.inference_mode():
            bert([encodings[row] for row in rows], None, watch)
        for place, row in enumerate(rows):
            own = [token.position for token in encodings[row].tokens if not token.special]
            heard[row] = kept[0][place, own].numpy()
    return places(encodings), np.concatenate(heard)


def exciters(bert: Bert, sentences: Sequence[str], layer: int, neuron: int, k: int = 20) -> pd.DataFrame:
    """The k tokens that excite a neuron most: piece, activation, before, at, after; and `mean` over all tokens."""
    where, heard = responses(bert, sentences, layer, neuron)
    order = np.argsort(-heard, kind="stable")[:k]
    around = [where.around(token) for token in order]
    return pd.DataFrame({"piece": [where.texts[token] for token in order], "activation": heard[order],
                         "before": [a for a, _, _ in around], "at": [b for _, b, _ in around],
                         "after": [c for _, _, c in around], "mean": heard.mean()})
