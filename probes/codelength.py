"""Online code length: how many bits it takes to send the labels to someone who has the states."""

import itertools
import math

import torch
from torch import Tensor

from .linear import losses
from .softmax import Standardised, fitted

STEPS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)  # per cent of the examples known so far


def online(states: Tensor, labels: Tensor, classes: int, penalty: float = 1e-3) -> Tensor:
    """Bits to send labels (targets, examples) given states (layers, examples, features): (layers, targets).

    The first block is sent as it is; every other one with a probe fitted to all before it. Easy to learn is short.
    Voita & Titov (2020), 2.2.
    """
    count = states.shape[1]
    ends = sorted({min(count, max(1, round(count * step / 100))) for step in STEPS})
    bits = torch.full((len(states), len(labels)), ends[0] * math.log2(classes))
    for seen, until in itertools.pairwise(ends):
        data = Standardised(states[:, :seen], reference=states)
        # the penalty stands for what was believed before any example, so it weighs more where there are few
        place = fitted(data, labels[:, :seen], classes, min(penalty * count / seen, 0.1))
        weights, bias = data.plain(place[..., :-1], place[..., -1])
        scores = states[:, None, seen:until] @ weights.mT + bias[:, :, None]
        # a label not seen so far must not cost infinitely much: one imagined example of each is added
        doubt = classes / (seen + classes)
        scores = ((1 - doubt) * scores.softmax(-1) + doubt / classes).log()
        bits += losses(scores, labels[:, seen:until]) * (until - seen) / math.log(2)
    return bits


def uniform(count: int, classes: int) -> float:
    """Bits to send the labels to someone who knows nothing."""
    return count * math.log2(classes)
