"""Sentence pairs for next-sentence prediction: half are the real continuation, half are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputError
from ..tokenizer import WordPiece
from .token_store import TokenStore

NEGATIVES = ("another", "same")
SHORT = 0.1  # fraction of pairs of a random shorter length, as short inputs will be read too: Devlin et al. (2019), A.2
CANDIDATES = 4  # spans sampled for a NotNext pair, of which the nearest in length is taken
TRIES = 64
MIN_LENGTH = 8  # wordpieces of a pair, special tokens included


def holds_pairs(store: TokenStore, negatives: str) -> bool:
    """Whether pairs can be sampled from a store: it has another document, or one long enough for another span."""
    return len(store) > 1 if negatives == "another" else bool(np.diff(store.documents).max(initial=0) > 2)


@dataclass(frozen=True, slots=True)
class SentencePair:
    """Two spans of wordpieces, and whether the second truly follows the first."""

    a: np.ndarray
    b: np.ndarray
    is_next: bool

    def __len__(self) -> int:
        return len(self.a) + len(self.b) + 3


class PairSampler:
    """The pairs of a store in an order that a seed fixes; the n-th does not need those before it.

    An epoch lays a grid over the corpus, one point every `max_length` wordpieces from a random start, and visits the
    points in random order. At each point the sentences that fill the length become A and B, cut apart at a random
    sentence boundary; then, in half of the pairs, a span from elsewhere replaces B. That span comes from another document
    (Devlin et al., 2019) or from elsewhere in the same one, and is as near in length to the true B as whole sentences
    allow, so that length tells little: boosted trees that see nothing but the two lengths are right 52 to 54 times in 100.
    """

    def __init__(self, store: TokenStore, max_length: int = 128, negatives: str = "another", seed: int = 0):
        if negatives not in NEGATIVES:
            raise InputError(f"Negatives come from {' or '.join(NEGATIVES)}, not {negatives!r}.")
        if max_length < MIN_LENGTH:
            raise InputError(f"A pair has at most {max_length} wordpieces; at least {MIN_LENGTH} are needed.")
        if not len(store):
            raise InputError(
                "The corpus holds no document of two sentences or more; blank lines separate documents, "
                "so put the sentences of one document on lines without a blank one between them."
            )
        if negatives == "another" and not holds_pairs(store, negatives):
            raise InputError(
                "Negatives from another document need two documents or more; separate documents by "
                "blank lines, or take negatives from the same document."
            )
        if not holds_pairs(store, negatives):
            raise InputError("Negatives from the same document need a document of three sentences or more.")
        self.store, self.max_pieces, self.negatives, self.seed = store, max_length - 3, negatives, seed
        self.points = max(1, store.tokens // self.max_pieces)
        self._epoch = lru_cache(maxsize=2)(self._order)

    def _order(self, epoch: int) -> tuple[int, np.ndarray]:
        """The start of the grid, and the order of its points."""
        rng = np.random.default_rng([self.seed, 0, epoch])
        order = rng.permutation(np.arange(self.points, dtype=np.uint32))
        return int(rng.integers(self.max_pieces)), order

    def sample(self, first: int, count: int) -> list[SentencePair]:
        """The pairs number `first` to `first + count`; the same in every call."""
        rng = np.random.default_rng([self.seed, 1, first])
        pairs = []
        for number in range(first, first + count):
            epoch, index = divmod(number, self.points)
            start, order = self._epoch(epoch)
            pairs.append(self._pair((start + int(order[index]) * self.max_pieces) % self.store.tokens, rng))
        return pairs

    def _pair(self, token: int, rng: np.random.Generator) -> SentencePair:
        """The pair around a wordpiece of the store."""
        is_next = bool(rng.random() < 0.5)
        max_pieces = self.max_pieces
        if rng.random() < SHORT:
            max_pieces = int(rng.integers(5, self.max_pieces + 1))
        for _ in range(TRIES):
            first, middle, last = self._sentences(token, max_pieces, rng)
            a, b = self._cut(first, middle, last, max_pieces)
            if is_next:
                return SentencePair(a, b, True)
            b = self._negative(first, middle, len(b), max_pieces - len(a), rng)
            if b is not None:
                return SentencePair(a, b, False)
            # the document is too short to hold another span: try elsewhere
            token = int(rng.integers(self.store.tokens))
        raise InputError("The documents are too short for negatives from the same document.")

    def _document(self, token: int) -> int:
        return int(np.searchsorted(self.store.document_tokens, token, side="right")) - 1

    def _sentences(self, token: int, max_pieces: int, rng: np.random.Generator) -> tuple[int, int, int]:
        """Sentences around a wordpiece that fill the length, and the one where B begins: first, middle, last + 1."""
        starts, document = self.store.sentences, self._document(token)
        low, high = int(self.store.documents[document]), int(self.store.documents[document + 1])
        first = low + int(np.searchsorted(starts[low:high], token, side="right")) - 1
        last = first + int(np.searchsorted(starts[first + 1 : high + 1], starts[first] + max_pieces, side="right"))
        if last == high:  # the document ends here: fill up with the sentences before
            first = low + int(np.searchsorted(starts[low:first], starts[high] - max_pieces, side="left"))
        if last - first < 2:
            first, last = (first, first + 2) if first + 2 <= high else (high - 2, high)
        return first, int(rng.integers(first + 1, last)), last

    def _cut(self, first: int, middle: int, last: int, max_pieces: int) -> tuple[np.ndarray, np.ndarray]:
        """A and B as ids; where a sentence alone is too long, A loses its beginning and B its end."""
        begin, boundary, end = (int(self.store.sentences[sentence]) for sentence in (first, middle, last))
        if end - begin > max_pieces:
            half, a_length = max_pieces // 2, boundary - begin
            if a_length > half:
                a_length = max_pieces - min(half, end - boundary)
            begin, end = boundary - a_length, min(end, boundary + max_pieces - a_length)
        return self.store.ids[begin:boundary], self.store.ids[boundary:end]

    def _negative(
        self, first: int, middle: int, length: int, max_pieces: int, rng: np.random.Generator
    ) -> np.ndarray | None:
        """A span that does not follow A, near `length` and never over `max_pieces`; None where there is none."""
        candidates = [self._span(first, middle, length, max_pieces, rng) for _ in range(CANDIDATES)]
        spans = [span for span in candidates if span is not None]
        return min(spans, key=lambda span: abs(len(span) - length), default=None)

    def _span(self, first: int, middle: int, length: int, max_pieces: int, rng: np.random.Generator) -> np.ndarray | None:
        """One candidate: whole sentences from a random one on, cut where the first alone is too long."""
        store, starts = self.store, self.store.sentences
        document = self._document(int(starts[first]))
        low, high = int(store.documents[document]), int(store.documents[document + 1])
        if self.negatives == "same":
            free = (first - low) + (high - middle - 1)  # A itself and the true continuation are no negatives
            if free < 1:
                return None
            sentence = low + int(rng.integers(free))
            sentence, end = (sentence, first) if sentence < first else (sentence - first + middle + 1, high)
        else:
            own_tokens = int(starts[high] - starts[low])
            token = int(rng.integers(store.tokens - own_tokens))
            other = self._document(token + own_tokens if token >= starts[low] else token)
            end = int(store.documents[other + 1])
            sentence = int(rng.integers(int(store.documents[other]), end))
        begin = int(starts[sentence])
        lengths = starts[sentence + 1 : end + 1] - begin  # of 1, 2, … whole sentences from here
        index = min(int(np.searchsorted(lengths, length)), len(lengths) - 1)
        if index and (lengths[index] > max_pieces or length - lengths[index - 1] < lengths[index] - length):
            index -= 1
        return store.ids[begin : begin + min(int(lengths[index]), max_pieces)]


@dataclass(frozen=True)
class PairBatch:
    """Pairs as [CLS] A [SEP] B [SEP], padded to one length; NSP label 0 is IsNext, 1 is NotNext."""

    ids: np.ndarray  # (batch, seq)
    segments: np.ndarray  # (batch, seq)
    attention_mask: np.ndarray  # (batch, seq), False on padding
    nsp_labels: np.ndarray  # (batch,)


def collate_pairs(pairs: Sequence[SentencePair], tokenizer: WordPiece) -> PairBatch:
    """Pairs -> padded arrays."""
    length = max(map(len, pairs))
    ids = np.full((len(pairs), length), tokenizer.pad_id, dtype=np.int64)
    segments = np.zeros((len(pairs), length), dtype=np.int64)
    for row, pair in enumerate(pairs):
        b_start, end = len(pair.a) + 2, len(pair)
        ids[row, 0], ids[row, b_start - 1], ids[row, end - 1] = tokenizer.cls_id, tokenizer.sep_id, tokenizer.sep_id
        ids[row, 1 : b_start - 1], ids[row, b_start : end - 1] = pair.a, pair.b
        segments[row, b_start:end] = 1
    lengths = np.array([len(pair) for pair in pairs])
    return PairBatch(
        ids,
        segments,
        attention_mask=np.arange(length) < lengths[:, None],
        nsp_labels=np.array([0 if pair.is_next else 1 for pair in pairs], dtype=np.int64),
    )
