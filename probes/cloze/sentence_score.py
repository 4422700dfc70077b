"""How likely a whole sentence is: each wordpiece masked in turn, the logarithms added up. Salazar et al. (2020)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding
from model.short_repr import ShortRepr

from .. import cloze


@dataclass(frozen=True, repr=False)
class SentenceScore(ShortRepr):
    """The wordpieces of an input that were masked, and log P of each in nats."""

    text: str
    pieces: tuple[str, ...]
    log_probs: np.ndarray  # (pieces,)

    @property
    def total(self) -> float:
        """The pseudo-log-likelihood: the sum."""
        return float(self.log_probs.sum())

    @property
    def mean(self) -> float:
        """The sum divided by the number of wordpieces: sentences of different lengths compare by this."""
        return float(self.log_probs.mean())

    @property
    def most_surprising(self) -> tuple[str, float]:
        """The wordpiece the model foresaw least, and its probability."""
        piece = int(self.log_probs.argmin())
        return self.pieces[piece], float(np.exp(self.log_probs[piece]))


def score(bert: Bert, encodings: Sequence[Encoding], variant: str = "within_word_l2r") -> list[SentenceScore]:
    """Every input scored; `variant` as in `cloze.token_log_probs`. Kauf & Ivanova (2023)."""
    unscored = (bert.tokenizer.mask_id, bert.tokenizer.pad_id)
    return [
        SentenceScore(
            " ".join(encoding.texts),
            tuple(token.text for token in encoding.tokens if not token.is_special and token.id not in unscored),
            log_probs,
        )
        for encoding, log_probs in zip(encodings, cloze.token_log_probs(bert, encodings, variant), strict=True)
    ]
