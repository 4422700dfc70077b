"""Attention: the section of Compare where the heads of both sides are laid on each other."""

import streamlit as st

from app import layout, limits, session
from app.components import board
from app.components.board import Choice, Picture
from app.figures import compare as figures
from app.views.compare.models import Side
from probes import comparison

BOARD = "compare_board"


def section(left: Side, right: Side) -> None:
    found = comparison.attentions(left.trace, right.trace)
    texts, both = [unit.text for unit in found.units], (left.key, right.key)
    usual = session.answer(left.bert, "heads of one side", both, found.usual)
    if found.matched:
        namesakes = session.answer(left.bert, "heads of one name", both, found.namesakes)
        layout.chart(figures.heads_apart(namesakes), key="apart",
                    looking="What you are looking at: how differently each head looks on the two sides: 0 the same rows, 1 "
                            f"nothing in common. Baseline: two different heads of {layout.plain(left.label)} are "
                            f"{usual:.2f} apart on average.",
                    alt="Map of layers and heads: distance between the two sides.")
        _differences(found, texts)
    else:
        st.info("The models have different numbers of layers or heads, so no head has a namesake; below is, for each head "
                "on the left, the head on the right that looks most like it on this text. Baseline: two different heads "
                f"on the left are {usual:.2f} apart on average.")
        table = session.answer(left.bert, "closest heads", both, found.closest).sort_values("apart", ignore_index=True)
        table[["layer", "head", "to_layer", "to_head"]] += 1
        st.dataframe(table, hide_index=True, height=280, alt="Closest head on the right for each head on the left",
                     column_config={"to_layer": "layer, right", "to_head": "head, right",
                                    "apart": st.column_config.NumberColumn(format="%.2f")})
    _heads(found, texts, left, right)


def _differences(found: comparison.Attentions, texts: list[str]) -> None:
    """All heads of the left side minus those of the right; one layer at a time where all would be too much to send."""
    values, layers = found.left - found.right, list(range(len(found.left)))
    now = board.chosen(BOARD, Choice())
    if values.size > limits.BOARD_VALUES:
        layers = [now.layer]
        values = values[layers]
    board.board(Picture(values, texts, layers=layers, every_layer=len(found.left), quantity="Difference",
                        meaning="Blue: the left side looks there more. Orange: the right side does."), key=BOARD)


def _heads(found: comparison.Attentions, texts: list[str], left: Side, right: Side) -> None:
    for column, name, side, values in zip(st.columns(2, gap="large"), ("left", "right"), (left, right),
                                          (found.left, found.right), strict=True):
        with column:
            layer = st.slider(f"Layer, {name}", 1, values.shape[0], min(3, values.shape[0]), key=f"{name}_layer",
                              bind="query-params") - 1
            head = st.slider(f"Head, {name}", 1, values.shape[1], 1, key=f"{name}_head", bind="query-params") - 1
            layout.chart(figures.head(values[layer, head], texts), key=f"{name} attention",
                        looking=f"What you are looking at: layer {layer + 1}, head {head + 1} of "
                                f"{layout.plain(side.label)}. "
                                "A row is a token that looks, a column what it looks at; pieces that the two vocabularies "
                                "cut differently are joined.",
                        alt=f"Attention map of layer {layer + 1}, head {head + 1} of {side.label}.")
