"""One probe on a mix of all layers: the weights it gives them say where its task is written."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

EXAMPLES = 4000
STEPS = 60
PENALTY = 1e-3
GAIN = 0.005  # of accuracy from all layers over the first: with less there is nothing whose place could be expected


class ScalarMix:
    """Softmax weights over layers learned together with a linear probe. Tenney et al. (2019), equations 1 and 2.

    weights_ (layers,) sum to one; centre_ is the mean layer under them, the centre of gravity.
    """

    def fit(self, states: Tensor, labels: Tensor, classes: int) -> "ScalarMix":
        """States (layers, examples, features), labels (examples,); at most EXAMPLES are used."""
        states, labels = states[:, :EXAMPLES], labels[:EXAMPLES]
        # without one scale for all layers a weight would say how long the vectors of a layer are
        self.mean_, self.scale_ = states.mean(1, keepdim=True), states.std((1, 2), keepdim=True).clamp_min(1e-6)
        flat = self._scaled(states).flatten(1)  # (layers, examples * features)
        mix = torch.zeros(len(states), requires_grad=True)
        weights = torch.zeros(classes, states.shape[-1], requires_grad=True)
        bias = torch.zeros(classes, requires_grad=True)
        search = torch.optim.LBFGS([mix, weights, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            mixed = (mix.softmax(0) @ flat).view(states.shape[1:])
            total = F.cross_entropy(F.linear(mixed, weights, bias), labels) + PENALTY / 2 * weights.square().sum()
            total.backward()
            return total

        search.step(loss)
        self.weights_, self.coef_, self.intercept_ = mix.detach().softmax(0), weights.detach(), bias.detach()
        self.centre_ = float(self.weights_ @ torch.arange(len(states), dtype=torch.float32))
        return self

    def _scaled(self, states: Tensor) -> Tensor:
        return (states - self.mean_) / self.scale_

    def predict(self, states: Tensor) -> Tensor:
        """The class chosen for each example: (layers, examples, features) -> (examples,)."""
        mixed = (self.weights_ @ self._scaled(states).flatten(1)).view(states.shape[1:])
        return F.linear(mixed, self.coef_, self.intercept_).argmax(-1)


def resampled(states: Tensor, labels: Tensor, groups: np.ndarray, classes: int, draws: int, seed: int) -> list[Tensor]:
    """Weights of mixes fitted to sentences drawn anew: groups (examples,) -> `draws` times (layers,)."""
    states, labels, groups = states[:, :EXAMPLES], labels[:EXAMPLES], groups[:EXAMPLES]
    lot = np.random.default_rng(seed)
    names, which = np.unique(groups, return_inverse=True)
    order = np.argsort(which, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(which))[:-1])
    weights = []
    for _ in range(draws):
        rows = torch.from_numpy(np.concatenate([members[one] for one in lot.integers(len(names), size=len(names))]))
        weights.append(ScalarMix().fit(states[:, rows], labels[rows], classes).weights_)
    return weights


def cumulative(states: Tensor, labels: Tensor, test_states: Tensor, test_labels: Tensor, classes: int) -> list[float]:
    """Test accuracy of mixes of the first layer, the first two, and so on: (layers,). Tenney et al. (2019), 3."""
    return [float((ScalarMix().fit(states[:end], labels, classes).predict(test_states[:end]) == test_labels).float().mean())
            for end in range(1, len(states) + 1)]


def expected_layer(layers: Sequence[int], scores: Sequence[float]) -> float | None:
    """The mean layer weighted by what each adds to the cumulative scores; None where all of them add nothing.

    Tenney et al. (2019), equation 4.
    """
    gains = np.diff(np.asarray(scores, dtype=float))
    return float(np.asarray(layers[1:]) @ gains / gains.sum()) if gains.sum() > GAIN else None
