"""Feed-forward neurons: the most active ones at a token, and the tokens at which one is most active."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

import model
from model import Bert, Encoding, InputError, as_texts

from .token_contexts import TokenLocations, locate


def activations(bert: Bert, encoding: Encoding) -> np.ndarray:
    """Every neuron of every layer at every token: (layers, seq, intermediate)."""
    ((_, arrays),) = model.activations(bert, [encoding], ["neurons"])
    return arrays["neurons"]


def top_neurons(layer: np.ndarray, position: int, k: int = 20) -> pd.DataFrame:
    """The k most active neurons at a token, (seq, intermediate) -> neuron, activation, elsewhere; strongest first.

    `elsewhere` is the mean of the same neuron at the other tokens, the baseline: a neuron that is always on is not
    about this token.
    """
    values = layer[position]
    others = np.delete(layer, position, axis=0)
    order = np.argsort(-values, kind="stable")[:k]
    elsewhere = others.mean(axis=0)[order] if len(others) else np.full(len(order), np.nan)
    return pd.DataFrame({"neuron": order, "activation": values[order], "elsewhere": elsewhere})


def activations_of(bert: Bert, sentences: str | Sequence[str], layer: int, neuron: int) -> tuple[TokenLocations, np.ndarray]:
    """One neuron at every token of some sentences: where the tokens stand, and its activations there, (tokens)."""
    size = bert.config.intermediate_size
    if not 0 <= neuron < size:
        raise InputError(f"There is no neuron {neuron + 1:,}: each layer of this model has {size:,}.")
    encodings = [bert.tokenizer.encode(sentence) for sentence in as_texts(sentences)]
    if not encodings:
        raise InputError("At least one sentence is needed.")
    values: list[np.ndarray] = [np.empty(0)] * len(encodings)
    for row, arrays in model.activations(bert, encodings, ["neurons"], tokens_at_once=4096, layers=[layer]):
        words = [token.position for token in encodings[row].tokens if not token.is_special]
        values[row] = arrays["neurons"][0, words, neuron]
    return locate(encodings), np.concatenate(values)


def top_tokens(bert: Bert, sentences: str | Sequence[str], layer: int, neuron: int, k: int = 20) -> pd.DataFrame:
    """The k tokens at which a neuron is most active: piece, activation, before, at, after; and `mean` over all tokens."""
    locations, values = activations_of(bert, sentences, layer, neuron)
    order = np.argsort(-values, kind="stable")[:k]
    contexts = [locations.around(token) for token in order]
    return pd.DataFrame(
        {
            "piece": [locations.texts[token] for token in order],
            "activation": values[order],
            "before": [before for before, _, _ in contexts],
            "at": [at for _, at, _ in contexts],
            "after": [after for _, _, after in contexts],
            "mean": values.mean(),
        }
    )
