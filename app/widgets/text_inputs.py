"""Inputs that several sections share: a layer, a token, a box of many sentences. All of them are in the address."""

import streamlit as st

from app import layout, limits
from app.samples import senses
from app.widgets.choice import slider
from model import Bert, Trace
from probes.states import token_contexts


def layer(bert: Bert, key: str, first: int = 0, at: int | None = None) -> int:
    """A slider over the layers of a model; 0 is the embedding output."""
    last = bert.config.num_hidden_layers
    return st.slider(
        "Layer",
        first,
        last,
        last if at is None else at,
        key=key,
        bind="query-params",
        help="0 is the embedding output, before any layer.",
    )


def token(trace: Trace, label: str, key: str) -> int:
    """A slider over the tokens of the sentence; its position."""
    names = {str(token.position): f"{token.position} · {token.text}" for token in trace.tokens}
    start = str(min(2, len(names) - 1))
    reset_if_tokens_changed(key, trace, start)
    return int(slider(label, names, key, start))


def reset_if_tokens_changed(key: str, trace: Trace, start: str | list[str]) -> None:
    """Put a choice among tokens back to its start when the tokens are others."""
    if st.session_state.setdefault(f"{key} of", trace.wordpieces) != trace.wordpieces:
        st.session_state[key], st.session_state[f"{key} of"] = start, trace.wordpieces


def follow(key: str, cause: object) -> None:
    """Let a choice begin again whenever what its default depends on has changed; what a link names stays the first time."""
    before = st.session_state.get(f"{key} after", cause)
    st.session_state[f"{key} after"] = cause
    if before != cause:
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def suggest(key: str, text: str) -> None:
    """Let an input in which nobody wrote yet follow the suggestion for the sentences as they are now."""
    suggested = f"{key} suggested"
    if st.session_state.get(key, text) == st.session_state.get(suggested, text) != text:
        st.session_state[key] = text
    st.session_state[suggested] = text


def sentence_box(text: str, key: str, height: int = 260, label: str = "") -> str:
    """A box of sentences. An address holds so much and no more: a long text is not in it."""
    current = st.session_state.get(key, text)
    short = len(current) <= limits.TEXT_CHARACTERS
    if short and current != text and key not in st.query_params:
        st.session_state[key] = current  # one that was long before is not yet in the address
    return st.text_area(
        label or "Sentences",
        text,
        key=key,
        height=height,
        max_chars=limits.PASTED_CHARACTERS,
        label_visibility="visible" if label else "collapsed",
        bind="query-params" if short else None,
    )


def passage(key: str, text: str = senses.PASSAGE) -> tuple[str, ...]:
    """Sentences of a text to read, the sample ones to begin with."""
    with st.expander("The text that is read", icon=":material/article:"):
        current = sentence_box(text, key, 220)
    return limit_sentences(token_contexts.split(current))


def limit_sentences(sentences: list[str]) -> tuple[str, ...]:
    """At most as many sentences as are read at once; a note says how many there are more."""
    if len(sentences) > limits.PASTED_SENTENCES:
        layout.input_note(f"The first {limits.PASTED_SENTENCES} of {len(sentences)} sentences are read.")
    return tuple(sentences[: limits.PASTED_SENTENCES])
