"""The logit lens: what the masked-word head would say, were each layer the last. nostalgebraist (2020), for BERT."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding


@dataclass(frozen=True)
class Lens:
    """The head's reading of hidden[layer] at every position, layer 0 being the embeddings."""

    words: list[list[str]]  # (layers + 1, seq) the most probable word,
    probability: np.ndarray  # (layers + 1, seq) its probability,
    true: np.ndarray  # (layers + 1, seq) the probability of the true word
    rank: np.ndarray  # (layers + 1, seq) and its rank, 0 is the most probable


def lens(bert: Bert, encoding: Encoding, true: Sequence[int]) -> Lens:
    """Read every layer at every position through the model's own head; `true` is the id to look for at each."""
    kept = []
    with torch.inference_mode():
        bert(encoding, watch=lambda name, layer, value: kept.append(value[0]) if name == "hidden" else None)
        wanted = torch.tensor(true)[:, None]
        words, rows = [], []
        for states in kept:  # one layer after the other: all of them at once would not fit for long inputs
            predicted = bert.words(states).softmax(-1)  # (seq, vocabulary)
            top = predicted.max(-1)
            own = predicted.gather(1, wanted)
            words.append([bert.tokenizer.words[index] if index < bert.tokenizer.size else "[UNK]"
                          for index in top.indices.tolist()])
            rows.append((top.values.numpy(), own[:, 0].numpy(), (predicted > own).sum(1).numpy()))
    probability, own, rank = (np.stack(part) for part in zip(*rows, strict=True))
    return Lens(words, probability, own, rank)
