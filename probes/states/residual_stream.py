"""The residual stream: the norm of every state, and how much each sub-layer adds to it."""

from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, activations


@dataclass(frozen=True, repr=False)
class ResidualContributions:
    """Norms of states, and of what attention and feed-forward add, relative to the state they add it to."""

    length: np.ndarray  # (layers + 1, seq)
    attention: np.ndarray  # (layers, seq) norm of what attention adds / norm of its input
    feed_forward: np.ndarray  # (layers, seq) the same for the feed-forward network
    cosine_to_input: np.ndarray  # (layers, seq) cosine of the state before and after the layer

    def by_layer(self, part: str) -> np.ndarray:
        """A field of this answer averaged over the tokens: (layers,), of `length` (layers + 1,)."""
        return getattr(self, part).mean(axis=-1)

    def extremes(self, part: str) -> tuple[int, float, int, float]:
        """The row of `by_layer` with the smallest mean and that mean; the row with the largest and that."""
        means = self.by_layer(part)
        return int(means.argmin()), float(means.min()), int(means.argmax()), float(means.max())

    def __repr__(self) -> str:
        layers, length = self.attention.shape
        return (
            f"ResidualContributions({layers} layers, {length} tokens; relative norms: "
            f"attention {self.attention.mean():.2f}, feed-forward {self.feed_forward.mean():.2f})"
        )


def contributions(bert: Bert, encoding: Encoding) -> ResidualContributions:
    """What each sub-layer of each layer adds at each token; compare Kobayashi et al. (2021), 4.

    Layer normalisation after each sub-layer rescales the sum, so norms change little from layer to layer; the ratios
    are what differs.
    """
    names = ("hidden", "attention_output", "mlp_output")
    ((_, arrays),) = activations(bert, [encoding], names)
    hidden, attention_output, mlp_output = (arrays[name] for name in names)
    with torch.inference_mode():
        after_attention = np.stack(
            [
                layer.attention_norm(torch.from_numpy(state + output).to(bert.device)).cpu().numpy()
                for layer, state, output in zip(bert.layers, hidden, attention_output, strict=False)
            ]
        )
    length = np.linalg.norm(hidden, axis=-1)
    cosine = (hidden[:-1] * hidden[1:]).sum(axis=-1) / np.maximum(length[:-1] * length[1:], 1e-12)
    return ResidualContributions(
        length, _relative_norm(attention_output, hidden[:-1]), _relative_norm(mlp_output, after_attention), cosine
    )


def _relative_norm(added: np.ndarray, state: np.ndarray) -> np.ndarray:
    return np.linalg.norm(added, axis=-1) / np.maximum(np.linalg.norm(state, axis=-1), 1e-12)
