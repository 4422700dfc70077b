"""Sentence pairs for next-sentence prediction: half are the real continuation, half are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputProblem
from ..tokenizer import WordPiece
from .token_store import Store

NEGATIVES = ("another", "same")
SHORT = 0.1  # share of pairs of a random shorter length, as short inputs will be read too: Devlin et al. (2019), A.2
CANDIDATES = 4  # spans drawn for a NotNext pair, of which the nearest in length is taken
TRIES = 64


def holds_pairs(store: Store, negatives: str) -> bool:
    """Whether pairs can be drawn from a store: it has another document, or one with room for another span."""
    return len(store) > 1 if negatives == "another" else bool(np.diff(store.documents).max(initial=0) > 2)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two spans of wordpieces, and whether the second truly follows the first."""

    a: np.ndarray
    b: np.ndarray
    is_next: bool

    def __len__(self) -> int:
        return len(self.a) + len(self.b) + 3


class Pairs:
    """The pairs of a store in an order that a seed fixes; the n-th can be had without those before it.

    An epoch lays a grid over the corpus, one point every `length` wordpieces from a random start, and visits the
    points in random order. At each point the sentences that fill the length become A and B, cut apart at a random
    sentence boundary; then a coin puts a span from elsewhere in the place of B. That span comes from another document
    (Devlin et al., 2019) or from elsewhere in the same one, and is as near in length to the true B as whole sentences
    allow, so that length tells little: boosted trees that see nothing but the two lengths are right 52 to 54 times in 100.
    """

    def __init__(self, store: Store, length: int = 128, negatives: str = "another", seed: int = 0):
        if negatives not in NEGATIVES:
            raise InputProblem(f"Negatives come from {' or '.join(NEGATIVES)}, not {negatives!r}.")
        if length < 8:
            raise InputProblem("A pair needs room for at least 8 wordpieces.")
        if not len(store):
            raise InputProblem("The corpus holds no document of two sentences or more; blank lines separate documents, "
                               "so put the sentences of one document on lines without a blank one between them.")
        if negatives == "another" and not holds_pairs(store, negatives):
            raise InputProblem("Negatives from another document need two documents or more; separate documents by "
                               "blank lines, or take negatives from the same document.")
        if not holds_pairs(store, negatives):
            raise InputProblem("Negatives from the same document need a document of three sentences or more.")
        self.store, self.room, self.negatives, self.seed = store, length - 3, negatives, seed
        self.points = max(1, store.tokens // self.room)
        self._epoch = lru_cache(maxsize=2)(self._order)

    def _order(self, epoch: int) -> tuple[int, np.ndarray]:
        generator = np.random.default_rng([self.seed, 0, epoch])
        order = generator.permutation(np.arange(self.points, dtype=np.uint32))
        return int(generator.integers(self.room)), order

    def stretch(self, first: int, count: int) -> list[Pair]:
        """The pairs number `first` to `first + count`; the same whenever the same stretch is asked for."""
        generator = np.random.default_rng([self.seed, 1, first])
        made = []
        for number in range(first, first + count):
            epoch, place = divmod(number, self.points)
            start, order = self._epoch(epoch)
            made.append(self._pair((start + int(order[place]) * self.room) % self.store.tokens, generator))
        return made

    def _pair(self, token: int, generator: np.random.Generator) -> Pair:
        is_next = bool(generator.random() < 0.5)
        room = self.room
        if generator.random() < SHORT:
            room = int(generator.integers(5, self.room + 1))
        for _ in range(TRIES):
            first, middle, last = self._place(token, room, generator)
            a, b = self._cut(first, middle, last, room)
            if is_next:
                return Pair(a, b, True)
            b = self._elsewhere(first, middle, len(b), room - len(a), generator)
            if b is not None:
                return Pair(a, b, False)
            # the document is too short to hold another span: look at another place
            token = int(generator.integers(self.store.tokens))
        raise InputProblem("The documents are too short for negatives from the same document.")

    def _document(self, token: int) -> int:
        return int(np.searchsorted(self.store.document_tokens, token, side="right")) - 1

    def _place(self, token: int, room: int, generator: np.random.Generator) -> tuple[int, int, int]:
        """Sentences around a wordpiece that fill the room, and the one where B begins: first, middle, last + 1."""
        starts, document = self.store.sentences, self._document(token)
        low, high = int(self.store.documents[document]), int(self.store.documents[document + 1])
        first = low + int(np.searchsorted(starts[low:high], token, side="right")) - 1
        last = first + int(np.searchsorted(starts[first + 1: high + 1], starts[first] + room, side="right"))
        if last == high:  # the document ends here: use the room before it
            first = low + int(np.searchsorted(starts[low:first], starts[high] - room, side="left"))
        if last - first < 2:
            first, last = (first, first + 2) if first + 2 <= high else (high - 2, high)
        return first, int(generator.integers(first + 1, last)), last

    def _cut(self, first: int, middle: int, last: int, room: int) -> tuple[np.ndarray, np.ndarray]:
        """A and B as ids; where a sentence alone is too long, A loses its beginning and B its end."""
        begin, edge, end = (int(self.store.sentences[at]) for at in (first, middle, last))
        if end - begin > room:
            half = room // 2
            kept = room - min(half, end - edge) if edge - begin > half else edge - begin
            begin, end = edge - kept, min(end, edge + room - kept)
        return self.store.ids[begin:edge], self.store.ids[edge:end]

    def _elsewhere(self, first: int, middle: int, length: int, room: int,
                   generator: np.random.Generator) -> np.ndarray | None:
        """A span that does not follow A, near the length asked for and never over the room; None where there is none."""
        spans = [self._span(first, middle, length, room, generator) for _ in range(CANDIDATES)]
        found = [span for span in spans if span is not None]
        return min(found, key=lambda span: abs(len(span) - length), default=None)

    def _span(self, first: int, middle: int, length: int, room: int,
              generator: np.random.Generator) -> np.ndarray | None:
        store, starts = self.store, self.store.sentences
        home = self._document(int(starts[first]))
        low, high = int(store.documents[home]), int(store.documents[home + 1])
        if self.negatives == "same":
            free = (first - low) + (high - middle - 1)  # A itself and the true continuation are no negatives
            if free < 1:
                return None
            at = low + int(generator.integers(free))
            at, end = (at, first) if at < first else (at - first + middle + 1, high)
        else:
            own = int(starts[high] - starts[low])
            token = int(generator.integers(store.tokens - own))
            other = self._document(token + own if token >= starts[low] else token)
            end, at = int(store.documents[other + 1]), int(store.documents[other])
            at = int(generator.integers(at, end))
        begin = int(starts[at])
        lengths = starts[at + 1: end + 1] - begin  # of the runs of whole sentences from here
        over = min(int(np.searchsorted(lengths, length)), len(lengths) - 1)
        if over and (lengths[over] > room or length - lengths[over - 1] < lengths[over] - length):
            over -= 1
        return store.ids[begin: begin + min(int(lengths[over]), room)]


@dataclass(frozen=True)
class Rows:
    """Pairs packed as [CLS] A [SEP] B [SEP] and padded to one length; NSP label 0 is IsNext, 1 is NotNext."""

    ids: np.ndarray  # (batch, seq)
    segments: np.ndarray  # (batch, seq)
    mask: np.ndarray  # (batch, seq), False on padding
    labels: np.ndarray  # (batch,)


def packed(pairs: Sequence[Pair], tokenizer: WordPiece) -> Rows:
    """Pairs -> padded arrays, as the model reads them."""
    length = max(map(len, pairs))
    ids = np.full((len(pairs), length), tokenizer.pad, dtype=np.int64)
    segments = np.zeros((len(pairs), length), dtype=np.int64)
    for row, pair in enumerate(pairs):
        edge, end = len(pair.a) + 2, len(pair)
        ids[row, 0], ids[row, edge - 1], ids[row, end - 1] = tokenizer.cls, tokenizer.sep, tokenizer.sep
        ids[row, 1: edge - 1], ids[row, edge: end - 1] = pair.a, pair.b
        segments[row, edge:end] = 1
    sizes = np.array([len(pair) for pair in pairs])
    return Rows(ids, segments, np.arange(length) < sizes[:, None],
                np.array([0 if pair.is_next else 1 for pair in pairs], dtype=np.int64))
