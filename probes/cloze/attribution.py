"""Which words a prediction used: by taking each away, and by the gradient."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from model import Bert, Edits, Encoding, InputProblem


@dataclass(frozen=True)
class Attribution:
    """What each position of the input did for log P of one word at one position; 0 at that position itself."""

    occlusion: np.ndarray  # (seq,) how far log P falls when this position is masked
    gradient: np.ndarray  # (seq,) gradient × input at the embedding output
    correlation: float  # Spearman's, of the two sizes over the words of the text


def attribution(bert: Bert, encoding: Encoding, position: int, word: int) -> Attribution:
    """Occlusion and gradient × input of one prediction, side by side. Li et al. (2016); Shrikumar et al. (2017)."""
    others = [t.position for t in encoding.tokens
              if not t.special and t.position != position and t.id != bert.tokenizer.mask]
    if len(others) < 2:
        raise InputProblem("Too few words are left in sight to compare what they did: unmask some.")
    fall = np.zeros(len(encoding))
    fall[others] = occlusion(bert, encoding, position, word, others)
    slope = gradient(bert, encoding, position, word)
    slope[position] = 0.0
    sizes = pd.DataFrame({"occlusion": np.abs(fall[others]), "gradient": np.abs(slope[others])}).rank()
    return Attribution(fall, slope, float(sizes["occlusion"].corr(sizes["gradient"])))


def occlusion(bert: Bert, encoding: Encoding, position: int, word: int, others: list[int]) -> np.ndarray:
    """How far log P(word) at a position falls when each of the others is masked in turn: (others,)."""
    blank = (bert.tokenizer.mask, bert.tokenizer.words[bert.tokenizer.mask])
    rows = [encoding, *(encoding.replaced({other: blank}) for other in others)]
    with torch.inference_mode():
        logs = torch.cat([bert.words(bert(rows[start: start + 32])[:, position]).log_softmax(-1)[:, word]
                          for start in range(0, len(rows), 32)])
    return (logs[0] - logs[1:]).numpy()


def gradient(bert: Bert, encoding: Encoding, position: int, word: int) -> np.ndarray:
    """Gradient × input of log P(word) at a position, summed over the embedding output of each token: (seq,)."""
    kept = []
    with torch.no_grad():
        bert(encoding, watch=lambda name, layer, value: kept.append(value[0]) if name == "hidden" and not layer
             else None)
    state = kept[0].clone().requires_grad_()
    with torch.enable_grad():
        last = bert(encoding, Edits(patches={(0, place): state[place] for place in range(len(encoding))}))
        log = bert.words(last[0, position]).log_softmax(-1)[word]
        (slope,) = torch.autograd.grad(log, state)
    return (slope * state).sum(-1).detach().numpy()
