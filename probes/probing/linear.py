"""Linear probes on all layers at once: one softmax regression a layer from states to labels.

The penalty of each is the one of least loss on the dev split. Alain & Bengio (2017); Hewitt & Liang (2019).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from model import InputError

from .logistic import Regressions

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)  # beside the mean loss, so that they mean the same for any number of examples
SEARCH_TOLERANCE = 5e-3  # of the search; only the chosen penalty is solved to the tolerance of `logistic`


class LinearProbe:
    """Softmax regression from (layers, examples, features) to one or several labellings of the same examples.

    coef_ (layers, targets, classes, features), intercept_ (layers, targets, classes), penalty_ (layers, targets).
    Every layer and labelling is searched and fitted as if it were alone.
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES):
        self.penalties = sorted(penalties, reverse=True)

    def fit(
        self,
        states: Tensor,
        labels: Tensor,
        dev_states: Tensor | None = None,
        dev_labels: Tensor | None = None,
        classes: int | None = None,
    ) -> "LinearProbe":
        """Labels (targets, examples) or (examples,) count from 0; the dev split chooses among several penalties."""
        labels = labels[None] if labels.ndim == 1 else labels
        n_classes = classes or int(labels.max()) + 1
        if len(self.penalties) > 1:
            if dev_states is None or dev_labels is None:
                raise InputError("To choose among several penalties the probe needs a dev split.")
            dev_labels = dev_labels[None] if dev_labels.ndim == 1 else dev_labels
        weights, biases, penalties = [], [], []
        for layer, inputs in enumerate(states):
            problems = Regressions(inputs, labels, n_classes)
            penalty, start = torch.full((len(labels),), self.penalties[0]), problems.zero
            if dev_states is not None and dev_labels is not None:
                penalty, start = self._search_penalty(problems, dev_states[layer], dev_labels)
            coef, intercept = problems.unscale(problems.solve(penalty, start, torch.arange(len(labels))))
            weights.append(coef)
            biases.append(intercept)
            penalties.append(penalty)
        self.coef_, self.intercept_, self.penalty_ = torch.stack(weights), torch.stack(biases), torch.stack(penalties)
        return self

    def refit(self, states: Tensor, labels: Tensor) -> "LinearProbe":
        """Fit to other examples, with the penalties of the last `fit`."""
        for layer, inputs in enumerate(states):
            problems = Regressions(inputs, labels, self.coef_.shape[2])
            start = problems.scale(self.coef_[layer], self.intercept_[layer])
            self.coef_[layer], self.intercept_[layer] = problems.unscale(
                problems.solve(self.penalty_[layer], start, torch.arange(len(labels)))
            )
        return self

    def _search_penalty(self, problems: Regressions, dev: Tensor, dev_labels: Tensor) -> tuple[Tensor, Tensor]:
        """The penalty of least dev loss (targets,) and its solution: from strong to weak, each target while it improves."""
        best_loss, best_parameters = torch.full((len(dev_labels),), torch.inf), problems.zero.clone()
        best_penalty = torch.full_like(best_loss, self.penalties[0])
        active, parameters = torch.arange(len(dev_labels)), best_parameters
        for penalty in self.penalties:
            parameters = problems.solve(torch.full((len(active),), penalty), parameters, active, SEARCH_TOLERANCE)
            scores = _scores(dev[None], *(part[None] for part in problems.unscale(parameters)))
            loss = cross_entropy(scores, dev_labels[active])[0]
            improved = loss < best_loss[active]
            active, parameters = active[improved], parameters[improved]
            if not len(active):
                break
            best_loss[active], best_penalty[active], best_parameters[active] = loss[improved], penalty, parameters
        return best_penalty, best_parameters

    def decision_function(self, states: Tensor) -> Tensor:
        """(layers, examples, features) -> (layers, targets, examples, classes), before the softmax."""
        return _scores(states, self.coef_, self.intercept_)

    def predict(self, states: Tensor) -> Tensor:
        """The most probable class: (layers, targets, examples)."""
        return self.decision_function(states).argmax(-1)


def _scores(states: Tensor, weights: Tensor, bias: Tensor) -> Tensor:
    return states[:, None] @ weights.mT + bias[:, :, None]


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy in nats of (layers, targets, examples, classes) against labels (targets, examples);
    examples whose label training never saw, -1, are left out."""
    known = labels >= 0
    log_probs = scores.log_softmax(-1).gather(-1, labels.clamp_min(0).expand(scores.shape[:-1])[..., None])[..., 0]
    return -(log_probs * known).sum(-1) / known.sum(-1).clamp_min(1)
