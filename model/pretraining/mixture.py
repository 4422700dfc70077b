"""What a run reads: one corpus or several, each with a weight, and an endless series of batches from them."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tokenizer import WordPiece
from . import token_store
from .sentence_pairs import PairSampler, SentencePair, holds_pairs
from .single_inputs import SingleInput, SingleSampler
from .token_store import TokenStore

POOL = 32  # batches sampled together and sorted by length
SINGLE_PIECES = 32  # a single input counts as so many wordpieces when batches of equal size are formed


@dataclass(frozen=True)
class Corpus:
    """The stores of one corpus, and how often each of its wordpieces is read beside the others'."""

    name: str
    weight: float
    train: TokenStore
    heldout: TokenStore
    train_single: TokenStore
    heldout_single: TokenStore

    @classmethod
    def open(cls, folder: Path, name: str, weight: float, tokenizer: WordPiece) -> "Corpus":
        stores = [TokenStore(folder / part) for part in token_store.PARTS]
        for store in stores:
            store.check(tokenizer)
        return cls(name, weight, *stores)


class Mixture:
    """Batches of pairs and of single inputs from several corpora; a seed and a step fix each of them.

    A pool of POOL batches takes a fixed number of examples of each corpus, in proportion to weight × wordpieces. A
    fraction `singles` of the steps reads single inputs instead of pairs, as many as hold about as many wordpieces.
    """

    def __init__(
        self, corpora: Sequence[Corpus], max_length: int, batch_size: int, negatives: str, singles: float, seed: int
    ):
        self.batch_size, self.singles, self.seed = batch_size, singles, seed
        self.singles_batch_size = max(1, batch_size * max_length // SINGLE_PIECES)
        # where no corpus holds pairs, the sampler of the first one raises and says what is missing
        with_pairs = [corpus for corpus in corpora if holds_pairs(corpus.train, negatives)] or list(corpora[:1])
        self.pair_samplers = (
            [] if singles >= 1 else [PairSampler(corpus.train, max_length, negatives, seed) for corpus in with_pairs]
        )
        self.pair_counts = _apportion([c.weight * c.train.tokens for c in with_pairs], POOL * batch_size)
        self.single_samplers = [SingleSampler([c.train, c.train_single], seed) for c in corpora] if singles else []
        self.single_counts = _apportion(
            [c.weight * (c.train.tokens + c.train_single.tokens) for c in corpora], POOL * self.singles_batch_size
        )

    def batches(self, first: int = 0) -> Iterator[list[SentencePair] | list[SingleInput]]:
        """Endless batches of inputs of similar length, beginning with that of step `first`."""
        single_steps = int(first * self.singles)  # before the first
        pairs = self._series(self.pair_samplers, self.pair_counts, self.batch_size, first - single_steps)
        singles = self._series(self.single_samplers, self.single_counts, self.singles_batch_size, single_steps)
        for step in itertools.count(first):
            yield next(singles if int((step + 1) * self.singles) > int(step * self.singles) else pairs)

    def _series(
        self, samplers: Sequence[PairSampler] | Sequence[SingleSampler], counts: list[int], batch_size: int, first: int
    ) -> Iterator:
        pool, skip = divmod(first, POOL)
        while True:
            examples = sorted(
                (
                    example
                    for sampler, count in zip(samplers, counts, strict=True)
                    if count
                    for example in sampler.sample(pool * count, count)
                ),
                key=len,
            )
            order = np.random.default_rng([self.seed, 2, pool]).permutation(POOL)
            for index in order[skip:]:
                yield examples[index * batch_size : (index + 1) * batch_size]
            pool, skip = pool + 1, 0


def _apportion(sizes: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to the sizes that add up to the total, by largest remainders."""
    exact = np.array(sizes, dtype=float) / max(sum(sizes), 1e-9) * total
    counts = np.floor(exact).astype(int)
    for index in np.argsort(counts - exact, kind="stable")[: total - int(counts.sum())]:
        counts[index] += 1
    return counts.tolist()
