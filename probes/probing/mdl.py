"""Online code length: how many bits it takes to send the labels to someone who has the states."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from .linear import LinearProbe, losses
from .mlp import TwoLayerProbe

STEPS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)  # per cent of the examples known so far
LEAST = 24  # examples of the first block: fewer could not be parted into some to learn from and some to choose by
CHOOSING = 6  # one part in this many of what is known chooses the penalty, or the epoch


def online(states: Tensor, labels: Tensor, classes: int, probe: Callable[[], LinearProbe | TwoLayerProbe] = LinearProbe
           ) -> Tensor:
    """Bits to send labels (targets, examples) given states (layers, examples, features): (layers, targets).

    The first block is sent as it is; every other one with a probe fitted to all before it, of which the last sixth
    chooses its penalty or epoch, for every target by itself. Easy to learn is short. Voita & Titov (2020), 2.2.
    """
    count = states.shape[1]
    ends = sorted({min(count, max(LEAST, round(count * step / 100))) for step in STEPS})
    bits = torch.full((len(states), len(labels)), ends[0] * math.log2(classes))
    for seen, until in itertools.pairwise(ends):
        known = seen - seen // CHOOSING
        fitted = probe().fit(states[:, :known], labels[:, :known], states[:, known:seen], labels[:, known:seen], classes)
        if isinstance(fitted, LinearProbe):
            fitted.refit(states[:, :seen], labels[:, :seen])
        # a label not seen so far must not cost infinitely much: one imagined example of each is added
        doubt = classes / (seen + classes)
        scores = ((1 - doubt) * fitted.scores(states[:, seen:until]).softmax(-1) + doubt / classes).log()
        bits += losses(scores, labels[:, seen:until]) * (until - seen) / math.log(2)
    return bits


def uniform(count: int, classes: int) -> float:
    """Bits to send the labels to someone who knows nothing."""
    return count * math.log2(classes)
