"""Attention: every head, with numbers, and what happens without it."""

from dataclasses import replace

import streamlit as st

from app import layout, session
from app.components import board
from app.components.board import BoardState
from app.views.attention import ablation, address, anatomy, behaviour, bertviz, export, grammar, values
from app.widgets.choice import SECTION, choice
from model import Bert, Edits, Trace
from probes import heads

BOARD = "attention_board"
PANELS = {
    "anatomy": ("Anatomy of a head", anatomy.panel),
    "patterns": ("What heads attend to", behaviour.panel),
    "relations": ("Heads and grammar", grammar.panel),
    "ablation": ("Switch heads off", ablation.panel),
    "bertviz": ("BertViz", bertviz.panel),
    "export": ("Export and share", export.panel),
}
ABLATED = "heads were switched off to begin with"  # in the session


def page() -> None:
    with st.container(key="title-line", horizontal=True, vertical_alignment="center"):
        layout.title("Attention", "Which token attends to which, in every head, and does it matter?")
        quantity = values.quantity_picker()
    bert, whole = session.bert(), session.trace()
    layout.input_note(whole.note)
    second = values.second_sentence(bert) if quantity == "sentence" else ""
    start = _start(whole)
    current = board.state(BOARD, start, st.session_state["attention_turn"])
    if not current.off and _opens_ablation(quantity):
        start = current = _restart(_without_most_needed(bert, whole, current))
    edits = Edits(heads_off=frozenset(current.off))
    trace = session.trace_of(bert, *session.texts(), current.off)  # what every panel is about, as the board is
    data = values.board_data(quantity, bert, whole, trace, edits, current.layer, second)
    state = board.board(data, choice=start, turn=st.session_state["attention_turn"], switchable=True, key=BOARD)
    st.session_state["attention_choice"] = state
    address.encode(state, st.session_state.get(ABLATED, False))
    if quantity == "off" and not state.off:
        st.info("No head is switched off, so there is no difference: choose a head and press the key **o**.")
    if quantity != "attention":
        st.caption("The board shows another quantity; the sections below are about attention itself.")
    panel = choice(SECTION, {slug: label for slug, (label, _) in PANELS.items()}, key="panel")
    PANELS[panel][1](bert, trace, state, data)


def _opens_ablation(quantity: str) -> bool:
    """Whether what is without heads is shown for the first time, and no link says that all heads are on."""
    panel = st.session_state.get("panel") or st.query_params.get("panel")
    if st.session_state.get(ABLATED) or (panel != "ablation" and quantity != "off"):
        return False
    st.session_state[ABLATED] = True
    return "off" not in st.query_params


def _without_most_needed(bert: Bert, trace: Trace, state: BoardState) -> BoardState:
    """The same with the head that the prediction needs most chosen and switched off."""
    head = ablation.most_needed(bert, trace)
    return replace(state, layer=head[0], heads=(head[1],), off=(head,)) if head else state


def _restart(state: BoardState) -> BoardState:
    """Let the board begin anew, from this state."""
    st.session_state["attention_start"] = state
    st.session_state["attention_turn"] += 1
    return state


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
