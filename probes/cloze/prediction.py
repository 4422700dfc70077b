"""What the masked-word head predicts at some positions. Devlin et al. (2019), 3.1, task 1."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from model import Bert, Edits, Encoding, InputError
from model.tokenizer import MASK


def fill(bert: Bert, text: str, second: str | None = None, *, k: int = 5, edits: Edits | None = None) -> pd.DataFrame:
    """The k most probable words behind each [MASK] of a text or a pair: position, word, probability, best first."""
    encoding = bert.tokenizer.encode(text, second)
    positions = mask_positions(bert, encoding)
    return predict(bert, mask(bert, encoding, positions), positions, k, edits)


def mask_positions(bert: Bert, encoding: Encoding) -> list[int]:
    """The positions of [MASK] in an input; there must be one."""
    positions = [token.position for token in encoding.tokens if token.id == bert.tokenizer.mask_id]
    if not positions:
        raise InputError(f"The text has no {MASK}; a cloze query needs at least one.")
    return positions


def mask(bert: Bert, encoding: Encoding, positions: Sequence[int]) -> Encoding:
    """The same input with [MASK] at some positions; at least one word must stay unmasked."""
    masked = encoding.replace_tokens(dict.fromkeys(positions, (bert.tokenizer.mask_id, MASK)))
    if all(token.is_special or token.id == bert.tokenizer.mask_id for token in masked.tokens):
        raise InputError("Every word is masked, so nothing is left to predict from; at least one must stay unmasked.")
    return masked


def probabilities(bert: Bert, encoding: Encoding, positions: Sequence[int], edits: Edits | None = None) -> np.ndarray:
    """P(token) at some positions of an input as it stands: (positions, vocabulary)."""
    with torch.inference_mode():
        columns = torch.tensor(positions, dtype=torch.long)
        states = bert.states_at(torch.zeros_like(columns), columns, encoding, edits)
        return bert.mlm_logits(states).softmax(-1).cpu().numpy()


def predict(
    bert: Bert, encoding: Encoding, positions: Sequence[int], k: int = 5, edits: Edits | None = None
) -> pd.DataFrame:
    """The k most probable words at each position: position, word, probability, best first."""
    bert.require_mlm()
    words, values = _top_k(bert, probabilities(bert, encoding, positions, edits), k)
    per_position = len(words) // max(1, len(positions))
    return pd.DataFrame(
        {"position": np.repeat(np.asarray(positions, dtype=int), per_position), "word": words, "probability": values}
    )


def top_k(bert: Bert, predicted: np.ndarray, k: int) -> pd.DataFrame:
    """The k most probable words of one or more predictions (..., vocabulary): word, probability, best first."""
    words, values = _top_k(bert, predicted, k)
    return pd.DataFrame({"word": words, "probability": values})


def _top_k(bert: Bert, predicted: np.ndarray, k: int) -> tuple[list[str], np.ndarray]:
    # a checkpoint may have more output rows than its vocabulary has words
    top = torch.from_numpy(predicted[..., : bert.tokenizer.vocab_size]).topk(min(k, bert.tokenizer.vocab_size))
    words = bert.tokenizer.vocabulary
    return [words[token_id] for token_id in top.indices.flatten().tolist()], top.values.flatten().numpy()


def rank(predicted: np.ndarray, token_ids: Sequence[int]) -> np.ndarray:
    """The rank of one token in each prediction, 0 is the most probable: (positions, vocabulary) -> (positions,)."""
    own = np.take_along_axis(predicted, np.asarray(token_ids)[:, None], axis=1)
    return (predicted > own).sum(axis=1)
