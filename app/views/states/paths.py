"""Paths: the section of Hidden states where tokens move from layer to layer."""

import streamlit as st

from app import layout, session
from app.figures import paths as figures
from app.figures import theme
from app.widgets import text_inputs
from probes.states import geometry


def section() -> None:
    trace = session.trace()
    names = [f"{token.position} · {token.text}" for token in trace.tokens]
    left, middle, right = st.columns([2, 2, 5])
    flat = left.segmented_control("Dimensions", ["2-D", "3-D"], default="2-D", required=True, key="dimensions",
                                  bind="query-params")
    fitted = middle.segmented_control("Axes fitted on", ["all layers", "each layer"], default="all layers",
                                      required=True, key="axes", bind="query-params")
    own = [token.position for token in trace.tokens if not token.special]
    start = own[1:2] or own[:1]
    text_inputs.renew("followed", trace, start)
    followed = right.multiselect("Follow the path of", list(range(len(names))), default=start,
                                 format_func=lambda place: names[place], max_selections=5, key="followed",
                                 bind="query-params")
    axes = 3 if flat == "3-D" else 2
    shared = fitted == "all layers"
    found = session.answer(session.bert(), "paths", (*session.texts(), shared, axes), lambda: (
        geometry.shared_paths if shared else geometry.layer_paths)(trace.hidden, axes))
    kept = f"{found.overall.sum():.0%}"
    said = (f"one PCA over all layers, so a step is a real movement; these {axes} axes keep {kept} of the variance of all "
            "layers together." if shared else
            f"a PCA of each layer alone, so each picture is the best of its layer and only its shape counts; the {axes} "
            f"axes keep {kept} of the variance within layers.")
    layout.chart(figures.animated(found, trace.texts, _groups(trace), followed), key="paths",
                looking=f"What you are looking at: every token at one layer; press play or drag the slider. It is {said} "
                        "Each axis says what share of the current layer it shows: the rest of the truth is not in the "
                        "picture.",
                alt=f"{len(names)} tokens in {axes} dimensions at layers 0 to {len(found.points) - 1}, {kept} of the "
                    "variance shown.")


def _groups(trace) -> list[figures.Group]:
    special = [token.position for token in trace.tokens if token.special]
    groups = [figures.Group("[CLS] and [SEP]", "#868e96", special)]
    for segment, colour in enumerate((theme.ACCENT, theme.SECOND)):
        members = [token.position for token in trace.tokens if not token.special and token.segment == segment]
        if members:
            groups.append(figures.Group(f"sentence {'AB'[segment]}", colour, members))
    return groups
