"""Linear probes on all layers at once: one linear map a layer from states to labels, and what it is worth.

The penalty of each map is the one of least loss on the dev split. Alain & Bengio (2017); Hewitt & Liang (2019).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from model import InputProblem

from .softmax import Standardised, fitted

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)  # of the mean loss, so that they mean the same for any number of examples


class LinearProbe:
    """Softmax regression from (layers, examples, features) to one or several labellings of the same examples.

    coef_ (layers, targets, classes, features), intercept_ (layers, targets, classes), penalty_ (layers, targets)
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES):
        self.penalties = sorted(penalties, reverse=True)

    def fit(self, states: Tensor, labels: Tensor, dev_states: Tensor | None = None, dev_labels: Tensor | None = None,
            classes: int | None = None) -> "LinearProbe":
        """Labels (targets, examples) or (examples,) count from 0; the dev split chooses among several penalties."""
        labels = labels[None] if labels.ndim == 1 else labels
        if len(self.penalties) > 1 and dev_states is None:
            raise InputProblem("To choose among several penalties the probe needs a dev split.")
        data = Standardised(states)
        size = classes or int(labels.max()) + 1
        best, place = None, None
        for penalty in self.penalties:
            place = fitted(data, labels, size, penalty, place)
            weights, bias = data.plain(place[..., :-1], place[..., -1])
            if dev_states is None or dev_labels is None:
                self.coef_, self.intercept_ = weights, bias
                self.penalty_ = torch.full(place.shape[:2], penalty)
                break
            loss = losses(_scores(dev_states, weights, bias), dev_labels[None] if dev_labels.ndim == 1 else dev_labels)
            if best is None:
                best, self.coef_, self.intercept_ = loss, weights, bias
                self.penalty_ = torch.full_like(loss, penalty)
                continue
            better = loss < best
            if not better.any():
                break
            best = torch.where(better, loss, best)
            self.penalty_[better] = penalty
            self.coef_[better], self.intercept_[better] = weights[better], bias[better]
        return self

    def scores(self, states: Tensor) -> Tensor:
        """(layers, examples, features) -> (layers, targets, examples, classes), before the softmax."""
        return _scores(states, self.coef_, self.intercept_)

    def predict(self, states: Tensor) -> Tensor:
        """The class each map chooses: (layers, targets, examples)."""
        return self.scores(states).argmax(-1)


def _scores(states: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    return states[:, None] @ weights.mT + bias[:, :, None]


def losses(scores: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy in nats of (layers, targets, examples, classes) against labels (targets, examples);
    examples whose label was never seen in training, -1, are left out."""
    known = labels >= 0
    logs = scores.log_softmax(-1).gather(-1, labels.clamp_min(0).expand(scores.shape[:-1])[..., None])[..., 0]
    return -(logs * known).sum(-1) / known.sum(-1).clamp_min(1)
