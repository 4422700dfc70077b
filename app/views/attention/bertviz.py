"""BertViz's own views of the same trace, offline, within what a browser can bear."""

import streamlit as st

from app import limits
from app.components import bertviz
from app.components.board import BoardData, BoardState
from app.widgets.choice import choice
from model import Bert, Trace

VIEWS = {"head": "head view", "model": "model view"}


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    if not bertviz.is_installed():
        st.info(
            "BertViz is not installed here. The board above shows the same attention; the extra brings BertViz's own head "
            "view and model view beside it, offline: `pip install 'bertscope[bertviz]'`, then start again."
        )
        return
    view = choice("BertViz view", VIEWS, key="bertviz")
    pair = len(trace.encoding.texts) == 2
    layers, heads, length = trace.attention.shape[:3]
    expected = bertviz.expected_bytes(layers, heads, length, pair)
    if expected > limits.BERTVIZ_BYTES:
        st.warning(
            f"BertViz would send about {expected / 1e6:.0f} MB for {length} tokens and {layers * heads} heads, and "
            "freeze the browser. The board above shows the same attention, all heads included, at once."
        )
        return
    second = next((token.position for token in trace.tokens if token.segment == 1), None) if pair else None
    page = bertviz.document(f"{view}_view", trace.attention, trace.wordpieces, second, dark=st.context.theme.type == "dark")
    st.caption(
        f"{len(page.encode()) / 1e6:.1f} MB of BertViz's {VIEWS[view]} (Vig, 2019) hold the numbers of the board above: "
        f"{layers * heads} heads over {length} tokens. BertViz counts layers and heads from 0, the board from 1. "
        + ("Hover over tokens." if view == "head" else "Click a head to enlarge it.")
    )
    st.iframe(page, height=min(900, 160 + 24 * length) if view == "head" else 900, alt=f"BertViz {VIEWS[view]}")
