"""What fine-tuning changed inside: the states of every layer, and where every head attends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, activations

from ..states import geometry

MAX_INPUTS = 64
MAX_TOKENS = 800  # whose states are compared


@dataclass(frozen=True)
class ModelChange:
    """Two models of one shape on the same inputs, embeddings first."""

    cka: np.ndarray  # (layers + 1,) debiased; 1 where the states say the same
    attention: np.ndarray  # (layers, heads) share of the attention that goes elsewhere, 0 to 1

    @property
    def layer(self) -> int:
        """The layer whose states are least alike."""
        return int(self.cka.argmin())

    @property
    def head(self) -> tuple[int, int]:
        """The layer and head, from 0, whose attention moved most."""
        layer, head = np.unravel_index(self.attention.argmax(), self.attention.shape)
        return int(layer), int(head)

    @property
    def mean_attention(self) -> float:
        """The share that moved, mean over all heads."""
        return float(self.attention.mean())

    def json(self) -> dict[str, list]:
        """As a result file stores it."""
        return {"cka": self.cka.round(4).tolist(), "attention": self.attention.round(4).tolist()}

    @classmethod
    def parse(cls, stored: dict[str, list]) -> "ModelChange":
        """What `json` gave."""
        return cls(np.array(stored["cka"]), np.array(stored["attention"]))


def measure(before: Bert, after: Bert, encodings: Sequence[Encoding], seed: int = 0) -> ModelChange:
    """States by CKA (Kornblith et al., 2019), attention by total variation, mean over the queries of some inputs."""
    inputs = list(encodings[:MAX_INPUTS])
    both = [dict(activations(bert, inputs, ["hidden", "attention"])) for bert in (before, after)]
    moved = [
        0.5 * np.abs(both[0][row]["attention"] - both[1][row]["attention"]).sum(-1).mean(-1) for row in range(len(inputs))
    ]  # (layers, heads) each
    states = [np.concatenate([arrays[row]["hidden"] for row in range(len(inputs))], axis=1) for arrays in both]
    tokens = np.random.default_rng(seed).permutation(states[0].shape[1])[:MAX_TOKENS]
    cka = [geometry.debiased_cka(left[tokens], right[tokens]) for left, right in zip(*states, strict=True)]
    return ModelChange(np.array(cka), np.mean(moved, axis=0))
