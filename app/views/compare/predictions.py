"""Predictions: the section of Compare where both sides guess a hidden word."""

import numpy as np
import streamlit as st

from app import layout
from app.figures import word_bars
from app.views.compare.models import Side
from model import MissingHead
from model.tokenizer import MASK
from probes import cloze, comparison
from probes.cloze import showcase

SHOWN = 8


def section(left: Side, right: Side) -> None:
    guesses = []
    same = (left.a, left.b) == (right.a, right.b) and len(showcase.words(left.trace)) == len(showcase.words(right.trace))
    shared = _hidden(left, "Hide a word on both sides") if same else None
    for column, side in zip(st.columns(2, gap="large"), (left, right), strict=True):
        with column:
            try:
                guesses.append(_guess(side, shared if same else _hidden(side, f"Hide a word: {side.label}")))
            except MissingHead as problem:
                st.info(layout.plain(str(problem)))
    if len(guesses) == 2:
        (p, left_words), (q, right_words) = guesses
        even = comparison.agreement(p, left_words, np.full(len(left_words), 1 / len(left_words)), left_words)
        st.metric("Probability that both predictions share",
                  f"{comparison.agreement(p, left_words, q, right_words):.1%}",
                  help="For every word of both vocabularies the smaller of its two probabilities, summed. 100 %: the same "
                       "prediction. 0 %: no word in common.")
        st.caption(f"Baseline: with a model that finds every word equally likely, the left side would share {even:.1%}.")


def _hidden(side: Side, label: str) -> int:
    names = dict(showcase.words(side.trace))
    listed = list(names)
    first = next((word for word in listed if names[word] == MASK), listed[len(listed) // 2])
    return st.pills(label, listed, default=first, required=True, key=f"hide {label} {side.a}",
                    format_func=lambda word: names[word])


def _guess(side: Side, hidden: int):
    before, original, after = showcase.blanked(side.trace, hidden)
    encoding = side.bert.tokenizer.encode(f"{before}{MASK}{after}", side.b)
    masks = cloze.masks(side.bert, encoding)
    places = [masks[before.count(MASK)]]
    best = cloze.best(side.bert, encoding, places, SHOWN)
    layout.chart(word_bars.bars(best, cloze.vocabulary_word(side.bert, original)),
                 key=f"guess {side.label} {side.a} {hidden}",
                looking=f"What you are looking at: the guesses of {layout.plain(side.label)} for the hidden word; "
                        f"*{layout.plain(original)}* is orange if it is among them.",
                alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()))
    return cloze.probabilities(side.bert, encoding, places)[0, : side.bert.tokenizer.size], side.bert.tokenizer.words
