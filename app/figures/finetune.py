"""How a fine-tuning went, drawn beside what it must beat; and the labels of a text, as chips."""

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd

from app.figures import theme
from app.figures.theme import Figure
from probes.finetuning.results import BASELINES, CONDITIONS, FinetuningResult

LINES = {
    "finetuned": (theme.ACCENT, "solid", 4),
    "random_init": (theme.HIGHLIGHT, "solid", 3),
    "second_only": (theme.CATEGORIES[4], "solid", 3),
}
LEVELS = {
    "frozen": (theme.CATEGORIES[2], "dot", 3),
    "word_type": (theme.CATEGORIES[3], "dashdot", 2),
    "majority": (theme.MUTED, "dash", 2),
}


def course(result: FinetuningResult) -> Figure:
    """Accuracy on the test by training step: what learns as lines, what does not as levels."""
    last = max((row[0] for rows in result.learning_curves.values() for row in rows), default=1)
    traces = []
    for arm, (colour, dash, width) in LINES.items():
        if arm == "second_only" and not result.pairs:
            continue
        rows = result.learning_curves.get(arm, [])
        traces.append(
            {
                "type": "scatter",
                "x": [row[0] for row in rows],
                "y": [row[1] for row in rows],
                "name": CONDITIONS[arm],
                "mode": "lines+markers",
                "line": {"color": colour, "dash": dash, "width": width},
                "marker": {"size": 8},
                "hovertemplate": "%{y:.1%} after step %{x:,}<extra>%{fullData.name}</extra>",
            }
        )
        if arm in result.scores:
            traces.append(_interval(last, result.scores[arm], colour))
    for name, (colour, dash, width) in LEVELS.items():
        if name in result.scores and (name != "word_type" or result.unit == "token"):
            traces.append(
                {
                    "type": "scatter",
                    "x": [0, last],
                    "y": [result.scores[name][0]] * 2,
                    "name": BASELINES[name],
                    "mode": "lines",
                    "line": {"color": colour, "dash": dash, "width": width},
                    "hovertemplate": "%{y:.1%}<extra>%{fullData.name}</extra>",
                }
            )
    layout = {
        "xaxis": {"title": {"text": "training step"}, "range": [0, last * 1.02]},
        "yaxis": {
            "title": {"text": "right on the test"},
            "tickformat": ".0%",
            "range": [0, 1.03],
            "showgrid": True,
            "gridcolor": theme.GRID,
        },
        # below the picture: four names above it would cover it on a phone
        "legend": {"y": -0.2, "yanchor": "top"},
    }
    return theme.apply({"data": traces, "layout": layout}, 440)


def similarity(cka: np.ndarray) -> Figure:
    """How alike the states of each layer are before and after, embeddings first."""
    layers = list(range(len(cka)))
    bars = {
        "type": "bar",
        "x": layers,
        "y": cka.tolist(),
        "marker": {"color": theme.ACCENT},
        "text": [f"{value:.2f}" for value in cka],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "layer %{x}: %{y:.3f}<extra></extra>",
    }
    layout = {
        "xaxis": {
            "title": {"text": "layer"},
            "tickvals": layers,
            "ticktext": ["embed." if layer == 0 else str(layer) for layer in layers],
        },
        "yaxis": {"title": {"text": "CKA, before and after"}, "range": [min(0.0, float(cka.min())), 1.12], "nticks": 6},
    }
    return theme.apply({"data": [bars], "layout": layout}, 360)


def _interval(step: float, score: Sequence[float], colour: str) -> dict:
    """The accuracy of the finished model with its 95 % interval: accuracy, low, high."""
    accuracy, low, high = score
    return {
        "type": "scatter",
        "x": [step],
        "y": [accuracy],
        "mode": "markers",
        "marker": {"size": 8, "color": colour},
        "showlegend": False,
        "error_y": {"array": [high - accuracy], "arrayminus": [accuracy - low], "color": colour},
        "hovertemplate": f"{accuracy:.1%}, 95 % interval {low:.0%} to {high:.0%}<extra></extra>",
    }


def labelled(rows: pd.DataFrame) -> str:
    """Columns word, label and probability -> a chip a word, as HTML."""
    chips = (
        f'<span class="chip plain"><b>{escape(str(row.word))}</b><small>{escape(str(row.label))}</small>'
        f"<small>{row.probability:.0%}</small></span>"
        for row in rows.itertuples()
    )
    return f'<div class="chips">{"".join(chips)}</div>'
