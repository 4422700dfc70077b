"""One head as lines from each token to the tokens it looks at."""

import numpy as np
import plotly.graph_objects as go

from app.figures import theme

SHADES = 8  # lines of one opacity are drawn as one trace


def bipartite(attention: np.ndarray, texts: list[str], marked: frozenset[int] = frozenset()) -> go.Figure:
    """Lines from query (left) to key (right), as opaque as the weight; marked rows in the second colour."""
    figure = go.Figure()
    count = len(texts)
    heights = -np.arange(count)
    own = np.isin(np.arange(count), list(marked))
    for rows_drawn, colour in ((~own, theme.ACCENT), (own, theme.SECOND)):
        for shade in range(1, SHADES + 1):
            low, high = (shade - 0.5) / SHADES, (shade + 0.5) / SHADES
            rows, columns = np.nonzero((attention >= low) & (attention < high) & rows_drawn[:, None])
            if not len(rows):
                continue
            gap = np.full(len(rows), np.nan)
            figure.add_scatter(
                x=np.stack([np.zeros(len(rows)), np.ones(len(rows)), gap], 1).ravel(),
                y=np.stack([heights[rows], heights[columns], gap], 1).ravel(), mode="lines", hoverinfo="skip",
                line={"color": colour, "width": 1 + 4 * shade / SHADES}, opacity=shade / SHADES, showlegend=False)
    labels = [theme.shown(text) for text in texts]
    for x, side in ((-0.02, "middle left"), (1.02, "middle right")):
        colours = [theme.SECOND if place in marked and x < 0 else None for place in range(count)]
        for colour in (None, theme.SECOND):
            places = [place for place in range(count) if colours[place] == colour]
            figure.add_scatter(x=[x] * len(places), y=heights[places], text=[labels[place] for place in places], mode="text",
                               textposition=side, textfont={"size": 16, "color": colour}, hoverinfo="skip",
                               cliponaxis=False, showlegend=False)
    figure.update_xaxes(visible=False, range=[-0.55, 1.55])
    figure.update_yaxes(visible=False, range=[-count + 0.4, 0.6])
    return theme.finished(figure, max(220, 27 * count))
