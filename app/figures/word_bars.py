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
        "text": [theme.percent(probability) for probability in probabilities],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 15},
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    layout = {
        "yaxis": {"autorange": "reversed", "tickfont": {"size": 17}, "type": "category"},
        "xaxis": theme.share_axis(max(probabilities, default=0.0), least=1e-6),
    }
    return theme.apply({"data": [trace], "layout": layout}, 60 + 34 * len(names))
