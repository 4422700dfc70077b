"""Predictions: the section of Compare where both sides predict a hidden word."""

import streamlit as st

from app import layout
from app.figures import word_bars
from app.views.compare.models import ComparedSide
from app.widgets import text_inputs
from app.widgets.choice import pills
from model import MissingHeadError
from model.tokenizer import MASK
from probes import cloze, comparison
from probes.cloze import query

LISTED = 8


def section(left: ComparedSide, right: ComparedSide) -> None:
    predictions = []
    same = (left.a, left.b) == (right.a, right.b) and len(query.words(left.trace.encoding)) == len(
        query.words(right.trace.encoding)
    )
    shared = _hidden_word(left, "Hide a word on both sides", "hidden") if same else None
    for column, side, key in zip(st.columns(2, gap="large"), (left, right), ("hidden_left", "hidden_right"), strict=True):
        with column:
            word = _hidden_word(side, f"Hide a word: {side.label}", key) if shared is None else shared
            try:
                predictions.append((_prediction(side, word), side.bert.tokenizer.vocabulary))
            except MissingHeadError as problem:
                st.info(layout.escape(str(problem)))
    if len(predictions) == 2:
        (left_probabilities, left_words), (right_probabilities, right_words) = predictions
        agreement = comparison.agreement(left_probabilities, left_words, right_probabilities, right_words)
        st.metric(
            "Probability that both predictions share",
            f"{agreement:.1%}",
            help="For every word of both vocabularies the smaller of its two probabilities, summed. 100 %: the same "
            "prediction. 0 %: no word in common.",
        )
        st.caption(
            f"{comparison.uniform_agreement(left_probabilities):.1%} is what the left side would share with a model that "
            "finds every word equally likely: the baseline."
        )


def _hidden_word(side: ComparedSide, label: str, key: str) -> int:
    words = query.words(side.trace.encoding)
    first = next((str(word) for word, text in words if text == MASK), str(query.longest_word(words)))
    text_inputs.reset_if_tokens_changed(key, side.trace, first)
    return int(pills(label, {str(word): text for word, text in words}, key, first))


def _prediction(side: ComparedSide, word: int):
    """Draw the likeliest words of one side in place of a word, and return P of its whole vocabulary: (vocabulary,)."""
    before, original, after = query.split_at(side.trace.encoding, word)
    encoding = side.bert.tokenizer.encode(f"{before}{MASK}{after}", side.b)
    position = cloze.mask_positions(side.bert, encoding)[before.count(MASK)]
    side.bert.require_mlm()
    probabilities = cloze.probabilities(side.bert, encoding, [position])[0, : side.bert.tokenizer.vocab_size]
    best = cloze.top_k(side.bert, probabilities, LISTED)
    orange = "" if original == MASK else f"; *{layout.escape(original)}*, which stood there, is orange if it is listed"
    layout.chart(
        word_bars.bars(best, cloze.vocabulary_word(side.bert, original)),
        key=f"guess {side.label} {side.a} {word}",
        finding=f"*{layout.escape(best['word'][0])}* is the first choice of {layout.escape(side.label)} "
        f"({best['probability'][0]:.0%}){orange}.",
        alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()),
    )
    return probabilities
