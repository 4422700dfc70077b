"""Dependency trees as arcs: the gold one above the words, what a probe found below them."""

import plotly.graph_objects as go

from app.figures import theme

Edges = set[tuple[int, int]]


def against(words: list[str], found: Edges, gold: Edges | None) -> go.Figure:
    """Arcs above for gold edges, below for found ones; a found edge that is gold is in the accent colour."""
    figure = go.Figure()
    reach = max([abs(a - b) for a, b in found | (gold or set())], default=1)
    for edges, side in ((gold or set(), 1), (found, -1)):
        for a, b in edges:
            right = gold is None or side > 0 or (a, b) in gold
            height = side * (0.35 + 0.9 * abs(a - b) / reach)
            figure.add_shape(type="path", path=f"M {a},{side * 0.16} Q {(a + b) / 2},{2 * height} {b},{side * 0.16}",
                             line={"width": 3, "color": theme.MUTED if side > 0 else
                                   theme.ACCENT if right else theme.SECOND})
    places = list(range(len(words)))
    figure.add_scatter(x=places, y=[0] * len(words), mode="text", text=[theme.shown(word) for word in words],
                       textfont={"size": 15}, hoverinfo="skip", showlegend=False, cliponaxis=False)
    figure.update_xaxes(visible=False, range=[-0.7, len(words) - 0.3])
    figure.update_yaxes(visible=False, range=[-1.45, 1.45 if gold is not None else 0.3])
    return theme.finished(figure, 320 if gold is not None else 200)
