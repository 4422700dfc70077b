"""Attention: the section of Compare where the heads of both sides are laid on each other."""

import streamlit as st

from app import layout, limits, session
from app.components import board
from app.components.board import BoardData, BoardState
from app.figures import compare as figures
from app.views.compare.models import ComparedSide
from probes import comparison
from probes.comparison import AttentionComparison
from probes.heads import ablation, extremes

BOARD = "compare_board"


def section(left: ComparedSide, right: ComparedSide) -> None:
    attentions = comparison.attentions(left.trace, right.trace)
    chosen = None  # where both sides have it, the board and the maps begin with the head that differs most
    if attentions.matched:
        chosen = _same_index(attentions, left, right)
        _differences(attentions, chosen)
    else:
        _nearest(attentions, left, right)
    texts = [unit.text for unit in attentions.units]
    for column, name, side, values in zip(
        st.columns(2, gap="large"), ("left", "right"), (left, right), (attentions.left, attentions.right), strict=True
    ):
        with column:
            _head(values, texts, name, side, chosen or (min(2, len(values) - 1), 0))


def _baseline(attentions: AttentionComparison, left: ComparedSide, right: ComparedSide) -> float:
    return session.answer(left.bert, "heads of one side", (left.key, right.key), attentions.baseline_distance)


def _same_index(attentions: AttentionComparison, left: ComparedSide, right: ComparedSide) -> tuple[int, int]:
    """Draw how far the heads of one index are apart, and return the one that differs most."""
    distances = session.answer(left.bert, "heads of one name", (left.key, right.key), attentions.same_index_distance)
    ((layer, head), distance), *_ = ablation.strongest(distances, 1)
    layout.chart(
        figures.heads_apart(distances),
        key="apart",
        finding=f"Layer {layer + 1} head {head + 1} differs most between the sides: distance {distance:.2f} (0 the same "
        f"rows, 1 nothing in common); two different heads of {layout.escape(left.label)} are "
        f"{_baseline(attentions, left, right):.2f} apart on average.",
        alt="Map of layers and heads: distance between the two sides.",
    )
    return layer, head


def _nearest(attentions: AttentionComparison, left: ComparedSide, right: ComparedSide) -> None:
    """Models of different shapes have no heads of one index: for each head on the left, the nearest on the right."""
    table = session.answer(left.bert, "closest heads", (left.key, right.key), attentions.nearest_heads)
    st.info(
        "The models have different numbers of layers or heads, so heads cannot be compared by their numbers; below is, for "
        "each head on the left, the head on the right that attends most like it on this text. Baseline: two different heads "
        f"on the left are {_baseline(attentions, left, right):.2f} apart on average."
    )
    st.dataframe(
        table.assign(**{name: table[name] + 1 for name in ("layer", "head", "to_layer", "to_head")}),
        hide_index=True,
        height=280,
        alt="Closest head on the right for each head on the left",
        column_config={
            "to_layer": "layer, right",
            "to_head": "head, right",
            "apart": st.column_config.NumberColumn(format="%.2f"),
        },
    )


def _differences(attentions: AttentionComparison, chosen: tuple[int, int]) -> None:
    """All heads of the left side minus those of the right; one layer at a time where all would be too much to send."""
    values, layers = attentions.difference, list(range(len(attentions.left)))
    start = BoardState(layer=chosen[0], heads=(chosen[1],))
    if values.size > limits.BOARD_VALUES:
        layers = [board.state(BOARD, start).layer]
        values = values[layers]
    board.board(
        BoardData(
            values,
            [unit.text for unit in attentions.units],
            layers=layers,
            every_layer=len(attentions.left),
            quantity="Difference",
            meaning="Blue: the left side attends there more. Orange: the right side does.",
        ),
        choice=start,
        key=BOARD,
    )


def _head(values, texts: list[str], name: str, side: ComparedSide, first: tuple[int, int]) -> None:
    layers, heads = values.shape[:2]
    layer = st.slider(f"Layer, {name}", 1, layers, first[0] + 1, key=f"{name}_layer", bind="query-params") - 1
    head = st.slider(f"Head, {name}", 1, heads, first[1] + 1, key=f"{name}_head", bind="query-params") - 1
    query, key, weight = extremes.strongest_edge(values[layer, head])
    layout.chart(
        figures.head(values[layer, head], texts),
        key=f"{name} attention",
        finding=f"In layer {layer + 1} head {head + 1} of {layout.escape(side.label)} the strongest edge is from "
        f"*{layout.escape(texts[query])}* to *{layout.escape(texts[key])}* ({weight:.0%}; all alike would be "
        f"{1 / len(texts):.0%}). Rows: from (query); columns: to (key). Pieces that the two vocabularies cut differently "
        "are joined.",
        alt=f"Attention map of layer {layer + 1}, head {head + 1} of {side.label}.",
    )
