"""Two sides in one figure: heads by how far they are apart, a head beside another, probabilities beside each other."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import geometry, theme


def heads_apart(apart: np.ndarray) -> go.Figure:
    """Distance of each head from its namesake: (layers, heads) -> a cell a head."""
    layers, heads = apart.shape
    figure = go.Figure(go.Heatmap(
        z=apart, zmin=0, zmax=1, colorscale=theme.SEQUENTIAL, xgap=2, ygap=2,
        colorbar={"title": {"text": "apart"}, "thickness": 12}, hovertemplate="%{z:.2f}<extra></extra>"))
    geometry.numbers(figure, apart)
    figure.update_xaxes(title="head", **theme.token_axis([str(head + 1) for head in range(heads)]))
    figure.update_yaxes(title="layer", **theme.token_axis([str(layer + 1) for layer in range(layers)]))
    return theme.finished(figure, 140 + 38 * layers)


def two_heads(left: np.ndarray, right: np.ndarray, texts: Sequence[str], names: tuple[str, str]) -> go.Figure:
    """One head of each side over the same units: (units, units) twice -> two maps, rows look at columns."""
    figure = make_subplots(cols=2, subplot_titles=[theme.shown(name) for name in names], horizontal_spacing=0.12)
    for column, values in enumerate((left, right), start=1):
        figure.add_heatmap(z=values, zmin=0, zmax=1, colorscale=theme.SEQUENTIAL, row=1, col=column, xgap=1, ygap=1,
                           showscale=column == 2, colorbar={"thickness": 12},
                           hovertemplate="from %{y} to %{x}: %{z:.2f}<extra></extra>")
    theme.finished(figure, 170 + 27 * len(texts))
    figure.update_xaxes(**theme.token_axis(list(texts)))
    figure.update_yaxes(autorange="reversed", **theme.token_axis(list(texts)))
    return figure.update_annotations(font={"size": 16})


def probabilities(values: Sequence[float], names: Sequence[str]) -> go.Figure:
    """P(IsNext) of each side as a bar from 0 to 1, with the undecided middle marked."""
    figure = go.Figure(go.Bar(x=list(values), y=[theme.shown(name) for name in names], orientation="h",
                              marker_color=[theme.ACCENT, theme.SECOND][: len(names)], width=0.55,
                              text=[f"{value:.1%}" for value in values], textposition="inside",
                              textfont={"size": 17}, hovertemplate="%{y}: %{x:.2%}<extra></extra>"))
    figure.add_vline(x=0.5, line={"dash": "dot", "color": theme.MUTED, "width": 2})
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title="probability that B follows A (IsNext)")
    figure.update_yaxes(autorange="reversed", type="category", tickfont={"size": 16})
    return theme.finished(figure, 110 + 60 * len(names)).update_layout(margin={"r": 40})
