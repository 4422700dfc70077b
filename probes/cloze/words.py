"""Words and their wordpieces in a place of the input: how a word is spelled, put there, and how probable it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, InputError, Token

from .prediction import rank


def vocabulary_word(bert: Bert, text: str) -> str | None:
    """The one wordpiece that a text is to this model, after its own rules on case and accents; None where it takes more."""
    ids = bert.tokenizer.piece_ids(text)
    return bert.tokenizer.vocabulary[ids[0]] if len(ids) == 1 and ids[0] != bert.tokenizer.unknown_id else None


def to_piece_ids(bert: Bert, word: str) -> list[int]:
    """The wordpieces of a word; it must have some, none of them special."""
    ids = bert.tokenizer.piece_ids(word)
    if not ids or set(ids) & bert.tokenizer.special_ids:
        raise InputError(f"“{word.strip()}” cannot be spelled with this model's vocabulary; another word is needed.")
    return ids


def replace_span(bert: Bert, encoding: Encoding, start: int, stop: int, ids: Sequence[int]) -> Encoding:
    """The same input with other wordpieces in place of the tokens [start, stop); later positions shift along."""
    old = encoding.tokens
    pieces = [
        Token(bert.tokenizer.vocabulary[piece], piece, old[start].segment, start + index, old[start].word, old[start].span)
        for index, piece in enumerate(ids)
    ]
    rest = [Token(t.text, t.id, t.segment, start + len(ids) + index, t.word, t.span) for index, t in enumerate(old[stop:])]
    return Encoding((*old[:start], *pieces, *rest), encoding.texts, encoding.truncated)


@dataclass(frozen=True)
class WordScore:
    """P(word) in one place, by the chain rule over its wordpieces, and its rank.

    A word of several pieces gets as many masks, and each piece is predicted with those before it filled in. It has no
    rank: the words it competes with need another number of masks.
    """

    word: str
    pieces: tuple[str, ...]
    each: tuple[float, ...]  # P of each piece
    rank: int | None

    @property
    def probability(self) -> float:
        return float(np.prod(self.each))

    @classmethod
    def from_prediction(cls, bert: Bert, predicted: np.ndarray, ids: Sequence[int], word: str) -> "WordScore":
        """The score of a word whose i-th wordpiece is predicted by the i-th row of (pieces, vocabulary)."""
        each = tuple(float(row[piece]) for row, piece in zip(predicted, ids, strict=True))
        first = int(rank(predicted, ids)[0]) if len(ids) == 1 else None
        return cls(word, tuple(bert.tokenizer.vocabulary[piece] for piece in ids), each, first)


def word_score(bert: Bert, encoding: Encoding, start: int, stop: int, word: str) -> WordScore:
    """P(word) in place of tokens [start, stop): one mask for each of its wordpieces, filled left to right."""
    bert.require_mlm()
    ids = to_piece_ids(bert, word)
    masks = [bert.tokenizer.mask_id] * len(ids)
    rows = [replace_span(bert, encoding, start, stop, ids[:done] + masks[done:]) for done in range(len(ids))]
    with torch.inference_mode():
        states = bert.states_at(torch.arange(len(ids)), torch.arange(start, start + len(ids)), rows)
        predicted = bert.mlm_logits(states).softmax(-1).cpu().numpy()  # (pieces, vocabulary)
    return WordScore.from_prediction(bert, predicted, ids, word.strip())
