"""Multinomial logistic regressions of several labellings on the same inputs: convex, and the same numbers every time.

Every labelling (a task, its control) is a problem of its own, with its own penalty, steps and end; they share nothing
but the matrix products. L-BFGS measures its steps by the covariance of the inputs times that of the classes, which at
zero weights is the curvature itself.
"""

from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor

MEMORY = 20  # pairs of steps L-BFGS remembers
SAMPLE = 8000  # examples for the covariance
TOLERANCE = 5e-5  # a problem is solved when its gradient is this part of the gradient at zero weights


class Regressions:
    """Inputs (examples, features) with labels (targets, examples) that count from 0.

    Weights are those of the standardised inputs; the inputs stay as they are: mean and spread are folded into the
    weights at every look, which saves a copy.
    """

    def __init__(self, inputs: Tensor, labels: Tensor, classes: int):
        self.inputs, self.labels, self.classes = inputs, labels, classes
        self.mean, self.spread = inputs.mean(0), inputs.std(0, correction=0).clamp_min(1e-6)  # (features,)
        # examples may come in order, so a sample is drawn by lot, always the same
        sample = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:SAMPLE]
        part = (inputs[sample] - self.mean) / self.spread
        self.variance, self.axes = torch.linalg.eigh(part.T @ part / len(part))
        self.variance.clamp_min_(0)
        every = torch.arange(len(labels))
        self.zero = torch.zeros(len(labels), classes, inputs.shape[1] + 1)  # the bias last
        share = torch.stack([torch.bincount(row, minlength=classes) + 1.0 for row in labels])
        self.zero[..., -1] = (share / share.sum(-1, keepdim=True)).log()
        self.scale = _norm(self.look(every, self.zero, torch.zeros(len(labels)))[1])  # (targets,)

    def plain(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (targets, classes, features) and bias (targets, classes) for inputs as they come."""
        weights = place[..., :-1] / self.spread
        return weights, place[..., -1] - weights @ self.mean

    def placed(self, weights: Tensor, bias: Tensor) -> Tensor:
        """The place of weights and bias for inputs as they come: `plain` undone."""
        return torch.cat([weights * self.spread, (bias + weights @ self.mean)[..., None]], dim=-1)

    def look(self, targets: Tensor, place: Tensor, penalty: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean cross-entropy plus half the penalty times the squared weights, of some targets.

        place (targets, classes, features + 1), penalty (targets,) -> loss (targets,), its gradient as place, and the
        probabilities, (examples, targets, classes).
        """
        count = len(self.inputs)
        weights, bias = self.plain(place)
        logs = torch.addmm(bias.flatten(), self.inputs, weights.flatten(0, 1).T)
        logs = logs.view(count, len(targets), self.classes).log_softmax(-1)  # (examples, targets, classes)
        right = self.labels[targets].T[..., None]
        loss = -logs.gather(-1, right)[..., 0].mean(0) + 0.5 * penalty * place[..., :-1].square().sum((-1, -2))
        chance = logs.exp_()
        wrong = chance.scatter_add(-1, right, -torch.ones(right.shape)).flatten(1).div_(count)
        tilt = wrong.sum(0)
        gradient = ((wrong.T @ self.inputs - tilt[:, None] * self.mean) / self.spread).view_as(weights)
        gradient += penalty[:, None, None] * place[..., :-1]
        return loss, torch.cat([gradient, tilt.view_as(bias)[..., None]], dim=-1), chance

    def solve(self, penalty: Tensor, start: Tensor, targets: Tensor, tolerance: float = TOLERANCE, most: int = 500
              ) -> Tensor:
        """The place of least loss of some targets, from a start: penalty (targets,) -> (targets, classes, features + 1).

        Nocedal & Wright (2006), algorithm 7.4; a target that is solved is not looked at again.
        """
        solution, place = start.clone(), start
        loss, gradient, chance = self.look(targets, place, penalty)
        measure = Measure.of(chance)
        active = torch.arange(len(targets))
        pairs: deque[tuple[Tensor, Tensor]] = deque(maxlen=MEMORY)
        for _ in range(most):
            going = _norm(gradient) > tolerance * self.scale[targets]
            if not going.all():
                solution[active[~going]] = place[~going]
                active, targets, penalty, measure = active[going], targets[going], penalty[going], measure.some(going)
                place, loss, gradient = place[going], loss[going], gradient[going]
                pairs = deque(((step[going], change[going]) for step, change in pairs), MEMORY)
                if not len(active):
                    return solution
            direction = -self._newton(gradient, pairs, measure, penalty)
            slope, length = _dot(direction, gradient), torch.ones_like(loss)
            for _ in range(20):
                there = place + length[:, None, None] * direction
                new_loss, new_gradient, _ = self.look(targets, there, penalty)
                short = new_loss > loss + 1e-4 * length * slope + 1e-7 * loss.abs()
                if not short.any():
                    break
                length = torch.where(short, 0.4 * length, length)
            pairs.append((there - place, new_gradient - gradient))
            place, loss, gradient = there, new_loss, new_gradient
        solution[active] = place
        return solution

    def _newton(self, gradient: Tensor, pairs: deque[tuple[Tensor, Tensor]], measure: "Measure", penalty: Tensor) -> Tensor:
        """The inverse curvature that the last steps showed, applied to a gradient: the two loops of L-BFGS."""
        axes, bend = measure.axes, measure.bend[..., None]
        shrink = 1 / (bend * self.variance + penalty[:, None, None])  # (targets, classes, features)

        def measured(vector: Tensor) -> Tensor:
            turned = axes.mT @ vector
            weights = (turned[..., :-1] @ self.axes * shrink) @ self.axes.T
            return axes @ torch.cat([weights, turned[..., -1:] / bend], dim=-1)

        way, rates = gradient.clone(), []
        for step, change in reversed(pairs):
            rates.append(_ratio(_dot(step, way), _dot(step, change)))
            way -= rates[-1][:, None, None] * change
        way = measured(way)
        if pairs:
            step, change = pairs[-1]
            way *= _ratio(_dot(step, change), _dot(change, measured(change)), empty=1.0)[:, None, None]
        for (step, change), rate in zip(pairs, reversed(rates), strict=True):
            way += (rate - _ratio(_dot(change, way), _dot(step, change)))[:, None, None] * step
        return way


@dataclass(frozen=True)
class Measure:
    """How the classes of each target bend the loss together: axes (targets, classes, classes), bend (targets, classes)."""

    axes: Tensor
    bend: Tensor

    @classmethod
    def of(cls, chance: Tensor) -> "Measure":
        """From the probabilities (examples, targets, classes) at the start."""
        mean, each = chance.mean(0), chance.transpose(0, 1)
        own, axes = torch.linalg.eigh(torch.diag_embed(mean) - each.mT @ each / len(chance))
        # where the start is sure of a class it bends little, and will bend more: half way, in logs, to the mean of all
        own = own.clamp_min(1e-5)
        return cls(axes, (own * own.mean(-1, keepdim=True)).sqrt())

    def some(self, targets: Tensor) -> "Measure":
        """Of those targets only."""
        return Measure(self.axes[targets], self.bend[targets])


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum((-1, -2))


def _norm(gradient: Tensor) -> Tensor:
    return torch.linalg.vector_norm(gradient, dim=(-1, -2))


def _ratio(top: Tensor, bottom: Tensor, empty: float = 0.0) -> Tensor:
    """A step too short to measure a curvature by teaches nothing."""
    return torch.where(bottom > 1e-20, top / bottom.clamp_min(1e-20), torch.full_like(top, empty))
