"""A document's pairs as a matrix, and its sentences put in order."""

from collections.abc import Sequence

import numpy as np

from app.figures import shapes, theme
from app.figures.theme import Figure
from probes import statistics


def matrix(probability: np.ndarray, sentences: Sequence[str]) -> Figure:
    """P(j follows i), rows the first sentence, columns the second; the true next pairs are framed."""
    count = len(probability)
    numbers = list(range(1, count + 1))
    names = [
        f"{number}. {theme.escape(sentence if len(sentence) < 60 else sentence[:57] + '…')}"
        for number, sentence in zip(numbers, sentences, strict=True)
    ]
    cells = {
        "type": "heatmap",
        "z": probability,
        "x": numbers,
        "y": numbers,
        "colorscale": theme.SEQUENTIAL,
        "zmin": 0,
        "zmax": 1,
        "xgap": 1,
        "ygap": 1,
        "customdata": [[f"{first}<br>then {second}" for second in names] for first in names],
        "hovertemplate": "%{customdata}<br>P(IsNext) %{z:.3f}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {
            "title": {"text": "P(IsNext)", "side": "top"},
            "thickness": 12,
            "orientation": "h",
            "len": 0.6,
            "y": 1.01,
            "yanchor": "bottom",
        },
    }
    line = {"color": theme.HIGHLIGHT, "width": 2 if count <= 30 else 1}
    step = 1 if count <= 20 else 5
    axis = {"dtick": step, "tick0": step, "constrain": "domain"}
    layout = {
        "shapes": [shapes.frame((first + 0.5, first + 1.5), (first - 0.5, first + 0.5), line) for first in range(1, count)],
        "xaxis": axis | {"title": {"text": "… is followed by sentence"}, "side": "bottom"},
        "yaxis": axis | {"title": {"text": "Sentence …"}, "autorange": "reversed", "scaleanchor": "x"},
    }
    return theme.apply({"data": [cells], "layout": layout}, min(720, 280 + 44 * count))


def agreement(taus: dict[str, float], count: int) -> Figure:
    """A dot for each method on the axis of Kendall's τ, the interval of random orders as a band around 0."""
    methods, (low, high) = list(taus), statistics.kendall_null_interval(count)
    dots = {
        "type": "scatter",
        "x": list(taus.values()),
        "y": list(range(len(methods))),
        "mode": "markers+text",
        "text": [f"{tau:+.2f}" for tau in taus.values()],
        "textposition": "top center",
        "cliponaxis": False,
        "marker": {"size": 16, "color": [*[theme.ACCENT] * (len(methods) - 1), theme.HIGHLIGHT]},
        "customdata": methods,
        "hovertemplate": "%{customdata}: τ = %{x:.3f}<extra></extra>",
    }
    layout = {
        "shapes": [
            shapes.band(low, high, {"fillcolor": theme.MUTED, "opacity": 0.25}),
            shapes.vertical_line(0, {"color": theme.MUTED, "width": 1.5, "dash": "dot"}),
        ],
        "annotations": [{"x": 0, "y": -0.75, "text": "95 % of random orders", "showarrow": False, "font": {"size": 14}}],
        "xaxis": {"range": [-1.06, 1.06], "title": {"text": "Kendall's τ"}},
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(methods))),
            "ticktext": methods,
            "range": [len(methods) - 0.4, -1.1],
        },
        "showlegend": False,
    }
    return theme.apply({"data": [dots], "layout": layout}, 130 + 58 * len(methods))
