"""One probe on a weighted mean of all layers: the learned weights show which layers its task needs."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

MAX_EXAMPLES = 1500
MAX_ITER = 60
PENALTY = 1e-3
MIN_GAIN = 0.005  # of accuracy from all layers over the first: with less an expected layer is not defined


class ScalarMix:
    """Softmax weights over layers learned together with a linear probe. Tenney et al. (2019), equations 1 and 2.

    weights_ (layers,) sum to one; center_of_gravity_ is the mean layer under them.
    """

    def fit(self, states: Tensor, labels: Tensor, classes: int) -> "ScalarMix":
        """States (layers, examples, features), labels (examples,); at most MAX_EXAMPLES are used."""
        states, labels = states[:, :MAX_EXAMPLES], labels[:MAX_EXAMPLES]
        # without one scale for all layers a weight would follow the norm of its layer
        self.mean_, self.scale_ = states.mean(1, keepdim=True), states.std((1, 2), keepdim=True).clamp_min(1e-6)
        flat = self._scaled(states).flatten(1)  # (layers, examples * features)
        logits = torch.zeros(len(states), requires_grad=True)
        weights = torch.zeros(classes, states.shape[-1], requires_grad=True)
        bias = torch.zeros(classes, requires_grad=True)
        optimizer = torch.optim.LBFGS([logits, weights, bias], max_iter=MAX_ITER, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            optimizer.zero_grad()
            mixed = (logits.softmax(0) @ flat).view(states.shape[1:])
            total = F.cross_entropy(F.linear(mixed, weights, bias), labels) + PENALTY / 2 * weights.square().sum()
            total.backward()
            return total

        optimizer.step(loss)
        self.weights_, self.coef_, self.intercept_ = logits.detach().softmax(0), weights.detach(), bias.detach()
        self.center_of_gravity_ = float(self.weights_ @ torch.arange(len(states), dtype=torch.float32))
        return self

    def _scaled(self, states: Tensor) -> Tensor:
        return (states - self.mean_) / self.scale_

    def predict(self, states: Tensor) -> Tensor:
        """The most probable class: (layers, examples, features) -> (examples,)."""
        mixed = (self.weights_ @ self._scaled(states).flatten(1)).view(states.shape[1:])
        return F.linear(mixed, self.coef_, self.intercept_).argmax(-1)


def resampled(states: Tensor, labels: Tensor, sentences: np.ndarray, classes: int, draws: int, seed: int) -> list[Tensor]:
    """Weights of mixes fitted to bootstrap samples of the sentences (examples,): `draws` times (layers,)."""
    states, labels, sentences = states[:, :MAX_EXAMPLES], labels[:MAX_EXAMPLES], sentences[:MAX_EXAMPLES]
    rng = np.random.default_rng(seed)
    names, sentence_of = np.unique(sentences, return_inverse=True)
    order = np.argsort(sentence_of, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(sentence_of))[:-1])
    weights = []
    for _ in range(draws):
        sample = rng.integers(len(names), size=len(names))
        rows = torch.from_numpy(np.concatenate([members[sentence] for sentence in sample]))
        weights.append(ScalarMix().fit(states[:, rows], labels[rows], classes).weights_)
    return weights


def cumulative(states: Tensor, labels: Tensor, test_states: Tensor, test_labels: Tensor, classes: int) -> list[float]:
    """Test accuracy of mixes of the first layer, the first two, and so on: (layers,). Tenney et al. (2019), 3."""
    return [
        float((ScalarMix().fit(states[:end], labels, classes).predict(test_states[:end]) == test_labels).float().mean())
        for end in range(1, len(states) + 1)
    ]


def expected_layer(layers: Sequence[int], scores: Sequence[float]) -> float | None:
    """The mean layer weighted by its gain in the cumulative scores; None where all together gain nothing.

    Tenney et al. (2019), equation 4.
    """
    gains = np.diff(np.asarray(scores, dtype=float))
    return float(np.asarray(layers[1:]) @ gains / gains.sum()) if gains.sum() > MIN_GAIN else None
