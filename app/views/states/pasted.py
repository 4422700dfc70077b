"""Inputs that several sections share: a layer, a box of many sentences."""

import streamlit as st

from app import frame, limits, samples
from model import Bert
from probes import contexts


def layer(bert: Bert, key: str, first: int = 0, at: int | None = None) -> int:
    """A slider over the layers of a model; 0 is the embedding output."""
    last = bert.config.num_hidden_layers
    return st.slider("Layer", first, last, last if at is None else at, key=f"{key} {bert.about.name}",
                     help="0 is the embedding output, before any layer.")


def passage(key: str, text: str = samples.PASSAGE) -> tuple[str, ...]:
    """Sentences of a text to read, the sample ones to begin with."""
    with st.expander("The text that is read", icon=":material/article:"):
        typed = st.text_area("Sentences", text, key=key, height=220, max_chars=limits.PASTED_CHARACTERS,
                             label_visibility="collapsed")
    return bounded(contexts.split(typed))


def bounded(sentences: list[str]) -> tuple[str, ...]:
    """At most as many sentences as are read at once; what is left out is said."""
    if len(sentences) > limits.PASTED_SENTENCES:
        frame.notes(f"The first {limits.PASTED_SENTENCES} of {len(sentences)} sentences are read.")
    return tuple(sentences[: limits.PASTED_SENTENCES])
