"""Attention: every head, with numbers, and what happens without it."""

import streamlit as st

from app import layout, session
from app.components import board
from app.components.board import BoardState
from app.views.attention import ablation, address, anatomy, behaviour, bertviz, export, grammar, values
from app.widgets.choice import choice
from model import Edits, Trace
from probes import heads

BOARD = "attention_board"
PANELS = {
    "anatomy": ("Anatomy of a head", anatomy.panel),
    "patterns": ("What heads attend to (patterns)", behaviour.panel),
    "relations": ("Heads and grammar (dependency relations)", grammar.panel),
    "ablation": ("Switch heads off (ablation)", ablation.panel),
    "bertviz": ("BertViz", bertviz.panel),
    "export": ("Take it away", export.panel),
}


def page() -> None:
    layout.title("Attention", "Which token attends to which, in every head, and does it matter?")
    bert, whole = session.bert(), session.trace()
    layout.input_note(whole.note)
    quantity = values.quantity_picker()
    second = values.second_sentence() if quantity == "sentence" else ""
    start = _start(whole)
    turn = st.session_state["attention_turn"]
    current = board.state(BOARD, start, turn)
    edits = Edits(heads_off=frozenset(current.off))
    trace = session.trace_of(bert, *session.texts(), current.off)  # what every panel is about, as the board is
    data = values.board_data(quantity, bert, whole, trace, edits, current.layer, second)
    state = board.board(data, choice=start, turn=turn, switchable=True, key=BOARD)
    st.session_state["attention_choice"] = state
    address.encode(state)
    if quantity == "off" and not state.off:
        st.info("No head is switched off, so there is no difference yet: press *switch off* above and click a head.")
    panel = choice("Show", {slug: label for slug, (label, _) in PANELS.items()}, key="panel")
    PANELS[panel][1](bert, trace, state, data)


def _start(trace: Trace) -> BoardState:
    """Where the board starts: the address, the choice before leaving the page, or a head worth seeing."""
    layers, count, length = trace.attention.shape[:3]
    if BOARD not in st.session_state or st.session_state.get("attention_kind") != (layers, count):
        before = st.session_state.get("attention_choice")
        if before is None or not _fits(before, layers, count):
            layer, head = heads.most_informative(trace.attention, trace.encoding)
            before = BoardState(layer=layer, heads=(head,))
        st.session_state["attention_start"] = address.decode(before, layers, count, length)
        st.session_state["attention_turn"] = st.session_state.get("attention_turn", 0) + 1
        st.session_state["attention_kind"] = (layers, count)
    return st.session_state["attention_start"]


def _fits(state: BoardState, layers: int, heads: int) -> bool:
    """Whether a model of this shape has every head that is chosen or switched off."""
    chosen = [*((state.layer, head) for head in state.heads), *state.off]
    return all(layer < layers and head < heads for layer, head in chosen)
