"""One probe on a mix of all layers: the weights it gives them say where its task is written."""

import torch
import torch.nn.functional as F
from torch import Tensor

EXAMPLES = 8000
STEPS = 60
PENALTY = 1e-3


class ScalarMix:
    """Softmax weights over layers learned together with a linear probe. Tenney et al. (2019), equations 1 and 2.

    weights_ (layers,) sum to one; centre_ is the mean layer under them, the centre of gravity.
    """

    def fit(self, states: Tensor, labels: Tensor, classes: int) -> "ScalarMix":
        """States (layers, examples, features), labels (examples,); at most EXAMPLES are used."""
        states, labels = states[:, :EXAMPLES], labels[:EXAMPLES]
        # without one scale for all layers a weight would say how long the vectors of a layer are
        states = (states - states.mean(1, keepdim=True)) / states.std((1, 2), keepdim=True).clamp_min(1e-6)
        mix = torch.zeros(len(states), requires_grad=True)
        weights = torch.zeros(classes, states.shape[-1], requires_grad=True)
        bias = torch.zeros(classes, requires_grad=True)
        search = torch.optim.LBFGS([mix, weights, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            search.zero_grad()
            mixed = (mix.softmax(0)[:, None, None] * states).sum(0)
            total = F.cross_entropy(F.linear(mixed, weights, bias), labels) + PENALTY / 2 * weights.square().sum()
            total.backward()
            return total

        search.step(loss)
        self.weights_ = mix.detach().softmax(0)
        self.centre_ = float(self.weights_ @ torch.arange(len(states), dtype=torch.float32))
        return self
