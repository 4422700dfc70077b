"""Many multinomial logistic regressions at once: convex, and the same numbers every time.

Every layer is a problem of its own, and so is every target (a task, its control); targets of a layer share their
matrix products. L-BFGS starts from a solution on some of the examples and measures its steps by the covariance of
the inputs: about thirty looks at the data instead of the two hundred it needs from zero and without a measure.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

MEMORY = 10  # pairs of steps L-BFGS remembers
SETTLED = 0.025  # a problem is solved when its loss fell by less than this share in the last PATIENCE steps
PATIENCE = 5
SAMPLE = 8000  # examples for the covariance
EIGHTH = 8  # the start is fitted to this part of the examples, with a firmer penalty
FIRMER = 30.0


class Standardised:
    """Inputs (layers, examples, features), their mean and spread, and the covariance of some of them.

    The states stay as they are: mean and spread are folded into the weights at every look, which saves a copy.
    """

    def __init__(self, states: Tensor, reference: Tensor | None = None):
        """Mean and spread are those of the reference, where the states are too few to tell."""
        reference = states if reference is None else reference
        self.inputs = states
        self.mean = reference.mean(1, keepdim=True)  # (layers, 1, features)
        square = torch.linalg.vector_norm(reference, dim=1, keepdim=True).square() / reference.shape[1]
        self.spread = (square - self.mean.square()).clamp_min(1e-12).sqrt()
        # examples may come in order, so a sample is drawn by lot, always the same
        self.order = torch.randperm(states.shape[1], generator=torch.Generator().manual_seed(0))
        sample = (states[:, self.order[:SAMPLE]] - self.mean) / self.spread
        self.variance, self.axes = torch.linalg.eigh(sample.mT @ sample / sample.shape[1])
        self.variance.clamp_min_(0)

    def plain(self, weights: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (layers, targets, classes, features) and bias for states as the model gives them."""
        weights = weights / self.spread[:, None]
        return weights, bias - (weights @ self.mean[:, None].mT)[..., 0]

    def loss_and_slope(self, layer: int, inputs: Tensor, labels: Tensor, place: Tensor, penalty: float
                       ) -> tuple[Tensor, Tensor]:
        """Mean cross-entropy plus half the penalty times the squared weights of the standardised inputs.

        inputs (examples, features), labels (targets, examples), place (targets, classes, features + 1), the bias last
        -> loss (targets,), slope (targets, classes, features + 1).
        """
        targets, classes, size = place.shape[0], place.shape[1], inputs.shape[1]
        mean, spread = self.mean[layer, 0], self.spread[layer, 0]
        weights, bias = place[..., :-1].reshape(-1, size), place[..., -1].reshape(-1)
        plain = weights / spread
        logs = torch.addmm(bias - plain @ mean, inputs, plain.T).view(-1, targets, classes).log_softmax(-1)
        right = labels.T[..., None]  # (examples, targets, 1)
        loss = -logs.gather(-1, right)[..., 0].mean(0) + 0.5 * penalty * place[..., :-1].square().sum((-1, -2))
        wrong = logs.exp_().scatter_add_(-1, right, -torch.ones(right.shape)).div_(len(inputs)).flatten(1)
        tilt = wrong.sum(0)
        slope = (wrong.T @ inputs - tilt[:, None] * mean) / spread + penalty * weights
        return loss, torch.cat([slope, tilt[:, None]], dim=-1).view_as(place)


def fitted(data: Standardised, labels: Tensor, classes: int, penalty: float, start: Tensor | None = None) -> Tensor:
    """The place of least loss, (layers, targets, classes, features + 1), for labels (targets, examples)."""
    layers, count, size = data.inputs.shape
    part = count // EIGHTH
    if start is None:
        start = torch.zeros(layers, len(labels), classes, size + 1)
        if part > 10 * classes:
            some = data.order[:part]
            start = _descent(data, data.inputs[:, some], labels[:, some], start, FIRMER * penalty)
    return _descent(data, data.inputs, labels, start, penalty)


def _descent(data: Standardised, inputs: Tensor, labels: Tensor, place: Tensor, penalty: float, most: int = 200
             ) -> Tensor:
    """L-BFGS, each problem with its own steps; a layer whose problems are solved is not looked at again."""
    share = torch.stack([torch.bincount(row, minlength=place.shape[2]) / len(row) for row in labels])
    bend = (share * (1 - share)).mean().clamp_min(1e-6)
    shrink = 1 / (2 * bend * data.variance + penalty)[:, None, None]  # (layers, 1, 1, features)

    def measured(slope: Tensor) -> Tensor:
        weights = (slope[..., :-1] @ data.axes[:, None] * shrink) @ data.axes[:, None].mT
        return torch.cat([weights, slope[..., -1:] / bend], dim=-1)

    active = torch.ones(place.shape[:2], dtype=torch.bool)  # (layers, targets)
    loss, slope = torch.zeros(place.shape[:2]), torch.zeros_like(place)

    def look(there: Tensor) -> tuple[Tensor, Tensor]:
        new_loss, new_slope = loss.clone(), slope.clone()
        for layer in active.any(1).nonzero()[:, 0].tolist():
            new_loss[layer], new_slope[layer] = data.loss_and_slope(layer, inputs[layer], labels, there[layer], penalty)
        return new_loss, new_slope

    loss, slope = look(place)
    losses = [loss]
    steps: list[Tensor] = []
    bends: list[Tensor] = []
    for _ in range(most):
        way = -_newton(slope, steps, bends, measured) * active[..., None, None]
        fall, reach = _dot(way, slope), torch.ones_like(loss)
        for _ in range(20):
            there = place + reach[..., None, None] * way
            new_loss, new_slope = look(there)
            short = active & (new_loss > loss + 1e-4 * reach * fall + 1e-7 * loss.abs())
            if not short.any():
                break
            reach = torch.where(short, reach * 0.4, reach)
        steps.append(there - place)
        bends.append((new_slope - slope) * active[..., None, None])
        del steps[:-MEMORY], bends[:-MEMORY]
        place, loss, slope = there, new_loss, new_slope
        losses.append(loss)
        if len(losses) > PATIENCE:
            active &= losses[-1 - PATIENCE] - loss > SETTLED * loss
        if not active.any():
            break
    return place


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum((-1, -2))


def _newton(slope: Tensor, steps: Sequence[Tensor], bends: Sequence[Tensor], measured) -> Tensor:
    """The inverse curvature that the last steps showed, applied to a slope: the two loops of L-BFGS."""
    way, back = slope.clone(), []
    for step, bend in zip(reversed(steps), reversed(bends), strict=True):
        rate = _ratio(_dot(step, way), _dot(step, bend))
        way -= rate[..., None, None] * bend
        back.append(rate)
    way = measured(way)
    if steps:
        way *= _ratio(_dot(steps[-1], bends[-1]), _dot(bends[-1], measured(bends[-1])), empty=1.0)[..., None, None]
    for step, bend, rate in zip(steps, bends, reversed(back), strict=True):
        way += (rate - _ratio(_dot(bend, way), _dot(step, bend)))[..., None, None] * step
    return way


def _ratio(top: Tensor, bottom: Tensor, empty: float = 0.0) -> Tensor:
    """Where a problem is solved its steps are zero, and teach nothing."""
    return torch.where(bottom > 1e-20, top / bottom.clamp_min(1e-20), torch.full_like(top, empty))
