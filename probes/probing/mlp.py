"""Probes of two maps, to compare the linear one with: rank-limited without a bend between them, else a hidden layer."""

import torch
import torch.nn.functional as F
from torch import Tensor

from .linear import losses

EPOCHS = 12
STEPS = 500  # at least, where there are few examples
BATCH = 256
RATE = 2e-3


class TwoLayerProbe:
    """States -> `width` numbers -> labels; with `bend` a ReLU stands between, without it the map is linear of low rank.

    maps_ [(weights (layers, targets, width, features), bias), (weights (layers, targets, classes, width), bias)]
    Hewitt & Liang (2019), 4: rank and a hidden layer change selectivity far more than accuracy.
    """

    def __init__(self, width: int, bend: bool, seed: int = 0):
        self.width, self.bend, self.seed = width, bend, seed

    def fit(self, states: Tensor, labels: Tensor, dev_states: Tensor, dev_labels: Tensor, classes: int
            ) -> "TwoLayerProbe":
        """Adam on batches drawn by lot; the epoch of least loss on the dev split is kept, for each layer and target."""
        layers, count, features = states.shape
        mean, spread = states.mean(1, keepdim=True), states.std(1, keepdim=True).clamp_min(1e-6)
        states = (states - mean) / spread
        lot = torch.Generator().manual_seed(self.seed)

        def drawn(rows: int, columns: int) -> Tensor:
            """The same start for every layer and target: what one draws must not hang on how many there are."""
            start = torch.randn(rows, columns, generator=lot) / columns**0.5
            return start.repeat(layers, len(labels), 1, 1).requires_grad_()

        learned = [drawn(self.width, features), torch.zeros(layers, len(labels), self.width, requires_grad=True),
                   drawn(classes, self.width), torch.zeros(layers, len(labels), classes, requires_grad=True)]
        adam = torch.optim.Adam(learned, lr=RATE, weight_decay=1e-5)
        best = torch.full((layers, len(labels)), torch.inf)
        kept = [part.detach().clone() for part in learned]
        for _ in range(max(EPOCHS, STEPS * BATCH // count)):
            order = torch.randperm(count, generator=lot)
            for some in order.split(BATCH):
                scores = self._applied(states[:, some], learned)
                right = labels[:, some].expand(layers, -1, -1)
                adam.zero_grad()
                # summed over layers and targets: each is a problem of its own
                (F.cross_entropy(scores.flatten(0, 2), right.flatten()) * layers * len(labels)).backward()
                adam.step()
            with torch.no_grad():
                loss = losses(self._applied((dev_states - mean) / spread, learned), dev_labels)
                better = loss < best
                best = torch.where(better, loss, best)
                for old, new in zip(kept, learned, strict=True):
                    old[better] = new[better]
        first, offset, second, last = kept
        first = first / spread[:, None]
        self.maps_ = [(first, offset - (first @ mean[:, None].mT)[..., 0]), (second, last)]
        return self

    def _applied(self, states: Tensor, learned: list[Tensor]) -> Tensor:
        first, offset, second, last = learned
        inner = states[:, None] @ first.mT + offset[:, :, None]
        return (inner.relu() if self.bend else inner) @ second.mT + last[:, :, None]

    def scores(self, states: Tensor) -> Tensor:
        """(layers, examples, features) -> (layers, targets, examples, classes), before the softmax."""
        return self._applied(states, [part for pair in self.maps_ for part in pair])

    def predict(self, states: Tensor) -> Tensor:
        """The class each probe chooses: (layers, targets, examples)."""
        return self.scores(states).argmax(-1)
