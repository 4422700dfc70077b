"""Masking strategies: corrupted text by replacement, shares with their intervals, and what trained models can do."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from app.figures import shapes, theme
from app.figures.theme import Figure
from model import Encoding
from model.pretraining.masking import MASKED, RANDOM, SAME

COLOURS = {MASKED: "#1098ad", RANDOM: "#e03131", SAME: "#2f9e44"}
LEGEND = {MASKED: "masked", RANDOM: "random word", SAME: "chosen, but kept"}


def corrupted(before: Encoding, after: Encoding, replacement: Iterable[int]) -> str:
    """A text and its corruption -> HTML: tokens coloured by replacement, the original word below a changed one."""
    chips = []
    for old, new, kind in zip(before.tokens, after.tokens, replacement, strict=True):
        colour = COLOURS.get(int(kind))
        style = "" if colour is None else f' style="background: color-mix(in srgb, {colour} 55%, transparent)"'
        below = escape(old.text) if colour and old.text != new.text else LEGEND[SAME] if kind == SAME else "&nbsp;"
        special = " special" if old.is_special else ""
        chips.append(f'<span class="chip plain{special}"{style}><b>{escape(new.text)}</b><small>{below}</small></span>')
    key = " ".join(
        f'<span class="chip plain" style="background: color-mix(in srgb, {COLOURS[kind]} 55%, transparent)">'
        f"<small>{name}</small></span>"
        for kind, name in LEGEND.items()
    )
    return f'<div class="chips">{"".join(chips)}</div><div class="chips">{key}</div>'


def shares(table: pd.DataFrame) -> Figure:
    """what, expected, observed, low, high -> points with intervals, the expected share as a tick."""
    names = [f"{row.what}: {row.observed:.1%}" for row in table.itertuples()]
    expected = {
        "type": "scatter",
        "x": table["expected"].tolist(),
        "y": names,
        "mode": "markers",
        "name": "expected",
        "marker": {"symbol": "line-ns", "size": 26, "line": {"width": 4, "color": theme.HIGHLIGHT}},
        "hovertemplate": "expected %{x:.1%}<extra></extra>",
    }
    observed = {
        "type": "scatter",
        "x": table["observed"].tolist(),
        "y": names,
        "mode": "markers",
        "name": "observed, with 95 % interval",
        "marker": {"size": 11, "color": theme.ACCENT},
        "error_x": _interval(table, "observed") | {"color": theme.ACCENT, "thickness": 3},
        "hovertemplate": "observed %{x:.2%}<extra></extra>",
    }
    layout = {
        "xaxis": {"range": [-0.04, 1.06], "tickformat": ".0%"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        # two rows of names on a phone must not lie on the first share
        "margin": {"t": 64},
        "legend": {"y": 1.02, "yanchor": "bottom"},
    }
    return theme.apply({"data": [expected, observed], "layout": layout}, 360)


def mismatch(table: pd.DataFrame) -> Figure:
    """replacement, accuracy, probability, detected -> grouped bars."""
    bars = [
        {
            "type": "bar",
            "x": [f"it reads {replacement}" for replacement in table["replacement"]],
            "y": table[column].to_numpy(),
            "name": name,
            "marker": {"color": colour},
            "textposition": "inside" if column == "accuracy" else "outside",  # above its bar stands the interval
            "insidetextanchor": "start",
            "cliponaxis": False,
            "textfont": {"size": 15},
            "text": ["" if np.isnan(value) else f"{value:.0%}" for value in table[column]],
            "hovertemplate": "%{x}: %{y:.1%}<extra>" + name + "</extra>",
        }
        for column, name, colour in (
            ("accuracy", "true word is the best guess", theme.ACCENT),
            ("probability", "mean P(true word)", "#74c0d0"),
            ("detected", "best guess is not the word it reads", theme.HIGHLIGHT),
        )
    ]
    bars[0]["error_y"] = _interval(table, "accuracy")
    layout = {"yaxis": {"range": [0, 1.1], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}, "barmode": "group"}
    return theme.apply({"data": bars, "layout": layout}, 400)


def _interval(table: pd.DataFrame, column: str) -> dict[str, Any]:
    """Error bars from low to high around a column."""
    return {
        "type": "data",
        "symmetric": False,
        "array": (table["high"] - table[column]).to_numpy(),
        "arrayminus": (table[column] - table["low"]).to_numpy(),
    }


def seeds(
    results: pd.DataFrame, column: str, order: Sequence[tuple[str, str]], lines: Sequence[tuple[str, float]] = ()
) -> Figure:
    """One row a condition: the mean over seeds as a bar, its range as a line, every seed as a dot; baselines dashed."""
    rows = _by_condition(results, column, order)
    means = [float(values.mean()) for values in rows.values()]
    bars = {
        "type": "bar",
        "x": means,
        "y": list(rows),
        "orientation": "h",
        "marker": {"color": "rgba(16,152,173,0.35)"},
        "showlegend": False,
        "hovertemplate": "%{y}: mean %{x:.1%}<extra></extra>",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "thickness": 3,
            "color": theme.ACCENT,
            "array": [float(values.max() - values.mean()) for values in rows.values()],
            "arrayminus": [float(values.mean() - values.min()) for values in rows.values()],
        },
    }
    dots = {
        "type": "scatter",
        "x": [value for values in rows.values() for value in values.tolist()],
        "y": [name for name, values in rows.items() for _ in values],
        "mode": "markers",
        "showlegend": False,
        "marker": {"size": 9, "color": theme.HIGHLIGHT, "line": {"width": 1, "color": "white"}},
        "hovertemplate": "%{y}: %{x:.1%}<extra>one seed</extra>",
    }
    baselines = sorted(lines, key=lambda line: line[1])
    layout = {
        "shapes": [
            shapes.vertical_line(value, {"color": theme.MUTED, "width": 2, "dash": "dash"}) for _, value in baselines
        ],
        "annotations": [
            {
                "x": value,
                "y": 1.02 + 0.13 * (index % 2),
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "xanchor": "right" if value > 0.75 else "auto",  # a phone would cut it at the edge
                "text": f"{name} {value:.0%}",
                "font": {"size": 14},
            }
            for index, (name, value) in enumerate(baselines)
        ],
        "xaxis": {"range": [0, 1.02], "tickformat": ".0%"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "margin": {"t": 30 + 22 * min(2, len(lines))},
    }
    return theme.apply({"data": [bars, dots], "layout": layout}, 110 + 46 * max(1, len(rows)))


def _by_condition(results: pd.DataFrame, column: str, order: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Name on screen -> the values of all seeds, of conditions that have any."""
    rows = {name: results.loc[results["condition"] == condition, column].dropna().to_numpy() for condition, name in order}
    # the mean stands with the name: inside a bar it would meet the dashed lines
    return {f"{name}: {values.mean():.1%}": values for name, values in rows.items() if len(values)}
