"""Predicted words as bars, best first."""

import pandas as pd

from app.figures import theme
from app.figures.theme import Figure


def bars(words: pd.DataFrame, original: str | None = None) -> Figure:
    """Columns word and probability -> one bar a word; `original`, as the vocabulary spells it, is in the second colour."""
    names, probabilities = words["word"].tolist(), words["probability"].tolist()
    trace = {
        "type": "bar",
        "x": probabilities,
        "y": [theme.escape(word) for word in names],
        "orientation": "h",
        "marker": {"color": [theme.HIGHLIGHT if word == original else theme.ACCENT for word in names]},
        "text": [f"{probability:.1%}" for probability in probabilities],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 15},
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    layout = {
        "yaxis": {"autorange": "reversed", "tickfont": {"size": 17}, "type": "category"},
        "xaxis": {"visible": False, "range": [0, max(0.05, max(probabilities, default=0.0) * 1.25)]},
    }
    return theme.apply({"data": [trace], "layout": layout}, 40 + 36 * len(names))
