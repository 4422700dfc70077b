"""What the next-sentence head predicts for a pair. Devlin et al. (2019), 3.1, task 2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Edits, Encoding, InputError, batches_by_length

# the order of the two outputs in every released head; it is easily mistaken for the reverse
LABELS = IS_NEXT, NOT_NEXT = ("IsNext", "NotNext")


@dataclass(frozen=True)
class PairPrediction:
    """The head's prediction for one packed pair."""

    encoding: Encoding
    logit_difference: float  # logit of IsNext minus logit of NotNext

    @property
    def is_next(self) -> float:
        return float(to_probability(np.array(self.logit_difference)))

    @property
    def not_next(self) -> float:
        return float(to_probability(np.array(-self.logit_difference)))

    @property
    def answer(self) -> str:
        return LABELS[self.logit_difference < 0]


def probability(bert: Bert, a: str, b: str) -> float:
    """P(IsNext): that B is the sentence after A."""
    return predict(bert, a, b).is_next


def predict(bert: Bert, a: str, b: str) -> PairPrediction:
    """The prediction for one pair."""
    encoding = encode_pair(bert, a, b)
    return PairPrediction(encoding, float(logit_differences(bert, [encoding])[0]))


def encode_pair(bert: Bert, a: str, b: str) -> Encoding:
    """[CLS] A [SEP] B [SEP], refused where a part is missing or in characters the vocabulary does not know."""
    bert.require_nsp()
    for name, text in (("A", a), ("B", b)):
        if not text or not text.strip():
            raise InputError(f"Sentence {name} is empty; next-sentence prediction needs two sentences.")
    encoding = bert.tokenizer.encode(a, b)
    for segment, name in enumerate("AB"):
        require_known_words(
            bert, [token.id for token in encoding.tokens if token.segment == segment and not token.is_special], name
        )
    return encoding


def require_known_words(bert: Bert, pieces: Sequence[int], name: str) -> None:
    """Refuse a sentence of which the vocabulary knows no word, at most the full stop."""
    vocabulary = bert.tokenizer.vocabulary
    known = any(piece != bert.tokenizer.unknown_id and any(map(str.isalnum, vocabulary[piece])) for piece in pieces)
    if not known and bert.tokenizer.unknown_id in pieces:
        raise InputError(
            f"The vocabulary of this model knows no word of sentence {name}; next-sentence prediction needs a word of each."
        )


def logit_differences(bert: Bert, encodings: Sequence[Encoding], edits: Sequence[Edits] | None = None) -> np.ndarray:
    """Logit of IsNext minus logit of NotNext for each input, in batches of similar length: (inputs,)."""
    differences = np.zeros(len(encodings), dtype=np.float64)
    for rows, batch in iter_logit_differences(bert, encodings, edits):
        differences[rows] = batch
    return differences


def iter_logit_differences(
    bert: Bert, encodings: Sequence[Encoding], edits: Sequence[Edits] | None = None, tokens_at_once: int = 1024
) -> Iterator[tuple[list[int], np.ndarray]]:
    """The same batch by batch, for progress: the indices of the inputs in a batch and their logit differences."""
    head = bert.require_nsp()
    for rows in batches_by_length(encodings, tokens_at_once):
        with torch.inference_mode():
            cls_states = bert.states_at(
                torch.arange(len(rows)),
                torch.zeros(len(rows), dtype=torch.long),
                [encodings[row] for row in rows],
                None if edits is None else [edits[row] for row in rows],
            )
            logits = head(cls_states).double()  # (batch, 2), IsNext first
        yield rows, (logits[:, 0] - logits[:, 1]).cpu().numpy()


def to_probability(logit_difference: np.ndarray) -> np.ndarray:
    """P(IsNext): the softmax of two logits depends on their difference only."""
    return 1 / (1 + np.exp(-np.clip(logit_difference, -700, 700)))
