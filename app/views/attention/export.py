"""Export and share: a page of its own, all numbers, and the Python for this view."""

import streamlit as st

from app import session
from app.components import board
from app.components.board import BoardData, BoardState, payload
from app.views.attention.python_source import python_source
from model import Bert, Trace, __version__


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    a, b = session.texts()
    quantity, second = st.session_state.get("quantity", "attention"), st.session_state.get("second", a)
    st.markdown(
        "**PNG, SVG and CSV** of what is on screen are saved by the buttons above the board. The address of this "
        "page holds model, sentences, view, layer, heads and filters: copy it to share the view."
    )
    left, right = st.columns(2)
    left.download_button(
        "The board as one HTML file",
        lambda: board.document(data, f"{data.quantity}: {a}", state, f"Bertscope {__version__}"),
        "attention.html",
        "text/html",
        on_click="ignore",
        icon=":material/html:",
        help="Works without a server and without a network.",
    )
    right.download_button(
        "All numbers (NumPy .npz)",
        lambda: payload.npz(values=data.values, tokens=data.tokens, attention=trace.attention, version=[__version__]),
        "attention.npz",
        on_click="ignore",
        icon=":material/dataset:",
        help="Full precision, every layer and head.",
    )
    st.markdown("**Python for this view**")
    source = python_source(
        session.checkpoint_path(), a, b, quantity, second, state.layer, state.heads, state.unit, state.hide, state.off
    )
    st.code(source, language="python")
