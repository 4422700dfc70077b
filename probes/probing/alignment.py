"""Words and wordpieces: annotated sentences encoded so that every label still finds its word."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, InputError
from model.short_repr import ShortRepr

from .treebank import Sentence


@dataclass(frozen=True)
class AlignedSentence:
    """A sentence as the model reads it: word w became the wordpieces from spans[w, 0] up to, not with, spans[w, 1]."""

    sentence: Sentence
    encoding: Encoding
    spans: np.ndarray  # (words, 2); an empty span where the tokenizer left nothing of a word

    @property
    def has_tree(self) -> bool:
        """Whether its words have heads."""
        return bool(self.sentence.heads)

    @property
    def is_complete(self) -> bool:
        """Whether every word has a wordpiece."""
        return bool((self.spans[:, 0] < self.spans[:, 1]).all())


@dataclass(frozen=True, repr=False)
class Alignment(ShortRepr):
    """Sentences that the model reads whole, and how many it does not."""

    sentences: tuple[AlignedSentence, ...]
    skipped: int  # longer than the model reads, or in characters its vocabulary lacks


def align(bert: Bert, sentences: Iterable[Sentence]) -> Alignment:
    """Encode annotated sentences so that every label still finds its word."""
    attempts = [align_one(bert, sentence) for sentence in sentences]
    aligned = tuple(attempt for attempt in attempts if attempt is not None)
    return Alignment(aligned, skipped=len(attempts) - len(aligned))


def align_one(bert: Bert, sentence: Sentence) -> AlignedSentence | None:
    """One sentence, or None where the model cannot read it whole."""
    try:
        encoding = bert.tokenizer.encode_words(sentence.words, sentence.second)
        if sentence.second:
            bert.tokenizer.encode_words(sentence.second)  # refuses a sentence B of unknown characters only
    except InputError:
        return None
    if any(encoding.truncated) or len(encoding) > bert.config.max_position_embeddings:
        return None
    word_of_piece = [token.word for token in encoding.tokens if token.word is not None and token.segment == 0]
    pieces = np.bincount(word_of_piece, minlength=len(sentence))
    ends = 1 + np.cumsum(pieces)  # [CLS] comes before the first word
    return AlignedSentence(sentence, encoding, np.stack([ends - pieces, ends], axis=1))
