"""Linear probes on all layers at once: one linear map a layer from states to labels, and what it is worth.

The penalty of each map is the one of least loss on the dev split. Alain & Bengio (2017); Hewitt & Liang (2019).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from model import InputProblem

from .logistic import Regressions

PENALTIES = (1e-1, 1e-2, 1e-3, 1e-4)  # of the mean loss, so that they mean the same for any number of examples
ROUGHLY = 5e-3  # the tolerance of the search; only the penalty that is chosen is solved to the end


class LinearProbe:
    """Softmax regression from (layers, examples, features) to one or several labellings of the same examples.

    coef_ (layers, targets, classes, features), intercept_ (layers, targets, classes), penalty_ (layers, targets).
    Every layer and labelling is searched and fitted as if it were alone.
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES):
        self.penalties = sorted(penalties, reverse=True)

    def fit(self, states: Tensor, labels: Tensor, dev_states: Tensor | None = None, dev_labels: Tensor | None = None,
            classes: int | None = None) -> "LinearProbe":
        """Labels (targets, examples) or (examples,) count from 0; the dev split chooses among several penalties."""
        labels = labels[None] if labels.ndim == 1 else labels
        size = classes or int(labels.max()) + 1
        if len(self.penalties) > 1:
            if dev_states is None or dev_labels is None:
                raise InputProblem("To choose among several penalties the probe needs a dev split.")
            dev_labels = dev_labels[None] if dev_labels.ndim == 1 else dev_labels
        weights, biases, penalties = [], [], []
        for layer, inputs in enumerate(states):
            problems = Regressions(inputs, labels, size)
            penalty, place = torch.full((len(labels),), self.penalties[0]), problems.zero
            if dev_states is not None and dev_labels is not None:
                penalty, place = self._searched(problems, dev_states[layer], dev_labels)
            coef, intercept = problems.plain(problems.solve(penalty, place, torch.arange(len(labels))))
            weights.append(coef)
            biases.append(intercept)
            penalties.append(penalty)
        self.coef_, self.intercept_, self.penalty_ = torch.stack(weights), torch.stack(biases), torch.stack(penalties)
        return self

    def refit(self, states: Tensor, labels: Tensor) -> "LinearProbe":
        """Fit again, to other examples, with the penalties chosen before."""
        for layer, inputs in enumerate(states):
            problems = Regressions(inputs, labels, self.coef_.shape[2])
            start = problems.placed(self.coef_[layer], self.intercept_[layer])
            self.coef_[layer], self.intercept_[layer] = problems.plain(
                problems.solve(self.penalty_[layer], start, torch.arange(len(labels))))
        return self

    def _searched(self, problems: Regressions, dev: Tensor, dev_labels: Tensor) -> tuple[Tensor, Tensor]:
        """The penalty of least dev loss (targets,) and its solution: from firm to loose, each as long as it gains."""
        best, place = torch.full((len(dev_labels),), torch.inf), problems.zero.clone()
        chosen = torch.full_like(best, self.penalties[0])
        going, here = torch.arange(len(dev_labels)), place
        for penalty in self.penalties:
            here = problems.solve(torch.full((len(going),), penalty), here, going, ROUGHLY)
            loss = losses(_scores(dev[None], *(part[None] for part in problems.plain(here))), dev_labels[going])[0]
            better = loss < best[going]
            going, here = going[better], here[better]
            if not len(going):
                break
            best[going], chosen[going], place[going] = loss[better], penalty, here
        return chosen, place

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
