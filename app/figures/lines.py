"""One head as lines from each token to the tokens it looks at."""

import numpy as np
import plotly.graph_objects as go

from app.figures import theme

SHADES = 8  # lines of one opacity are drawn as one trace


def bipartite(attention: np.ndarray, texts: list[str], marked: frozenset[int] = frozenset()) -> go.Figure:
    """Lines from query (left) to key (right), as opaque as the weight; (query, key) -> figure."""
    figure = go.Figure()
    count = len(texts)
    heights = -np.arange(count)
    for shade in range(1, SHADES + 1):
        low, high = (shade - 0.5) / SHADES, (shade + 0.5) / SHADES
        rows, columns = np.nonzero((attention >= low) & (attention < high))
        if not len(rows):
            continue
        gap = np.full(len(rows), np.nan)
        figure.add_scatter(
            x=np.stack([np.zeros(len(rows)), np.ones(len(rows)), gap], 1).ravel(),
            y=np.stack([heights[rows], heights[columns], gap], 1).ravel(), mode="lines", hoverinfo="skip",
            line={"color": theme.ACCENT, "width": 1 + 4 * shade / SHADES}, opacity=shade / SHADES, showlegend=False)
    for x, anchor in ((-0.02, "right"), (1.02, "left")):
        for place, text in enumerate(texts):
            bold = anchor == "right" and place in marked
            label = f"<b>{theme.shown(text)}</b>" if bold else theme.shown(text)
            figure.add_annotation(x=x, y=heights[place], text=label, showarrow=False, xanchor=anchor,
                                  font={"size": 16, "color": theme.ACCENT if bold else None})
    figure.update_xaxes(visible=False, range=[-0.55, 1.55])
    figure.update_yaxes(visible=False, range=[-count + 0.4, 0.6])
    return theme.finished(figure, max(220, 27 * count))
