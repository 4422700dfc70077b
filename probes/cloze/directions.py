"""Why both directions: the same blank seen from the left, from the right, from both apart, and from both at once."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from model import Bert, Edits, Encoding

from .. import cloze

# in the order they are shown: as GPT reads, its mirror image, as ELMo combines the two, as BERT reads
SIGHTS = ("left", "right", "averaged", "both")


def predictions(bert: Bert, encoding: Encoding, position: int) -> dict[str, np.ndarray]:
    """P(word) at one position under each sight: {sight: (vocabulary,)}.

    One-sided sight blocks the attention edges of every position, not only of the asked one: otherwise the other side
    would come in through a neighbour. "averaged" is the mean of the left and the right prediction.
    """
    return trained(dict.fromkeys(("left", "right", "both"), bert), encoding, position)


def trained(berts: Mapping[str, Bert], encoding: Encoding, position: int) -> dict[str, np.ndarray]:
    """The same, each sight answered by the model that learned with it."""
    found = {name: cloze.probabilities(bert, encoding, [position], Edits(sight=name))[0]
             for name, bert in berts.items()}
    found["averaged"] = (found["left"] + found["right"]) / 2
    return {name: found[name] for name in SIGHTS}


def lead(results: pd.DataFrame) -> float:
    """By how much the models that learned with both sides name more masked words than the better one-sided ones."""
    means = results.groupby("trial")["masked"].mean().to_dict()
    return means["both"] - max(means["left"], means["right"])
