"""Two sides: heads by how far they are apart, a head to lay beside another, probabilities in one figure."""

from collections.abc import Sequence

import numpy as np

from app.figures import shapes, states, theme
from app.figures.theme import Figure


def heads_apart(apart: np.ndarray) -> Figure:
    """Distance of each head from its namesake: (layers, heads) -> a cell a head."""
    layers, heads = apart.shape
    cells = {
        "type": "heatmap",
        "z": apart,
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.SEQUENTIAL,
        "xgap": 2,
        "ygap": 2,
        "colorbar": theme.colour_bar("apart"),
        "hovertemplate": "layer %{y}, head %{x}: %{z:.2f}<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": "head"}} | theme.token_axis([str(head + 1) for head in range(heads)]),
        "yaxis": {"title": {"text": "layer"}, "autorange": "reversed"}
        | theme.token_axis([str(layer + 1) for layer in range(layers)]),
    }
    return theme.apply({"data": [cells], "layout": layout}, 180 + 38 * layers)


def head(attention: np.ndarray, texts: Sequence[str]) -> Figure:
    """One head over units: (query units, key units) -> a map, rows attend to columns."""
    cells = {
        "type": "heatmap",
        "z": attention,
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.SEQUENTIAL,
        "showscale": False,
        "hovertemplate": "from %{y} to %{x}: %{z:.2f}<extra></extra>",
    }
    ticks = states.ticks(texts, 1 + len(texts) // 40)
    layout = {"xaxis": ticks, "yaxis": {"autorange": "reversed"} | ticks}
    return theme.apply({"data": [cells], "layout": layout}, min(760, 130 + 24 * len(texts)))


def probabilities(values: Sequence[float], names: Sequence[str]) -> Figure:
    """P(IsNext) of each side as a bar from 0 to 1, with the undecided middle marked."""
    bars = {
        "type": "bar",
        "x": list(values),
        "y": [theme.escape(name) for name in names],
        "orientation": "h",
        "marker": {"color": [theme.ACCENT, theme.HIGHLIGHT][: len(names)]},
        "width": 0.55,
        "text": [f"{value:.1%}" for value in values],
        "textposition": "inside",
        "textfont": {"size": 17},
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    layout = {
        "shapes": [shapes.vertical_line(0.5, {"dash": "dot", "color": theme.MUTED, "width": 2})],
        "xaxis": {"range": [0, 1], "tickformat": ".0%", "title": {"text": "probability that B follows A (IsNext)"}},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "margin": {"r": 40},
    }
    return theme.apply({"data": [bars], "layout": layout}, 110 + 60 * len(names))
