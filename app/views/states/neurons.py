"""Neurons: the section of Hidden states about the feed-forward activations."""

import streamlit as st

from app import layout, session
from app.figures import contexts as figures
from app.widgets import text_inputs
from probes.states import neurons

LISTED = 15


def section() -> None:
    bert, trace = session.bert(), session.trace()
    left, right = st.columns([3, 2])
    with left:
        position = text_inputs.token(trace, "Token", "neuron_token")
    with right:
        layer = text_inputs.layer(bert, "neuron_layer", first=1, at=min(4, bert.config.num_hidden_layers)) - 1
    strongest = session.answer(
        bert,
        "neurons",
        (*session.texts(), layer, position),
        lambda: neurons.top_neurons(neurons.activations(bert, trace.encoding)[layer], position, LISTED),
    )
    first = strongest.iloc[0]
    left, right = st.columns(2, gap="large")
    with left:
        layout.chart(
            figures.neurons(strongest),
            key="strongest",
            finding=f"Neuron {int(first['neuron']) + 1} of layer {layer + 1} fires most at "
            f"*{layout.escape(trace.wordpieces[position])}*: {first['activation']:.2f}, beside {first['elsewhere']:.2f} on "
            f"average at the other tokens. The {len(strongest)} strongest of {bert.config.intermediate_size:,} "
            "feed-forward neurons are listed.",
            alt=f"Bars of the strongest neurons of layer {layer + 1} at {trace.wordpieces[position]}.",
        )
    with right:
        _top_tokens(layer, int(first["neuron"]))


def _top_tokens(layer: int, strongest: int) -> None:
    """The tokens of a text that excite one neuron; the strongest of the chart unless another is typed."""
    bert = session.bert()
    number = st.number_input(
        "Neuron",
        1,
        bert.config.intermediate_size,
        None,
        key="neuron",
        bind="query-params",
        placeholder=f"{strongest + 1}, the strongest",
    )
    neuron = strongest if number is None else number - 1
    passage = text_inputs.passage("neuron_text")
    tokens = session.answer(
        bert, "exciters", (passage, layer, neuron), lambda: neurons.top_tokens(bert, passage, layer, neuron, LISTED)
    )
    best = tokens.iloc[0]
    st.caption(
        f"*{layout.escape(best['at'])}* excites neuron {neuron + 1} of layer {layer + 1} most: {best['activation']:.2f}, "
        f"beside {best['mean']:.2f} on average over all tokens of the text."
    )
    st.html(figures.lines(tokens, "activation", float(best["activation"])))
