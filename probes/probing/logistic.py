"""Multinomial logistic regressions of several labellings on the same inputs: convex, and the same numbers every time.

Every labelling (a task, its control) is a problem of its own, with its own penalty, steps and end; they share nothing but
the matrix products. L-BFGS is preconditioned by the Kronecker product of the covariance of the inputs and that of the
classes, which at zero weights is the Hessian itself.
"""

from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor

MEMORY = 20  # (step, gradient change) pairs that L-BFGS keeps
SAMPLE = 8000  # examples for the covariance
TOLERANCE = 5e-5  # a problem is solved when the norm of its gradient is this fraction of that at zero weights
MAX_BACKTRACKS = 20


class Regressions:
    """Inputs (examples, features) with labels (targets, examples) that count from 0.

    Parameters (targets, classes, features + 1) are those of the standardised inputs, the bias last; the inputs stay as
    they are: mean and standard deviation are folded into the weights at every evaluation, which saves a copy.
    """

    def __init__(self, inputs: Tensor, labels: Tensor, classes: int):
        self.inputs, self.labels, self.classes = inputs, labels, classes
        self.mean, self.std = inputs.mean(0), inputs.std(0, correction=0).clamp_min(1e-6)  # (features,)
        # sentences may be sorted by length or topic: the covariance is estimated on a fixed random sample
        rows = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:SAMPLE]
        sample = (inputs[rows] - self.mean) / self.std
        self.eigenvalues, self.eigenvectors = torch.linalg.eigh(sample.T @ sample / len(sample))
        self.eigenvalues.clamp_min_(0)
        targets = torch.arange(len(labels))
        self.zero = torch.zeros(len(labels), classes, inputs.shape[1] + 1)
        counts = torch.stack([torch.bincount(row, minlength=classes) + 1.0 for row in labels])
        self.zero[..., -1] = (counts / counts.sum(-1, keepdim=True)).log()
        self.gradient_scale = _norm(self.evaluate(targets, self.zero, torch.zeros(len(labels)))[1])  # (targets,)

    def unscale(self, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (targets, classes, features) and bias (targets, classes) for inputs that are not standardised."""
        weights = parameters[..., :-1] / self.std
        return weights, parameters[..., -1] - weights @ self.mean

    def scale(self, weights: Tensor, bias: Tensor) -> Tensor:
        """The inverse of `unscale`."""
        return torch.cat([weights * self.std, (bias + weights @ self.mean)[..., None]], dim=-1)

    def evaluate(self, targets: Tensor, parameters: Tensor, penalty: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean cross-entropy plus half the penalty times the squared weights, of some targets.

        parameters (targets, classes, features + 1), penalty (targets,) -> loss (targets,), gradient as parameters, and
        the probabilities (examples, targets, classes).
        """
        count = len(self.inputs)
        weights, bias = self.unscale(parameters)
        log_probs = torch.addmm(bias.flatten(), self.inputs, weights.flatten(0, 1).T)
        log_probs = log_probs.view(count, len(targets), self.classes).log_softmax(-1)  # (examples, targets, classes)
        gold = self.labels[targets].T[..., None]
        loss = -log_probs.gather(-1, gold)[..., 0].mean(0) + 0.5 * penalty * parameters[..., :-1].square().sum((-1, -2))
        probabilities = log_probs.exp_()
        residuals = probabilities.scatter_add(-1, gold, -torch.ones(gold.shape)).flatten(1).div_(count)
        bias_gradient = residuals.sum(0)
        gradient = ((residuals.T @ self.inputs - bias_gradient[:, None] * self.mean) / self.std).view_as(weights)
        gradient += penalty[:, None, None] * parameters[..., :-1]
        return loss, torch.cat([gradient, bias_gradient.view_as(bias)[..., None]], dim=-1), probabilities

    def solve(
        self, penalty: Tensor, start: Tensor, targets: Tensor, tolerance: float = TOLERANCE, max_iter: int = 500
    ) -> Tensor:
        """Minimise the loss of some targets from a start: penalty (targets,) -> parameters (targets, classes, features + 1).

        Nocedal & Wright (2006), algorithm 7.5; a solved target is not evaluated again.
        """
        solution, parameters = start.clone(), start
        loss, gradient, probabilities = self.evaluate(targets, parameters, penalty)
        covariance = ClassCovariance.of(probabilities)
        active = torch.arange(len(targets))
        pairs: deque[tuple[Tensor, Tensor]] = deque(maxlen=MEMORY)
        for _ in range(max_iter):
            unsolved = _norm(gradient) > tolerance * self.gradient_scale[targets]
            if not unsolved.all():
                solution[active[~unsolved]] = parameters[~unsolved]
                active, targets, penalty = active[unsolved], targets[unsolved], penalty[unsolved]
                parameters, loss, gradient = parameters[unsolved], loss[unsolved], gradient[unsolved]
                covariance = covariance.subset(unsolved)
                pairs = deque(((step[unsolved], change[unsolved]) for step, change in pairs), MEMORY)
                if not len(active):
                    return solution
            direction = -self._two_loop_recursion(gradient, pairs, covariance, penalty)
            slope, step_size = _dot(direction, gradient), torch.ones_like(loss)
            candidate, new_loss, new_gradient = parameters, loss, gradient
            for _ in range(MAX_BACKTRACKS):  # until the loss falls enough (Armijo)
                candidate = parameters + step_size[:, None, None] * direction
                new_loss, new_gradient, _ = self.evaluate(targets, candidate, penalty)
                too_long = new_loss > loss + 1e-4 * step_size * slope + 1e-7 * loss.abs()
                if not too_long.any():
                    break
                step_size = torch.where(too_long, 0.4 * step_size, step_size)
            pairs.append((candidate - parameters, new_gradient - gradient))
            parameters, loss, gradient = candidate, new_loss, new_gradient
        solution[active] = parameters
        return solution

    def _two_loop_recursion(
        self, gradient: Tensor, pairs: deque[tuple[Tensor, Tensor]], covariance: "ClassCovariance", penalty: Tensor
    ) -> Tensor:
        """The L-BFGS approximation of the inverse Hessian times a gradient. Nocedal & Wright (2006), algorithm 7.4."""
        eigenvectors, curvature = covariance.eigenvectors, covariance.curvature[..., None]
        inverse = 1 / (curvature * self.eigenvalues + penalty[:, None, None])  # (targets, classes, features)

        def precondition(vector: Tensor) -> Tensor:
            rotated = eigenvectors.mT @ vector
            weights = (rotated[..., :-1] @ self.eigenvectors * inverse) @ self.eigenvectors.T
            return eigenvectors @ torch.cat([weights, rotated[..., -1:] / curvature], dim=-1)

        product, alphas = gradient.clone(), []
        for step, change in reversed(pairs):
            alphas.append(_ratio(_dot(step, product), _dot(step, change)))
            product -= alphas[-1][:, None, None] * change
        product = precondition(product)
        if pairs:
            step, change = pairs[-1]
            product *= _ratio(_dot(step, change), _dot(change, precondition(change)), empty=1.0)[:, None, None]
        for (step, change), alpha in zip(pairs, reversed(alphas), strict=True):
            beta = _ratio(_dot(change, product), _dot(step, change))
            product += (alpha - beta)[:, None, None] * step
        return product


@dataclass(frozen=True)
class ClassCovariance:
    """The mean covariance of the predicted classes of each target: eigenvectors (targets, classes, classes), and their
    curvature (targets, classes)."""

    eigenvectors: Tensor
    curvature: Tensor

    @classmethod
    def of(cls, probabilities: Tensor) -> "ClassCovariance":
        """From the probabilities (examples, targets, classes) at the start."""
        mean, by_target = probabilities.mean(0), probabilities.transpose(0, 1)
        covariance = torch.diag_embed(mean) - by_target.mT @ by_target / len(probabilities)
        eigenvalues, eigenvectors = torch.linalg.eigh(covariance)
        # where the start is sure of a class the curvature is small and will grow: the geometric mean with that of all
        eigenvalues = eigenvalues.clamp_min(1e-5)
        return cls(eigenvectors, (eigenvalues * eigenvalues.mean(-1, keepdim=True)).sqrt())

    def subset(self, targets: Tensor) -> "ClassCovariance":
        """Of some targets only."""
        return ClassCovariance(self.eigenvectors[targets], self.curvature[targets])


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum((-1, -2))


def _norm(gradient: Tensor) -> Tensor:
    return torch.linalg.vector_norm(gradient, dim=(-1, -2))


def _ratio(numerator: Tensor, denominator: Tensor, empty: float = 0.0) -> Tensor:
    """The quotient, or `empty` where the denominator vanishes: a step too short shows no curvature."""
    return torch.where(denominator > 1e-20, numerator / denominator.clamp_min(1e-20), torch.full_like(numerator, empty))
