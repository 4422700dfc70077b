"""The length of every state and how much each sub-layer writes into it."""

from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, activations


@dataclass(frozen=True)
class Writes:
    """Lengths of states, and of what attention and feed-forward add, relative to the state they add it to."""

    length: np.ndarray  # (layers + 1, seq)
    attention: np.ndarray  # (layers, seq) length of what attention adds / length of its input
    feed_forward: np.ndarray  # (layers, seq) the same for the feed-forward network
    turn: np.ndarray  # (layers, seq) cosine of the state before and after the layer


def writes(bert: Bert, encoding: Encoding) -> Writes:
    """How far each sub-layer of each layer moves each token; compare Kobayashi et al. (2021), 4.

    The norms after each sub-layer rescale the sum, so lengths stay near one another and the ratios tell the story.
    """
    found = activations(bert, encoding, ("hidden", "attended", "written"))
    hidden, attended, written = found["hidden"], found["attended"], found["written"]
    with torch.inference_mode():
        middle = np.stack([layer.attention_norm(torch.from_numpy(hidden[index] + attended[index])).numpy()
                           for index, layer in enumerate(bert.layers)])
    length = np.linalg.norm(hidden, axis=-1)
    turn = (hidden[:-1] * hidden[1:]).sum(axis=-1) / np.maximum(length[:-1] * length[1:], 1e-12)
    return Writes(length, _ratio(attended, hidden[:-1]), _ratio(written, middle), turn)


def _ratio(added: np.ndarray, onto: np.ndarray) -> np.ndarray:
    return np.linalg.norm(added, axis=-1) / np.maximum(np.linalg.norm(onto, axis=-1), 1e-12)
