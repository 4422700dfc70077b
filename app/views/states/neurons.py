"""Neurons: the section of Hidden states about the feed-forward activations."""

import streamlit as st

from app import layout, session
from app.figures import contexts as figures
from app.widgets import text_inputs
from probes.states import neurons

SHOWN = 15


def section() -> None:
    bert, trace = session.bert(), session.trace()
    left, right = st.columns([3, 2])
    with left:
        position = text_inputs.token(trace, "Token", "neuron_token")
    with right:
        layer = text_inputs.layer(bert, "neuron_layer", first=1, at=min(4, bert.config.num_hidden_layers)) - 1
    strongest = session.answer(bert, "neurons", (*session.texts(), layer, position), lambda: neurons.strongest(
        neurons.activations(bert, trace.encoding)[layer], position, SHOWN))
    left, right = st.columns(2, gap="large")
    with left:
        layout.chart(figures.neurons(strongest), key="strongest",
                    looking=f"What you are looking at: the {len(strongest)} of {bert.config.intermediate_size:,} "
                            f"feed-forward neurons of layer {layer + 1} that fire most at "
                            f"*{layout.plain(trace.texts[position])}*, and what the same neurons do elsewhere in this text.",
                    alt=f"Bars of the strongest neurons of layer {layer + 1} at {trace.texts[position]}.")
    with right:
        _exciters(layer, int(strongest["neuron"].iloc[0]))


def _exciters(layer: int, first: int) -> None:
    bert = session.bert()
    typed = st.number_input("Neuron", 1, bert.config.intermediate_size, None, key="neuron", bind="query-params",
                            placeholder=f"{first + 1}, the strongest")
    chosen = first if typed is None else typed - 1
    passage = text_inputs.passage("neuron_text")
    found = session.answer(bert, "exciters", (passage, layer, chosen),
                         lambda: neurons.exciters(bert, passage, layer, chosen, SHOWN))
    st.caption(f"What you are looking at: the tokens of a text that excite neuron {chosen + 1} of layer {layer + 1} most. "
               f"Baseline: its mean over all tokens of the text is {found['mean'].iloc[0]:.2f}.")
    st.html(figures.lines(found, "activation", float(found["activation"].max())))
