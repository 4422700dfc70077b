"""The grammar check: of two sentences that differ in a word or in the order of a few, does the model prefer the one
that English allows?

`bundled/grammar.csv` holds 200 minimal pairs (phenomenon, good, bad), ten phenomena of 20 pairs, written for this
project in everyday words, from no other collection (CC BY 4.0). Both sentences of a pair have equally many words,
and equally many pieces in the shipped English vocabulary, so that their scores compare. Where number or gender decides,
each form is right about as often as it is wrong: who always prefers "is" gets half of the points, as chance does. The form
of the test is that of Marvin & Linzen (2018); the score is the pseudo-log-likelihood of Salazar et al. (2020).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from model import Bert

from ..statistics import wilson_interval
from .pseudo_likelihood import score

BUNDLED = Path(__file__).parents[1] / "bundled" / "grammar.csv"
CHANCE = 0.5
OVERALL = "all"


def pairs() -> pd.DataFrame:
    """The bundled minimal pairs: phenomenon, good, bad."""
    return pd.read_csv(BUNDLED, encoding="utf-8")


@dataclass(frozen=True)
class GrammarCheck:
    """The score of both sentences of each minimal pair, in nats."""

    pairs: pd.DataFrame  # phenomenon, good, bad
    good: np.ndarray  # (pairs,)
    bad: np.ndarray  # (pairs,)

    @property
    def correct(self) -> np.ndarray:
        """Where the good sentence scores higher, (pairs,); a tie is no preference and does not count as correct."""
        return self.good > self.bad

    def table(self) -> pd.DataFrame:
        """Accuracy of each phenomenon and overall: phenomenon, pairs, correct, accuracy, low, high (95 %), chance."""
        groups = pd.Series(self.correct).groupby(self.pairs["phenomenon"].to_numpy(), sort=False)
        counts = [(phenomenon, len(correct), int(correct.sum())) for phenomenon, correct in groups]
        counts.append((OVERALL, len(self.correct), int(self.correct.sum())))
        rows = [
            (phenomenon, count, n_correct, n_correct / count, *wilson_interval(n_correct, count), CHANCE)
            for phenomenon, count, n_correct in counts
        ]
        return pd.DataFrame(rows, columns=["phenomenon", "pairs", "correct", "accuracy", "low", "high", "chance"])

    def __repr__(self) -> str:
        return f"GrammarCheck({int(self.correct.sum())} of {len(self.correct)} pairs correct)"


def check(bert: Bert, minimal_pairs: pd.DataFrame | None = None) -> GrammarCheck:
    """Score both sentences of every minimal pair, the bundled ones unless others are passed."""
    *_, whole = progress(bert, pairs() if minimal_pairs is None else minimal_pairs)
    return whole


def progress(bert: Bert, minimal_pairs: pd.DataFrame) -> Iterator[GrammarCheck]:
    """The check so far, after each phenomenon; the last is the whole."""
    scores: list[np.ndarray] = []  # (2, pairs of the phenomenon) each
    groups: list[pd.DataFrame] = []
    for _, group in minimal_pairs.groupby("phenomenon", sort=False):
        groups.append(group)
        scores.append(score(bert, [*group["good"], *group["bad"]]).reshape(2, -1))
        yield GrammarCheck(pd.concat(groups, ignore_index=True), *np.hstack(scores))
