"""A training run as curves: what it learned when, how near it came to the best possible, and what it predicted meanwhile."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from app.figures import shapes, theme
from app.figures.theme import Figure

NAMES = {
    "heldout_mlm_accuracy": "masked words named",
    "heldout_nsp_accuracy": "pairs judged",
    "heldout_mlm_loss": "masked-word loss",
    "heldout_nsp_loss": "next-sentence loss",
    "mlm_loss": "masked-word loss",
    "nsp_loss": "next-sentence loss",
}

POINTS = 400  # of one curve: more cannot be seen, and each is drawn again while a training runs


def accuracies(rows: pd.DataFrame, ceiling: float | None = None, now: int | None = None) -> Figure:
    """Held-out accuracies by step, with chance for pairs and, where it is known, the best possible for words."""
    lines = _curves(rows, {"heldout_mlm_accuracy": theme.ACCENT, "heldout_nsp_accuracy": theme.HIGHLIGHT}, ":.1%")
    if ceiling:
        lines.append(_level(rows, ceiling, f"best possible: {ceiling:.1%}", theme.ACCENT))
    lines.append(_level(rows, 0.5, "pairs by chance", theme.HIGHLIGHT))
    return _by_step(lines, rows, {"range": [0, 1.03], "tickformat": ".0%"}, now, 320)


def losses(rows: pd.DataFrame, ceiling: float | None = None, now: int | None = None) -> Figure:
    """Losses of the training batches, smoothed, by step, with the least possible for words where it is known."""
    columns = {"mlm_loss": theme.ACCENT, "nsp_loss": theme.HIGHLIGHT}
    lines = _curves(_smoothed(rows, columns), columns, ":.3f")
    if ceiling:
        lines.append(_level(rows, ceiling, f"least possible for words: {ceiling:.2f}", theme.ACCENT))
    return _by_step(lines, rows, {"rangemode": "tozero"}, now, 320)


def spoken(followed: pd.DataFrame, now: int | None = None) -> Figure:
    """step, word, probability -> a line for each word."""
    lines = [
        {
            "type": "scatter",
            "x": _on_log_axis(rows["step"]),
            "y": rows["probability"].to_numpy(),
            "name": theme.escape(str(word)),
            "mode": "lines+markers",
            "line": {"color": theme.CATEGORIES[index % len(theme.CATEGORIES)], "width": 2.5},
            "customdata": rows["step"].to_numpy(),
            "hovertemplate": "%{y:.1%} after step %{customdata:,}<extra>%{fullData.name}</extra>",
        }
        for index, (word, rows) in enumerate(followed.groupby("word", sort=False))
    ]
    return _by_step(lines, followed, {"range": [0, 1.03], "tickformat": ".0%"}, now, 300)


def attention(weights: np.ndarray, texts: list[str], place: int) -> Figure:
    """(query, key) of one head -> a heatmap; the row of the masked word is framed."""
    cells = {
        "type": "heatmap",
        "z": weights,
        "colorscale": theme.SEQUENTIAL,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hovertemplate": "%{y} looks at %{x}: %{z:.2f}<extra></extra>",
    }
    tokens = theme.token_axis(texts)
    row = shapes.frame((-0.5, len(texts) - 0.5), (place - 0.5, place + 0.5), {"color": theme.HIGHLIGHT, "width": 2})
    layout = {
        "shapes": [row],
        "xaxis": {"side": "top", "tickangle": -55} | tokens,
        "yaxis": {"autorange": "reversed"} | tokens,
        "margin": {"t": 90},
    }
    return theme.apply({"data": [cells], "layout": layout}, 110 + 24 * len(texts))


def _curves(rows: pd.DataFrame, colours: dict[str, str], number: str) -> list[dict[str, Any]]:
    """A line for each of the columns that the history has, `number` being the form of its values."""
    lines = []
    for column in (column for column in colours if column in rows):
        points = _thinned(rows[["step", column]].dropna())
        lines.append(
            {
                "type": "scatter",
                "x": _on_log_axis(points["step"]),
                "y": points[column].to_numpy(),
                "name": NAMES[column],
                "mode": "lines",
                "line": {"color": colours[column], "width": 2.5},
                "customdata": points["step"].to_numpy(),
                "hovertemplate": f"%{{y{number}}} after step %{{customdata:,}}<extra>%{{fullData.name}}</extra>",
            }
        )
    return lines


def _smoothed(rows: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Exponentially weighted means of the columns, over a fortieth of their values."""
    smooth = {}
    for column in columns:
        if column in rows:
            values = rows[column].dropna()
            smooth[column] = values.ewm(span=max(1, len(values) // 40)).mean()
    return rows.assign(**smooth)


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """As many rows as differ on a logarithmic axis: all of the first, few of the last, the very last."""
    return rows.iloc[np.unique(np.geomspace(1, max(1, len(rows)), POINTS).round().astype(int))[: len(rows)] - 1]


def _level(rows: pd.DataFrame, value: float, name: str, colour: str) -> dict[str, Any]:
    """A level to compare with, over all steps."""
    return {
        "type": "scatter",
        "x": [0.5, max(1.0, float(rows["step"].max()) if len(rows) else 1.0)],
        "y": [value, value],
        "name": name,
        "mode": "lines",
        "line": {"color": colour, "dash": "dash", "width": 2},
        "hovertemplate": "%{fullData.name}<extra></extra>",
    }


def _on_log_axis(steps: pd.Series) -> np.ndarray:
    """Step 0 has no position on a logarithmic axis; it stands where half a step would."""
    return steps.to_numpy(float).clip(0.5)


def _by_step(
    lines: list[dict[str, Any]], rows: pd.DataFrame, y_axis: dict[str, Any], now: int | None, height: int
) -> Figure:
    """Lines over a logarithmic axis of steps, and an upright one at the step `now`."""
    last = int(rows["step"].max()) if len(rows) else 1
    ticks = [0.5, *(10**power for power in range(len(str(last))))]
    layout = {
        "shapes": [] if now is None else [shapes.vertical_line(max(now, 0.5), {"color": theme.MUTED, "width": 2})],
        "xaxis": {
            "type": "log",
            "title": {"text": "training step"},
            "tickmode": "array",
            "tickvals": ticks,
            "ticktext": ["0", *(f"{tick:,}" for tick in ticks[1:])],
        },
        "yaxis": y_axis,
        # the legend may need two rows, and must not lie on the lines
        "margin": {"t": 64},
        "legend": {"y": 1.02, "yanchor": "bottom"},
    }
    return theme.apply({"data": lines, "layout": layout}, height)
