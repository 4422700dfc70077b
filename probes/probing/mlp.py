"""Probes of two maps, to compare the linear one with: of limited rank, or with a hidden layer."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .linear import cross_entropy

EPOCHS = 12
MIN_STEPS = 500  # where there are few examples
BATCH_SIZE = 256
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-5


class MLPProbe:
    """States -> `hidden_size` numbers -> labels; a ReLU between where `nonlinear`, else a linear map of that rank.

    layers_ [(weights (layers, targets, hidden_size, features), bias), (weights (layers, targets, classes, hidden_size),
    bias)]. Hewitt & Liang (2019), 4: rank and a hidden layer change selectivity far more than accuracy.
    """

    def __init__(self, hidden_size: int, nonlinear: bool, seed: int = 0):
        self.hidden_size, self.nonlinear, self.seed = hidden_size, nonlinear, seed

    def fit(self, states: Tensor, labels: Tensor, dev_states: Tensor, dev_labels: Tensor, classes: int) -> "MLPProbe":
        """Adam; the weights of the epoch of least loss on the dev split, for each layer and target by itself."""
        layers, count, features = states.shape
        mean, std = states.mean(1, keepdim=True), states.std(1, keepdim=True).clamp_min(1e-6)
        states = (states - mean) / std
        generator = torch.Generator().manual_seed(self.seed)

        def initial(rows: int, columns: int) -> Tensor:
            """The same for every layer and target: the start of one must not depend on how many there are."""
            start = torch.randn(rows, columns, generator=generator) / columns**0.5
            return start.repeat(layers, len(labels), 1, 1).requires_grad_()

        parameters = [
            initial(self.hidden_size, features),
            torch.zeros(layers, len(labels), self.hidden_size, requires_grad=True),
            initial(classes, self.hidden_size),
            torch.zeros(layers, len(labels), classes, requires_grad=True),
        ]
        optimizer = torch.optim.Adam(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        best_loss = torch.full((layers, len(labels)), torch.inf)
        best_weights = [parameter.detach().clone() for parameter in parameters]
        for _ in range(max(EPOCHS, MIN_STEPS * BATCH_SIZE // count)):
            for rows in torch.randperm(count, generator=generator).split(BATCH_SIZE):
                scores = self._forward(states[:, rows], parameters)
                gold = labels[:, rows].expand(layers, -1, -1)
                optimizer.zero_grad()
                # summed over layers and targets: each is a problem of its own
                (F.cross_entropy(scores.flatten(0, 2), gold.flatten()) * layers * len(labels)).backward()
                optimizer.step()
            with torch.no_grad():
                loss = cross_entropy(self._forward((dev_states - mean) / std, parameters), dev_labels)
                improved = loss < best_loss
                best_loss = torch.where(improved, loss, best_loss)
                for best, parameter in zip(best_weights, parameters, strict=True):
                    best[improved] = parameter[improved]
        first, first_bias, second, second_bias = best_weights
        first = first / std[:, None]
        self.layers_ = [(first, first_bias - (first @ mean[:, None].mT)[..., 0]), (second, second_bias)]
        return self

    def _forward(self, states: Tensor, parameters: list[Tensor]) -> Tensor:
        first, first_bias, second, second_bias = parameters
        hidden = states[:, None] @ first.mT + first_bias[:, :, None]
        return (hidden.relu() if self.nonlinear else hidden) @ second.mT + second_bias[:, :, None]

    def decision_function(self, states: Tensor) -> Tensor:
        """(layers, examples, features) -> (layers, targets, examples, classes), before the softmax."""
        return self._forward(states, [parameter for layer in self.layers_ for parameter in layer])

    def predict(self, states: Tensor) -> Tensor:
        """The most probable class: (layers, targets, examples)."""
        return self.decision_function(states).argmax(-1)
