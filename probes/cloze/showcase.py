"""What to show a newcomer first: a word worth hiding and a head that has something to say about it."""

import numpy as np
import pandas as pd

from model import Bert, Encoding, InputProblem, Trace

from .. import cloze


def words(trace: Trace) -> list[tuple[int, str]]:
    """The words of sentence A as (word index, text), punctuation left out."""
    found: dict[int, tuple[int, int]] = {}
    for token in trace.tokens:
        if token.segment == 0 and token.word is not None and token.span is not None:
            start = found.get(token.word, token.span)[0]
            found[token.word] = (start, token.span[1])
    text = trace.encoding.texts[0]
    named = [(word, text[start:end]) for word, (start, end) in found.items()]
    kept = [(word, name) for word, name in named if any(letter.isalnum() for letter in name)]
    if not kept:
        raise InputProblem("Sentence A has no word in it, only signs: type a few words.")
    return kept


def worth_hiding(listed: list[tuple[int, str]]) -> int:
    """The index of the longest word, the last of them where several are: a guess at the one that carries meaning."""
    return max(listed, key=lambda word: (len(word[1]), word[0]))[0]


def blanked(trace: Trace, word: int) -> tuple[str, str, str]:
    """The text of sentence A before, in and after a word."""
    spans = [token.span for token in trace.tokens if token.word == word and token.span is not None]
    text, start, end = trace.encoding.texts[0], spans[0][0], spans[-1][1]
    return text[:start], text[start:end], text[end:]


def guesses(bert: Bert, encoding: Encoding, word: int, k: int = 6) -> pd.DataFrame:
    """The k likeliest words in place of a word of an input, all else as it stands: position, word, probability.

    The word is hidden behind one [MASK], however many pieces it has.
    """
    places = [token.position for token in encoding.tokens if token.word == word]
    blank = cloze.spliced(bert, encoding, places[0], places[-1] + 1, [bert.tokenizer.mask])
    return cloze.best(bert, cloze.masked(bert, blank, [places[0]]), [places[0]], k)


def telling_head(trace: Trace, word: int) -> tuple[int, int]:
    """The (layer, head) that links a word most to one further off than its neighbours, and is busy with words at all."""
    own = np.array([token.word == word for token in trace.tokens])
    others = np.array([token.word is not None and abs(token.word - word) > 1 for token in trace.tokens])
    if not others.any():
        return 0, 0
    strongest = trace.attention[:, :, own][..., others].mean(2).max(-1)  # (layers, heads)
    words = np.array([not token.special for token in trace.tokens])
    busy = trace.attention[:, :, words][..., words].sum(-1).mean(-1)  # (layers, heads), the rest goes to [CLS] and [SEP]
    layer, head = np.unravel_index((strongest * busy).argmax(), strongest.shape)
    return int(layer), int(head)
