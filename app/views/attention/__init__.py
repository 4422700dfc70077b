"""Attention: every head, with numbers, and what happens without it."""

import streamlit as st

from app import layout, session
from app.components import board
from app.components.board import Choice
from app.views.attention import ablation, address, anatomy, behaviour, bertviz, export, grammar, values
from model import Edits, Trace
from probes import heads

BOARD = "attention_board"
PANELS = {"anatomy": ("Anatomy of a head", anatomy.panel), "behaviour": ("What heads do", behaviour.panel),
          "grammar": ("Grammar", grammar.panel), "without": ("Without a head", ablation.panel),
          "bertviz": ("BertViz", bertviz.panel), "share": ("Take it away", export.panel)}


def page() -> None:
    layout.title("Attention", "Which token looks at which, in every head, and does it matter?")
    bert, whole = session.bert(), session.trace()
    layout.notes(whole.note)
    what = values.control()
    second = values.second_sentence() if what == "sentence" else ""
    start = _start(whole)
    turn = st.session_state["attention_turn"]
    now = board.chosen(BOARD, start, turn)
    edits = Edits(heads_off=frozenset(now.off))
    trace = session.traced(bert, *session.texts(), now.off)  # what every panel is about, as the board is
    shown = values.picture(what, bert, whole, trace, edits, now.layer, second)
    choice = board.board(shown, choice=start, turn=turn, switchable=True, key=BOARD)
    st.session_state["attention_choice"] = choice
    address.write(choice)
    if what == "off" and not choice.off:
        st.info("No head is switched off, so there is no difference yet: press *switch off* above and click a head.")
    panel = st.segmented_control("Look closer", list(PANELS), default="anatomy", required=True, key="panel",
                                 bind="query-params", format_func=lambda name: PANELS[name][0]) or "anatomy"
    PANELS[panel][1](bert, trace, choice, shown)


def _start(trace: Trace) -> Choice:
    """Where the board starts: the address, what was chosen before leaving the page, or a head worth seeing."""
    layers, count, length = trace.attention.shape[:3]
    kind = (layers, count)
    fresh = BOARD not in st.session_state or st.session_state.get("attention_kind") != kind
    if fresh:
        before = st.session_state.get("attention_choice")
        layer, head = heads.telling(trace.attention, trace.encoding)
        usable = before and before.layer < layers and max(before.heads) < count and all(
            at < layers and one < count for at, one in before.off)
        plain = before if usable else Choice(layer=layer, heads=(head,))
        st.session_state["attention_start"] = address.read(plain, layers, count, length)
        st.session_state["attention_turn"] = st.session_state.get("attention_turn", 0) + 1
        st.session_state["attention_kind"] = kind
    return st.session_state["attention_start"]
