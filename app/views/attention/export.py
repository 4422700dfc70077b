"""Take it away: a page of its own, all numbers, and the Python for this view."""

import io

import numpy as np
import streamlit as st

from app import session
from app.components import board
from app.components.board import Choice, Picture
from app.views.attention.python_source import recipe
from model import Bert, Trace


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    a, b = session.texts()
    drawn, second = st.session_state.get("drawn", "attention"), st.session_state.get("second", a)
    st.markdown("**PNG, SVG and CSV** of what is on screen are saved by the buttons above the board. The address of this "
                "page holds model, sentences, view, layer, heads and filters: copy it to share the view.")
    left, right = st.columns(2)
    left.download_button("The board as one HTML file", lambda: board.document(shown, f"{shown.quantity}: {a}", choice),
                         "attention.html", "text/html", on_click="ignore", icon=":material/html:",
                         help="Works without a server and without a network.")
    right.download_button("All numbers (NumPy .npz)", lambda: _numbers(trace, shown), "attention.npz",
                          on_click="ignore", icon=":material/dataset:", help="Full precision, every layer and head.")
    st.markdown("**Python for this view**")
    st.code(recipe(session.source(), a, b, drawn, second, choice.layer, choice.heads, choice.unit, choice.hide, choice.off),
            language="python")


def _numbers(trace: Trace, shown: Picture) -> bytes:
    made = io.BytesIO()
    np.savez_compressed(made, values=shown.values, tokens=np.array(list(shown.tokens)), attention=trace.attention)
    return made.getvalue()
