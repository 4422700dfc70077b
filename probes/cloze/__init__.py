"""The cloze test: which word stands behind a mask, how probable is a word there, how probable is a sentence."""

from .prediction import fill, mask, mask_positions, predict, probabilities, rank, top_k
from .pseudo_likelihood import VARIANTS, score, token_log_probs
from .words import WordScore, replace_span, to_piece_ids, vocabulary_word, word_score

__all__ = [
    "VARIANTS",
    "WordScore",
    "fill",
    "mask",
    "mask_positions",
    "predict",
    "probabilities",
    "rank",
    "replace_span",
    "score",
    "to_piece_ids",
    "token_log_probs",
    "top_k",
    "vocabulary_word",
    "word_score",
]
