"""The grammar check: of two sentences that differ in a word or in the order of a few, does the model prefer the one
that English allows?

`bundled/grammar.csv` holds 200 minimal pairs (phenomenon, good, bad), ten phenomena of 20 pairs, written for this
project in everyday words and taken from no collection (CC BY 4.0). Both sentences of a pair have equally many words,
and equally many pieces in the shipped English vocabulary, so that their scores compare. Where number or gender decides,
each form is right about as often as it is wrong: who always says "is" gets half of the points, as chance does. The form
of the test is that of Marvin & Linzen (2018); the score is the pseudo-log-likelihood of Salazar et al. (2020).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from model import Bert

from .. import cloze
from ..nextsentence import metrics

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
    def right(self) -> np.ndarray:
        """Where the good sentence scores higher, (pairs,); a tie is no preference and does not count as right."""
        return self.good > self.bad

    def table(self) -> pd.DataFrame:
        """Share right of each phenomenon and overall: phenomenon, pairs, right, share, low, high, chance."""
        right = pd.Series(self.right).groupby(self.pairs["phenomenon"].to_numpy(), sort=False)
        counts = [(name, len(group), int(group.sum())) for name, group in right]
        counts.append((OVERALL, len(self.right), int(self.right.sum())))
        rows = [(name, count, hits, hits / count, *metrics.wilson(hits, count), CHANCE) for name, count, hits in counts]
        return pd.DataFrame(rows, columns=["phenomenon", "pairs", "right", "share", "low", "high", "chance"])

    def __repr__(self) -> str:
        return f"GrammarCheck({int(self.right.sum())} of {len(self.right)} pairs right)"


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
        scores.append(cloze.score(bert, [*group["good"], *group["bad"]]).reshape(2, -1))
        yield GrammarCheck(pd.concat(groups, ignore_index=True), *np.hstack(scores))
