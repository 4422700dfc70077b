"""Neighbours: the section of Hidden states that looks for a token's likes in a text or an indexed corpus."""

import streamlit as st

from app import frame, state
from app.figures import concordance as figures
from app.views import pasted
from probes import neighbours

SHOWN = 15


def section() -> None:
    bert, trace = state.bert(), state.trace()
    names = [f"{token.position} · {token.text}" for token in trace.tokens]
    left, right = st.columns([3, 2])
    with left:
        position = st.select_slider("Token of the sentence", list(range(len(names))), value=min(2, len(names) - 1),
                                    format_func=lambda place: names[place], key=f"near_token {trace.texts}")
    with right:
        layer = pasted.layer(bert, "near_layer")
    index = neighbours.Index.of(state.gathered(pasted.passage("near_text")), layer)
    found = index.described(index.nearest(trace.hidden[layer, position], SHOWN))
    st.caption(f"What you are looking at: the tokens whose state at layer {layer} points most nearly where "
               f"*{frame.plain(trace.texts[position])}* points, among {len(index.places):,} tokens "
               f"({index.bytes / 2**20:.1f} MB in memory). Baseline: the mean cosine of all pairs is "
               f"{index.typical():.2f}.")
    st.html(figures.lines(found, "cosine"))
