"""Which words a prediction depends on: by masking each in turn, and by the gradient."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from model import Bert, Edits, Encoding, InputError, activations


@dataclass(frozen=True)
class Attribution:
    """What each position of the input adds to log P of one token at one position; 0 at that position itself."""

    occlusion: np.ndarray  # (seq,) how far log P falls when this position is masked
    gradient: np.ndarray  # (seq,) gradient × input at the embedding output
    correlation: float  # Spearman's, of the two magnitudes over the words of the text

    @property
    def strongest_by_occlusion(self) -> tuple[int, float]:
        """The position whose masking changes log P most, and how far log P falls."""
        return _strongest(self.occlusion)

    @property
    def strongest_by_gradient(self) -> tuple[int, float]:
        """The position of the largest gradient × input, and its value."""
        return _strongest(self.gradient)

    def __repr__(self) -> str:
        return f"Attribution({len(self.occlusion)} tokens, correlation {self.correlation:.2f})"


def _strongest(values: np.ndarray) -> tuple[int, float]:
    position = int(np.abs(values).argmax())
    return position, float(values[position])


def compare(bert: Bert, encoding: Encoding, position: int, token_id: int) -> Attribution:
    """Occlusion and gradient × input of one prediction, side by side. Li et al. (2016); Shrikumar et al. (2017)."""
    others = [
        t.position for t in encoding.tokens if not t.is_special and t.position != position and t.id != bert.tokenizer.mask_id
    ]
    if len(others) < 2:
        raise InputError(f"Only {len(others)} unmasked words are left; attribution compares at least 2.")
    falls = np.zeros(len(encoding))
    falls[others] = occlusion(bert, encoding, position, token_id, others)
    gradients = gradient_x_input(bert, encoding, position, token_id)
    gradients[position] = 0.0
    ranks = pd.DataFrame({"occlusion": np.abs(falls[others]), "gradient": np.abs(gradients[others])}).rank()
    return Attribution(falls, gradients, float(ranks["occlusion"].corr(ranks["gradient"])))


def occlusion(bert: Bert, encoding: Encoding, position: int, token_id: int, others: list[int]) -> np.ndarray:
    """How far log P(token) at a position falls when each of the others is masked in turn: (others,)."""
    mask = (bert.tokenizer.mask_id, bert.tokenizer.vocabulary[bert.tokenizer.mask_id])
    rows = [encoding, *(encoding.replace_tokens({other: mask}) for other in others)]
    with torch.inference_mode():
        log_probs = torch.cat(
            [
                bert.mlm_logits(bert(rows[start : start + 32])[:, position]).log_softmax(-1)[:, token_id]
                for start in range(0, len(rows), 32)
            ]
        )
    return (log_probs[0] - log_probs[1:]).cpu().numpy()


def gradient_x_input(bert: Bert, encoding: Encoding, position: int, word: int) -> np.ndarray:
    """Gradient × input of log P(word) at a position, summed over the embedding output of each token: (seq,)."""
    ((_, arrays),) = activations(bert, [encoding], ["hidden"], layers=[0])
    state = torch.from_numpy(arrays["hidden"][0]).to(bert.device).requires_grad_()  # (seq, hidden), patched in below
    with torch.enable_grad():
        last = bert(encoding, Edits(patches={(0, place): state[place] for place in range(len(encoding))}))
        log = bert.mlm_logits(last[0, position]).log_softmax(-1)[word]
        (slope,) = torch.autograd.grad(log, state)
    return (slope * state).sum(-1).detach().cpu().numpy()
