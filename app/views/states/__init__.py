"""Hidden states: where meaning moves, layer by layer."""

import streamlit as st

from app import layout, session
from app.views.states import neighbours, neurons, paths, senses, sentences, similarity

SECTIONS = {"Paths": paths.section, "Similarity": similarity.section, "Word senses": senses.section,
            "Neighbours": neighbours.section, "Neurons": neurons.section, "Sentences": sentences.section}


def page() -> None:
    layout.title("Hidden states", "Where does meaning move, layer by layer?")
    chosen = st.segmented_control("Look at", list(SECTIONS), default="Paths", required=True, key="section",
                                  bind="query-params", label_visibility="collapsed")
    layout.notes(session.trace().note)
    SECTIONS[chosen or "Paths"]()
