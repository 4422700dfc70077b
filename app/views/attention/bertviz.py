"""BertViz's own views of the same trace, offline, within what a browser can bear."""

import streamlit as st

from app import limits
from app.components import bertviz
from app.components.board import Choice, Picture
from model import Bert, Trace


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    view = st.segmented_control("BertViz view", ["head_view", "model_view"], default="head_view", required=True,
                                key="bertviz", format_func=lambda name: name.replace("_", " ")) or "head_view"
    pair = len(trace.encoding.texts) == 2
    layers, heads, length = trace.attention.shape[:3]
    expected = bertviz.expected_bytes(layers, heads, length, pair)
    if expected > limits.BERTVIZ_BYTES:
        st.warning(f"BertViz would send about {expected / 1e6:.0f} MB for {length} tokens and {layers * heads} heads, and "
                   "freeze the browser. The board above shows the same attention, all heads included, at once.")
        return
    second = next((token.position for token in trace.tokens if token.segment == 1), None) if pair else None
    page = bertviz.document(view, trace.attention, trace.texts, second, dark=st.context.theme.type == "dark")
    size = len(page.encode()) / 1e6
    st.caption(f"What you are looking at: BertViz's {view.replace('_', ' ')} (Vig, 2019), {size:.1f} MB; the "
               "board above has the same numbers. BertViz counts layers and heads from 0, the board from 1. "
               + ("Hover over tokens." if view == "head_view" else "Click a head to enlarge it."))
    st.iframe(page, height=min(900, 160 + 24 * length) if view == "head_view" else 900, alt=f"BertViz {view}")
