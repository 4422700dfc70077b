"""Why both directions: the same blank seen from the left, from the right, from both apart, and from both at once."""

import numpy as np
import torch

from model import Bert, Edits, Encoding

# in the order they are shown: as GPT reads, its mirror image, as ELMo combines the two, as BERT reads
SIGHTS = ("left", "right", "averaged", "both")


def predictions(bert: Bert, encoding: Encoding, position: int) -> dict[str, np.ndarray]:
    """P(word) at one position under each sight: {sight: (vocabulary,)}.

    One-sided sight blocks the attention edges of every position, not only of the asked one: otherwise the other side
    would come in through a neighbour. "averaged" is the mean of the left and the right prediction.
    """
    names = ("left", "right", "both")
    with torch.inference_mode():
        states = bert([encoding] * len(names), [Edits(sight=name) for name in names])[:, position]
        found = dict(zip(names, bert.words(states).softmax(-1).numpy(), strict=True))
    found["averaged"] = (found["left"] + found["right"]) / 2
    return {name: found[name] for name in SIGHTS}
