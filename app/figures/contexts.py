"""Tokens in their sentences as rows of escaped HTML, and neurons as bars."""

from collections.abc import Sequence
from html import escape

import pandas as pd

from app.figures import theme
from app.figures.theme import Figure


def lines(contexts: pd.DataFrame, value: str, scale: float = 1.0) -> str:
    """Columns before, at, after and a value -> a row each: a bar of the value, its number, the sentence."""
    return f'<div class="concordance">{"".join(_line(row, value, scale) for row in contexts.to_dict("records"))}</div>'


def _line(row: dict, value: str, scale: float) -> str:
    share = max(0.0, min(1.0, row[value] / scale if scale else 0.0))
    return (
        f'<div><span class="value"><i style="width:{share:.0%}"></i></span><span class="number">{row[value]:.2f}</span>'
        f'<span class="text">{escape(row["before"])}<b>{escape(row["at"])}</b>{escape(row["after"])}</span></div>'
    )


def neurons(strongest: pd.DataFrame) -> Figure:
    """The strongest neurons at a token, and the same neurons at the other tokens of the text."""
    names = [f"neuron {neuron + 1}" for neuron in strongest["neuron"]]
    bars = [
        {
            "type": "bar",
            "y": names,
            "x": strongest[column].tolist(),
            "orientation": "h",
            "name": name,
            "marker": {"color": colour},
        }
        for column, name, colour in (
            ("activation", "at this token", theme.ACCENT),
            ("elsewhere", "baseline: mean of the other tokens", theme.MUTED),
        )
    ]
    layout = {
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis": {"title": {"text": "activation"}},
        "barmode": "group",
        "bargap": 0.25,
        "legend": {"y": 1.0, "yanchor": "bottom"},
        "margin": {"t": 60},
    }
    return theme.apply({"data": bars, "layout": layout}, 130 + 34 * len(names))


def numbered(texts: Sequence[str]) -> str:
    """Sentences with the numbers that a map gives them."""
    return f'<ol class="numbered">{"".join(f"<li>{escape(text)}</li>" for text in texts)}</ol>'
