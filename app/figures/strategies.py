"""Masking strategies: corrupted text by fate, shares with their intervals, and what trained models can do."""

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from app.figures import theme
from model import Encoding
from model.pretraining.masking import KEPT, MASKED, RANDOM

COLOURS = {MASKED: "#1098ad", RANDOM: "#e03131", KEPT: "#2f9e44"}
LEGEND = {MASKED: "masked", RANDOM: "random word", KEPT: "chosen, but kept"}


def corrupted(before: Encoding, after: Encoding, fate: Sequence[int]) -> str:
    """A text and its corruption -> HTML: tokens coloured by fate, the original word below a changed one."""
    chips = []
    for old, new, kind in zip(before.tokens, after.tokens, fate, strict=True):
        colour = COLOURS.get(int(kind))
        style = "" if colour is None else f' style="background: color-mix(in srgb, {colour} 55%, transparent)"'
        below = escape(old.text) if colour and old.text != new.text else LEGEND[KEPT] if kind == KEPT else "&nbsp;"
        special = " special" if old.special else ""
        chips.append(f'<span class="chip plain{special}"{style}><b>{escape(new.text)}</b><small>{below}</small></span>')
    key = " ".join(f'<span class="chip plain" style="background: color-mix(in srgb, {COLOURS[kind]} 55%, transparent)">'
                   f"<small>{name}</small></span>" for kind, name in LEGEND.items())
    return f'<div class="chips">{"".join(chips)}</div><div class="chips">{key}</div>'


def shares(table: pd.DataFrame) -> go.Figure:
    """what, expected, observed, low, high -> points with intervals, the expected share as a tick."""
    names = [f"{row.what}: {row.observed:.1%}" for row in table.itertuples()]
    figure = go.Figure()
    figure.add_scatter(x=table["expected"], y=names, mode="markers", name="expected",
                       marker={"symbol": "line-ns", "size": 26, "line": {"width": 4, "color": theme.SECOND}},
                       hovertemplate="expected %{x:.1%}<extra></extra>")
    figure.add_scatter(x=table["observed"], y=names, mode="markers", name="observed, with 95 % interval",
                       marker={"size": 11, "color": theme.ACCENT},
                       error_x={"type": "data", "symmetric": False, "array": table["high"] - table["observed"],
                                "arrayminus": table["observed"] - table["low"], "color": theme.ACCENT, "thickness": 3},
                       hovertemplate="observed %{x:.2%}<extra></extra>")
    figure.update_xaxes(range=[-0.04, 1.06], tickformat=".0%", gridcolor="rgba(134,142,150,0.25)")
    figure.update_yaxes(autorange="reversed", type="category")
    # two rows of names on a phone must not lie on the first share
    return theme.finished(figure, 360).update_layout(margin={"t": 64}, legend={"y": 1.02, "yanchor": "bottom"})


def mismatch(table: pd.DataFrame) -> go.Figure:
    """fate, accuracy, probability, noticed -> grouped bars."""
    figure = go.Figure()
    parts = (("accuracy", "true word is the best guess", theme.ACCENT),
             ("probability", "mean P(true word)", "#74c0d0"),
             ("noticed", "best guess is not the word it reads", theme.SECOND))
    for column, name, colour in parts:
        errors = {"type": "data", "symmetric": False, "array": table["high"] - table["accuracy"],
                  "arrayminus": table["accuracy"] - table["low"]} if column == "accuracy" else None
        figure.add_bar(x=[f"it reads {fate}" for fate in table["fate"]], y=table[column], name=name, marker_color=colour,
                       error_y=errors, textposition="inside", insidetextanchor="start", textfont={"size": 15},
                       text=["" if np.isnan(share) else f"{share:.0%}" for share in table[column]],
                       hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%", gridcolor="rgba(134,142,150,0.25)")
    figure.update_layout(barmode="group")
    return theme.finished(figure, 400)


def seeds(results: pd.DataFrame, column: str, order: Sequence[tuple[str, str]],
          lines: Sequence[tuple[str, float]] = ()) -> go.Figure:
    """One row a trial: the mean over seeds as a bar, its range as a line, every seed as a dot; baselines dashed."""
    figure = go.Figure()
    rows = [(name, results.loc[results["trial"] == key, column].dropna().to_numpy()) for key, name in order]
    rows = [(name, values) for name, values in rows if len(values)]
    means = np.array([values.mean() for _, values in rows])
    names = [name for name, _ in rows]
    figure.add_bar(x=means, y=names, orientation="h", marker_color="rgba(16,152,173,0.35)", showlegend=False,
                   text=[f"{mean:.1%}" for mean in means], textposition="inside", insidetextanchor="start",
                   textfont={"size": 15}, hovertemplate="%{y}: mean %{x:.1%}<extra></extra>",
                   error_x={"type": "data", "symmetric": False, "thickness": 3, "color": theme.ACCENT,
                            "array": [values.max() - values.mean() for _, values in rows],
                            "arrayminus": [values.mean() - values.min() for _, values in rows]})
    figure.add_scatter(x=np.concatenate([values for _, values in rows]) if rows else [],
                       y=[name for name, values in rows for _ in values], mode="markers", showlegend=False,
                       marker={"size": 9, "color": theme.SECOND, "line": {"width": 1, "color": "white"}},
                       hovertemplate="%{y}: %{x:.1%}<extra>one seed</extra>")
    for nth, (name, value) in enumerate(sorted(lines, key=lambda line: line[1])):
        figure.add_vline(x=value, line={"color": theme.MUTED, "width": 2, "dash": "dash"})
        figure.add_annotation(x=value, y=1.02 + 0.13 * (nth % 2), yref="paper", yanchor="bottom", showarrow=False,
                              xanchor="right" if value > 0.75 else "auto",  # a phone would cut it at the edge
                              text=f"{name} {value:.0%}", font={"size": 14})
    figure.update_xaxes(range=[0, 1.02], tickformat=".0%", gridcolor="rgba(134,142,150,0.25)")
    figure.update_yaxes(autorange="reversed", type="category")
    return theme.finished(figure, 110 + 46 * max(1, len(rows))).update_layout(margin_t=30 + 22 * min(2, len(lines)))
