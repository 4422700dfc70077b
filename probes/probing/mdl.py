"""Minimum description length: how many bits send the labels to someone who has the states."""

import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from .linear import LinearProbe, cross_entropy
from .mlp import MLPProbe

FRACTIONS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)  # per cent of the examples where a block ends
MIN_BLOCK = 24  # examples of the first block: fewer could not be divided into train and dev
DEV_FRACTION = 6  # one in this many of the examples sent so far chooses the penalty, or the epoch


def online_code_length(
    states: Tensor, labels: Tensor, classes: int, probe: Callable[[], LinearProbe | MLPProbe] = LinearProbe
) -> Tensor:
    """Online code length in bits of labels (targets, examples) given states (layers, examples, features): (layers, targets).

    The first block is sent with a uniform code, every other one with a probe fitted to all before it, of which the last
    sixth chooses its penalty or epoch, for every target by itself. Voita & Titov (2020), 2.2.
    """
    count = states.shape[1]
    ends = sorted({min(count, max(MIN_BLOCK, round(count * percent / 100))) for percent in FRACTIONS})
    code_length = torch.full((len(states), len(labels)), ends[0] * math.log2(classes))
    for sent, end in itertools.pairwise(ends):
        train, dev, block = slice(0, sent - sent // DEV_FRACTION), slice(sent - sent // DEV_FRACTION, sent), slice(sent, end)
        encoder = probe().fit(states[:, train], labels[:, train], states[:, dev], labels[:, dev], classes)
        if isinstance(encoder, LinearProbe):
            encoder.refit(states[:, :sent], labels[:, :sent])
        # add-one smoothing: a label that has not occurred must not cost infinitely many bits
        smoothing = classes / (sent + classes)
        probabilities = encoder.decision_function(states[:, block]).softmax(-1)
        log_probs = ((1 - smoothing) * probabilities + smoothing / classes).log()
        code_length += cross_entropy(log_probs, labels[:, block]) * (end - sent) / math.log(2)
    return code_length


def uniform_code_length(count: int, classes: int) -> float:
    """Bits of `count` labels under a uniform code."""
    return count * math.log2(classes)
