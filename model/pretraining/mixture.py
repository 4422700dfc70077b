"""What a run reads: one corpus or several, each with a weight, and the endless row of batches drawn from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tokenizer import WordPiece
from .sentence_pairs import Pair, Pairs, holds_pairs
from .single_inputs import Single, Singles
from .token_store import Store

POOL = 32  # batches made together and sorted by length
PIECES = 32  # a single input stands for so many wordpieces of a pair when rows are counted


@dataclass(frozen=True)
class Corpus:
    """The stores of one corpus, and how often each of its wordpieces is read beside the others'."""

    name: str
    weight: float
    train: Store
    held: Store
    train_single: Store
    held_single: Store

    @classmethod
    def open(cls, folder: Path, name: str, weight: float, tokenizer: WordPiece) -> "Corpus":
        stores = [Store(folder / part) for part in ("train", "held", "train-single", "held-single")]
        for store in stores:
            store.check(tokenizer)
        return cls(name, weight, *stores)


class Mixture:
    """Batches of pairs and of single inputs from several corpora; a seed and a step fix each of them.

    A pool of POOL batches takes a fixed number of examples of each corpus, its share of weight × wordpieces. Every
    step that `singles` says reads single inputs instead of pairs; as many as fill the same room.
    """

    def __init__(self, corpora: Sequence[Corpus], length: int, batch: int, negatives: str, singles: float, seed: int):
        self.batch, self.singles, self.seed = batch, singles, seed
        self.singles_batch = max(1, batch * length // PIECES)
        # where no corpus holds pairs, the first says what is missing
        paired = [corpus for corpus in corpora if holds_pairs(corpus.train, negatives)] or list(corpora[:1])
        self.pairs = [] if singles >= 1 else [Pairs(corpus.train, length, negatives, seed) for corpus in paired]
        self.pairs_counts = _apportioned([c.weight * c.train.tokens for c in paired], POOL * batch)
        self.inputs = [Singles([c.train, c.train_single], seed) for c in corpora] if singles else []
        self.inputs_counts = _apportioned([c.weight * (c.train.tokens + c.train_single.tokens) for c in corpora],
                                          POOL * self.singles_batch)

    def batches(self, first: int = 0) -> Iterator[list[Pair] | list[Single]]:
        """Endless batches of inputs of similar length, beginning with step `first` of the same endless row."""
        before = int(first * self.singles)
        pairs = self._row(self.pairs, self.pairs_counts, self.batch, first - before)
        inputs = self._row(self.inputs, self.inputs_counts, self.singles_batch, before)
        step = first
        while True:
            yield next(inputs if int((step + 1) * self.singles) > int(step * self.singles) else pairs)
            step += 1

    def _row(self, sources: Sequence[Pairs] | Sequence[Singles], counts: list[int], batch: int, first: int) -> Iterator:
        pool, skip = divmod(first, POOL)
        while True:
            examples = sorted((example for source, count in zip(sources, counts, strict=True) if count
                               for example in source.stretch(pool * count, count)), key=len)
            order = np.random.default_rng([self.seed, 2, pool]).permutation(POOL)
            for place in order[skip:]:
                yield examples[place * batch: (place + 1) * batch]
            pool, skip = pool + 1, 0


def _apportioned(sizes: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to the sizes that add up to the total, by largest remainders."""
    exact = np.array(sizes, dtype=float) / max(sum(sizes), 1e-9) * total
    counts = np.floor(exact).astype(int)
    for place in np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]:
        counts[place] += 1
    return counts.tolist()
