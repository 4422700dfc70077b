"""Single inputs as people type them: one to three sentences of a document, without a second segment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..tokenizer import WordPiece
from .sentence_pairs import Rows
from .token_store import Store

LENGTHS = (16, 28, 50)  # wordpieces with [CLS] and [SEP]; few, because torch compiles a product for each shape
SENTENCES = 3  # of an input at most


@dataclass(frozen=True, slots=True)
class Single:
    """A span of wordpieces that is read alone."""

    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.ids) + 2


class Singles:
    """The single inputs of some stores in an order that a seed fixes; the n-th can be had without those before it.

    An epoch begins one input at every sentence, in random order; it goes on to the next one or two sentences of the
    document while there is room.
    """

    def __init__(self, stores: Sequence[Store], seed: int = 0):
        self.stores, self.seed = stores, seed
        self.ends = np.cumsum([len(store.sentences) - 1 for store in stores])
        self.points = int(self.ends[-1])
        self._epoch = lru_cache(maxsize=2)(self._order)

    def _order(self, epoch: int) -> np.ndarray:
        generator = np.random.default_rng([self.seed, 4, epoch])
        return generator.permutation(np.arange(self.points, dtype=np.uint32))

    def stretch(self, first: int, count: int) -> list[Single]:
        """The inputs number `first` to `first + count`; the same whenever the same stretch is asked for."""
        generator = np.random.default_rng([self.seed, 5, first])
        wanted = generator.integers(1, SENTENCES + 1, size=count)
        return [self._single(int(self._epoch(number // self.points)[number % self.points]), int(sentences))
                for number, sentences in zip(range(first, first + count), wanted, strict=True)]

    def sentences(self) -> Iterator[Single]:
        """Every sentence once, each alone, in the order of the first epoch."""
        return (self._single(int(sentence), 1) for sentence in self._epoch(0))

    def _single(self, sentence: int, wanted: int) -> Single:
        which = int(np.searchsorted(self.ends, sentence, side="right"))
        store, at = self.stores[which], sentence - (int(self.ends[which - 1]) if which else 0)
        document = int(np.searchsorted(store.documents, at, side="right"))  # the one after, where this one ends
        starts = store.sentences[at: min(at + wanted, int(store.documents[document])) + 1] - store.sentences[at]
        room = LENGTHS[-1] - 2
        fitting = max(1, int(np.searchsorted(starts, room, side="right")) - 1)
        begin = int(store.sentences[at])
        return Single(store.ids[begin: begin + min(int(starts[fitting]), room)])


def rows_of(singles: Sequence[Single], tokenizer: WordPiece) -> Rows:
    """Single inputs as [CLS] A [SEP], padded to one length; there are no NSP labels."""
    sizes = np.array([len(single) for single in singles])
    length = int(sizes.max())
    ids = np.full((len(singles), length), tokenizer.pad, dtype=np.int64)
    for row, single in enumerate(singles):
        ids[row, 0], ids[row, len(single) - 1] = tokenizer.cls, tokenizer.sep
        ids[row, 1: len(single) - 1] = single.ids
    return Rows(ids, np.zeros_like(ids), np.arange(length) < sizes[:, None], np.zeros(0, dtype=np.int64))
