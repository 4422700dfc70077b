"""Directionality: the same mask predicted from its left context, its right, both apart, and both at once."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from model import Bert, Edits, Encoding

from .prediction import probabilities

# as GPT reads, its mirror image, as ELMo combines the two, as BERT reads
DIRECTIONS = ("left", "right", "averaged", "both")


def predict(bert: Bert, encoding: Encoding, position: int) -> dict[str, np.ndarray]:
    """P(token) at one position under each direction: {direction: (vocabulary,)}.

    One direction blocks the attention edges of every position, not only of the predicted one: otherwise the other side
    would come in through a neighbour. "averaged" is the mean of the left and the right prediction.
    """
    return predict_with(dict.fromkeys(("left", "right", "both"), bert), encoding, position)


def predict_with(berts: Mapping[str, Bert], encoding: Encoding, position: int) -> dict[str, np.ndarray]:
    """The same, each direction predicted by the model that was trained with it."""
    predicted = {
        direction: probabilities(bert, encoding, [position], Edits(direction=direction))[0]
        for direction, bert in berts.items()
    }
    predicted["averaged"] = (predicted["left"] + predicted["right"]) / 2
    return {direction: predicted[direction] for direction in DIRECTIONS}


def bidirectional_gain(results: pd.DataFrame) -> float:
    """MLM accuracy of the models trained with both directions, minus that of the better single direction."""
    accuracy = mean_accuracy(results)
    return accuracy["both"] - max(accuracy["left"], accuracy["right"])


def mean_accuracy(results: pd.DataFrame) -> dict[str, float]:
    """MLM accuracy of the models of each direction, averaged over the seeds."""
    return {str(name): float(mean) for name, mean in results.groupby("condition")["masked"].mean().items()}


def most_frequent_accuracy(results: pd.DataFrame) -> float:
    """MLM accuracy of always predicting the most frequent word: the baseline."""
    return float(results["masked_most_frequent"].max())
