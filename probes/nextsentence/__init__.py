"""Does B follow A? The answer of the next-sentence head, as words and numbers. Devlin et al. (2019), task 2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Edits, Encoding, InputProblem, alike

# the order of the two outputs in every released head; many people have read it the wrong way round
LABELS = IS_NEXT, NOT_NEXT = ("IsNext", "NotNext")


@dataclass(frozen=True)
class Judgement:
    """What the head says about one packed pair; `margin` is the score of IsNext minus the score of NotNext."""

    encoding: Encoding
    margin: float

    @property
    def is_next(self) -> float:
        return float(probabilities(np.array(self.margin)))

    @property
    def not_next(self) -> float:
        return float(probabilities(np.array(-self.margin)))

    @property
    def answer(self) -> str:
        return LABELS[self.margin < 0]


def probability(bert: Bert, a: str, b: str) -> float:
    """P(IsNext): how probable the model finds it that B is the sentence after A."""
    return judge(bert, a, b).is_next


def judge(bert: Bert, a: str, b: str) -> Judgement:
    """One pair read by the model."""
    encoding = packed(bert, a, b)
    return Judgement(encoding, float(margins(bert, [encoding])[0]))


def packed(bert: Bert, a: str, b: str) -> Encoding:
    """[CLS] A [SEP] B [SEP], refused where a part is missing or in characters the vocabulary does not know."""
    bert.need_nsp()
    for name, text in (("A", a), ("B", b)):
        if not text or not text.strip():
            raise InputProblem(f"Sentence {name} is empty: next-sentence prediction needs two sentences.")
    encoding = bert.tokenizer.encode(a, b)
    for segment, name in enumerate("AB"):
        check(bert, [token.id for token in encoding.tokens if token.segment == segment and not token.special], name)
    return encoding


def check(bert: Bert, pieces: Sequence[int], name: str) -> None:
    """Refuse a sentence of which the vocabulary knows no word, only perhaps the full stop."""
    words = bert.tokenizer.words
    known = any(piece != bert.tokenizer.unknown and any(map(str.isalnum, words[piece])) for piece in pieces)
    if not known and bert.tokenizer.unknown in pieces:
        raise InputProblem(f"The vocabulary of this model knows no word of sentence {name}, so there is nothing to "
                           "judge: choose a model for this script, or other words.")


def margins(bert: Bert, encodings: Sequence[Encoding], edits: Sequence[Edits] | None = None) -> np.ndarray:
    """Score of IsNext minus score of NotNext for each input, in batches of similar length: (inputs,)."""
    found = np.zeros(len(encodings), dtype=np.float64)
    for rows, part in judged(bert, encodings, edits):
        found[rows] = part
    return found


def judged(bert: Bert, encodings: Sequence[Encoding], edits: Sequence[Edits] | None = None, tokens_at_once: int = 1024
           ) -> Iterator[tuple[list[int], np.ndarray]]:
    """Batch by batch, which inputs were read and their margins, so that a long run can show how far it is."""
    head = bert.need_nsp()
    for rows in alike(encodings, tokens_at_once):
        with torch.inference_mode():
            first = bert.at(torch.arange(len(rows)), torch.zeros(len(rows), dtype=torch.long),
                            [encodings[row] for row in rows], None if edits is None else [edits[row] for row in rows])
            scores = head(first).double()  # (batch, 2), IsNext first
        yield rows, (scores[:, 0] - scores[:, 1]).numpy()


def probabilities(margin: np.ndarray) -> np.ndarray:
    """P(IsNext) of a margin: the softmax of two scores depends on their difference only."""
    return 1 / (1 + np.exp(-np.clip(margin, -700, 700)))
