"""Two sides: heads by how far they are apart, a head to lay beside another, probabilities in one figure."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from app.figures import states, theme


def heads_apart(apart: np.ndarray) -> go.Figure:
    """Distance of each head from its namesake: (layers, heads) -> a cell a head."""
    layers, heads = apart.shape
    figure = go.Figure(go.Heatmap(
        z=apart, zmin=0, zmax=1, colorscale=theme.SEQUENTIAL, xgap=2, ygap=2,
        colorbar=theme.colour_bar("apart"),
        hovertemplate="layer %{y}, head %{x}: %{z:.2f}<extra></extra>"))
    figure.update_xaxes(title="head", **theme.token_axis([str(head + 1) for head in range(heads)]))
    figure.update_yaxes(title="layer", autorange="reversed", **theme.token_axis([str(layer + 1) for layer in range(layers)]))
    return theme.finished(figure, 180 + 38 * layers)


def head(attention: np.ndarray, texts: Sequence[str]) -> go.Figure:
    """One head over units: (units, units) -> a map, rows look at columns."""
    figure = go.Figure(go.Heatmap(z=attention, zmin=0, zmax=1, colorscale=theme.SEQUENTIAL, showscale=False,
                                  hovertemplate="from %{y} to %{x}: %{z:.2f}<extra></extra>"))
    ticks = states.ticks(texts, 1 + len(texts) // 40)
    figure.update_xaxes(**ticks)
    figure.update_yaxes(autorange="reversed", **ticks)
    return theme.finished(figure, min(760, 130 + 24 * len(texts)))


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
