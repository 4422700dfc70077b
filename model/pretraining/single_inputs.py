"""Single inputs, as short as people type them: one to three sentences of a document, without a second segment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..tokenizer import WordPiece
from .sentence_pairs import PairBatch
from .token_store import TokenStore

LENGTHS = (16, 28, 50)  # wordpieces with [CLS] and [SEP]; few, because torch compiles a product for each shape
MAX_SENTENCES = 3  # of an input


@dataclass(frozen=True, slots=True)
class SingleInput:
    """A span of wordpieces that is read alone."""

    ids: np.ndarray

    def __len__(self) -> int:
        return len(self.ids) + 2


class SingleSampler:
    """The single inputs of some stores in an order that a seed fixes; the n-th does not need those before it.

    An epoch begins one input at every sentence, in random order; it goes on to the next one or two sentences of the
    document while they fit into the longest of LENGTHS.
    """

    def __init__(self, stores: Sequence[TokenStore], seed: int = 0):
        self.stores, self.seed = stores, seed
        self.ends = np.cumsum([len(store.sentences) - 1 for store in stores])
        self.points = int(self.ends[-1])
        self._epoch = lru_cache(maxsize=2)(self._order)

    def _order(self, epoch: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, 4, epoch])
        return rng.permutation(np.arange(self.points, dtype=np.uint32))

    def sample(self, first: int, count: int) -> list[SingleInput]:
        """The inputs number `first` to `first + count`; the same in every call."""
        rng = np.random.default_rng([self.seed, 5, first])
        sentence_counts = rng.integers(1, MAX_SENTENCES + 1, size=count)
        return [
            self._single(int(self._epoch(number // self.points)[number % self.points]), int(sentences))
            for number, sentences in zip(range(first, first + count), sentence_counts, strict=True)
        ]

    def sentences(self) -> Iterator[SingleInput]:
        """Every sentence once, each alone, in the order of the first epoch."""
        return (self._single(int(sentence), 1) for sentence in self._epoch(0))

    def _single(self, index: int, max_sentences: int) -> SingleInput:
        """The input that begins at the sentence of this index, counted over all stores."""
        number = int(np.searchsorted(self.ends, index, side="right"))
        store, sentence = self.stores[number], index - (int(self.ends[number - 1]) if number else 0)
        document_end = int(store.documents[int(np.searchsorted(store.documents, sentence, side="right"))])
        begin, max_length = int(store.sentences[sentence]), LENGTHS[-1] - 2
        lengths = store.sentences[sentence : min(sentence + max_sentences, document_end) + 1] - begin  # of 0, 1, … sentences
        sentences = max(1, int(np.searchsorted(lengths, max_length, side="right")) - 1)
        return SingleInput(store.ids[begin : begin + min(int(lengths[sentences]), max_length)])


def collate_singles(singles: Sequence[SingleInput], tokenizer: WordPiece) -> PairBatch:
    """Single inputs as [CLS] A [SEP], padded to one length; there are no NSP labels."""
    lengths = np.array([len(single) for single in singles])
    length = int(lengths.max())
    ids = np.full((len(singles), length), tokenizer.pad_id, dtype=np.int64)
    for row, single in enumerate(singles):
        ids[row, 0], ids[row, len(single) - 1] = tokenizer.cls_id, tokenizer.sep_id
        ids[row, 1 : len(single) - 1] = single.ids
    return PairBatch(
        ids,
        segments=np.zeros_like(ids),
        attention_mask=np.arange(length) < lengths[:, None],
        nsp_labels=np.zeros(0, dtype=np.int64),
    )
