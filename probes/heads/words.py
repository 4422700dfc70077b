"""Attention between whole words instead of wordpieces, or between chosen tokens only."""

from collections.abc import Sequence

import numpy as np

from model import Encoding


def word_spans(encoding: Encoding) -> np.ndarray:
    """Where each word begins and ends, (words, 2), as positions [start, stop); [CLS] and [SEP] are words of their own."""
    starts = [
        token.position
        for token, previous in zip(encoding.tokens, (None, *encoding.tokens), strict=False)
        if previous is None or token.word is None or token.word != previous.word
    ]
    return np.stack([starts, [*starts[1:], len(encoding)]], axis=1)


def word_texts(encoding: Encoding, spans: np.ndarray) -> list[str]:
    """The wordpieces of each span joined: (words, 2) -> one text a word."""
    pieces = [token.text for token in encoding.tokens]
    return [pieces[start] + "".join(piece.removeprefix("##") for piece in pieces[start + 1 : stop]) for start, stop in spans]


def merge_wordpieces(attention: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Attention to a word is the sum over its pieces, attention from it their mean. Clark et al. (2019), 4.1.

    (..., query, key) and spans (words, 2) -> (..., words, words); positions outside all spans are left out.
    """
    positions = np.arange(attention.shape[-1])
    member = ((spans[:, :1] <= positions) & (positions < spans[:, 1:])).astype(attention.dtype)  # (words, seq)
    return member / member.sum(1, keepdims=True) @ attention @ member.T


def renormalise(attention: np.ndarray, positions: Sequence[int]) -> np.ndarray:
    """Attention between some positions, rows summing to one again: (..., query, key) -> (..., positions, positions)."""
    part = attention[..., positions, :][..., positions]
    return part / np.maximum(part.sum(-1, keepdims=True), 1e-12)
