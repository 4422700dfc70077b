"""One head as lines from each token to the tokens it attends to."""

import numpy as np

from app.figures import theme
from app.figures.theme import Figure

SHADES = 8  # lines of one opacity are drawn as one trace


def lines(attention: np.ndarray, texts: list[str], marked: frozenset[int] = frozenset()) -> Figure:
    """Lines from query (left) to key (right), as opaque as the weight; marked rows in the second colour."""
    count = len(texts)
    is_marked = np.isin(np.arange(count), list(marked))
    traces = []
    for rows, colour in ((~is_marked, theme.ACCENT), (is_marked, theme.HIGHLIGHT)):
        for shade in range(1, SHADES + 1):
            low, high = (shade - 0.5) / SHADES, (shade + 0.5) / SHADES
            queries, keys = np.nonzero((attention >= low) & (attention < high) & rows[:, None])
            if len(queries):
                traces.append(_edges(queries, keys, colour, shade / SHADES))
    traces += [
        _labels(texts, np.flatnonzero(~is_marked).tolist(), "left"),
        _labels(texts, np.flatnonzero(is_marked).tolist(), "left", theme.HIGHLIGHT),
        _labels(texts, list(range(count)), "right"),
    ]
    layout = {
        "xaxis": {"visible": False, "range": [-0.55, 1.55]},
        "yaxis": {"visible": False, "range": [-count + 0.4, 0.6]},
    }
    return theme.apply({"data": [trace for trace in traces if trace["x"]], "layout": layout}, max(220, 27 * count))


def _edges(queries: np.ndarray, keys: np.ndarray, colour: str, weight: float) -> dict:
    """Lines of one opacity; an empty point parts each from the next."""
    return {
        "type": "scatter",
        "x": [0, 1, None] * len(queries),
        "y": [y for query, key in zip(queries.tolist(), keys.tolist(), strict=True) for y in (-query, -key, None)],
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": colour, "width": 1 + 4 * weight},
        "opacity": weight,
        "showlegend": False,
    }


def _labels(texts: list[str], positions: list[int], side: str, colour: str | None = None) -> dict:
    return {
        "type": "scatter",
        "x": [-0.02 if side == "left" else 1.02] * len(positions),
        "y": [-position for position in positions],
        "text": [theme.escape(texts[position]) for position in positions],
        "mode": "text",
        "textposition": f"middle {side}",
        "textfont": {"size": 16} | ({"color": colour} if colour else {}),
        "hoverinfo": "skip",
        "cliponaxis": False,
        "showlegend": False,
    }
