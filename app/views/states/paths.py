"""Paths: the section of Hidden states where tokens move from layer to layer."""

import streamlit as st

from app import layout, session
from app.figures import paths as figures
from app.figures import theme
from app.widgets import text_inputs
from app.widgets.choice import choice, choices
from model import Trace
from probes.states import geometry

MAX_FOLLOWED = 5


def section() -> None:
    trace = session.trace()
    left, middle, right = st.columns([2, 2, 5])
    with left:
        axes = int(choice("Dimensions", {"2": "2-D", "3": "3-D"}, key="dimensions"))
    with middle:
        shared = choice("Axes fitted on", {"all": "all layers", "each": "each layer"}, key="axes") == "all"
    with right:
        followed = _followed(trace)
    paths = session.answer(
        session.bert(),
        "paths",
        (*session.texts(), shared, axes),
        lambda: (geometry.shared_paths if shared else geometry.layer_paths)(trace.hidden, axes),
    )
    explained = f"{paths.explained_variance:.0%}"
    meaning = (
        f"{explained} of the variance of all layers together lies along these {axes} axes: one PCA over all layers, so a "
        "step is a real movement."
        if shared
        else f"{explained} of the variance within layers lies along these {axes} axes: a PCA of each layer alone, so each "
        "picture is the best of its layer and only its shape counts."
    )
    layout.chart(
        figures.animated(paths, trace.wordpieces, _groups(trace), followed),
        key="paths",
        finding=meaning,
        help="The rest is not in the picture; each axis says its share of the layer on screen. Press play, or drag.",
        alt=f"{len(trace.tokens)} tokens in {axes} dimensions at layers 0 to {len(paths.points) - 1}, {explained} of the "
        "variance shown.",
    )


def _followed(trace: Trace) -> list[int]:
    """The positions whose paths are drawn; to begin with the second word, or the only one."""
    words = [str(token.position) for token in trace.tokens if not token.is_special]
    start = words[1:2] or words[:1]
    text_inputs.reset_if_tokens_changed("followed", trace, start)
    names = {str(token.position): f"{token.position} · {token.text}" for token in trace.tokens}
    return [int(slug) for slug in choices("Follow the path of", names, "followed", start, MAX_FOLLOWED)]


def _groups(trace: Trace) -> list[figures.PointGroup]:
    special = [token.position for token in trace.tokens if token.is_special]
    groups = [figures.PointGroup("[CLS] and [SEP]", "#868e96", special)]
    for segment, colour in enumerate((theme.ACCENT, theme.HIGHLIGHT)):
        members = [token.position for token in trace.tokens if not token.is_special and token.segment == segment]
        if members:
            groups.append(figures.PointGroup(f"sentence {'AB'[segment]}", colour, members))
    return groups
