"""A training run as curves: what it learned when, how near it came to the best possible, and what it said meanwhile."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from app.figures import theme

NAMES = {"held_mlm_accuracy": "masked words named", "held_nsp_accuracy": "pairs judged",
         "held_mlm_loss": "masked-word loss", "held_nsp_loss": "next-sentence loss",
         "mlm_loss": "masked-word loss", "nsp_loss": "next-sentence loss"}

POINTS = 400  # of one curve: more cannot be seen, and each is drawn again while a training runs


def accuracies(rows: pd.DataFrame, ceiling: float | None = None, now: int | None = None) -> go.Figure:
    """Held-out accuracies by step, with chance for pairs and, where it is known, the best possible for words."""
    figure = go.Figure()
    _line(figure, rows, "held_mlm_accuracy", theme.ACCENT)
    _line(figure, rows, "held_nsp_accuracy", theme.SECOND)
    if ceiling:
        _level(figure, rows, ceiling, f"best possible: {ceiling:.1%}", theme.ACCENT)
    _level(figure, rows, 0.5, "pairs by chance", theme.SECOND)
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return _stepped(figure, rows, now, 320)


def losses(rows: pd.DataFrame, ceiling: float | None = None, now: int | None = None) -> go.Figure:
    """Losses of the training batches, smoothed, by step, with the least possible for words where it is known."""
    figure = go.Figure()
    for name, colour in (("mlm_loss", theme.ACCENT), ("nsp_loss", theme.SECOND)):
        _line(figure, rows, name, colour, smooth=True)
    if ceiling:
        _level(figure, rows, ceiling, f"least possible for words: {ceiling:.2f}", theme.ACCENT)
    figure.update_yaxes(rangemode="tozero")
    return _stepped(figure, rows, now, 320)


def spoken(followed: pd.DataFrame, now: int | None = None) -> go.Figure:
    """step, word, probability -> a line for each word."""
    figure = go.Figure()
    for place, (word, rows) in enumerate(followed.groupby("word", sort=False)):
        figure.add_scatter(x=_steps(rows["step"]), y=rows["probability"], name=theme.shown(str(word)), mode="lines+markers",
                           line={"color": theme.CATEGORIES[place % len(theme.CATEGORIES)], "width": 2.5},
                           customdata=rows["step"],
                           hovertemplate="%{y:.1%} after step %{customdata:,}<extra>%{fullData.name}</extra>")
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%")
    return _stepped(figure, followed, now, 300)


def attention(weights, texts: list[str], place: int) -> go.Figure:
    """(query, key) of one head -> a heatmap; the row of the hidden word is marked."""
    figure = go.Figure(go.Heatmap(z=weights, colorscale=theme.SEQUENTIAL, zmin=0, zmax=1, showscale=False,
                                  hovertemplate="%{y} looks at %{x}: %{z:.2f}<extra></extra>"))
    figure.update_xaxes(side="top", tickangle=-55, **theme.token_axis(texts))
    figure.update_yaxes(autorange="reversed", **theme.token_axis(texts))
    figure.add_shape(type="rect", x0=-0.5, x1=len(texts) - 0.5, y0=place - 0.5, y1=place + 0.5,
                     line={"color": theme.SECOND, "width": 2})
    return theme.finished(figure, 110 + 24 * len(texts)).update_layout(margin={"t": 90})


def _line(figure: go.Figure, rows: pd.DataFrame, name: str, colour: str, smooth: bool = False) -> None:
    if name not in rows:
        return
    known = rows[["step", name]].dropna()
    if smooth:
        known = known.assign(**{name: known[name].ewm(span=max(1, len(known) // 40)).mean()})
    known = _thinned(known)
    form = ":.3f" if smooth else ":.1%"
    figure.add_scatter(x=_steps(known["step"]), y=known[name], name=NAMES[name], mode="lines",
                       line={"color": colour, "width": 2.5}, customdata=known["step"],
                       hovertemplate=f"%{{y{form}}} after step %{{customdata:,}}<extra>%{{fullData.name}}</extra>")


def _thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """As many rows as can be told apart on a logarithmic axis: all of the first, few of the last, the very last."""
    return rows.iloc[np.unique(np.geomspace(1, max(1, len(rows)), POINTS).round().astype(int))[:len(rows)] - 1]


def _level(figure: go.Figure, rows: pd.DataFrame, value: float, name: str, colour: str) -> None:
    """A level to compare with, over all steps."""
    ends = [0.5, max(1.0, float(rows["step"].max()) if len(rows) else 1.0)]
    figure.add_scatter(x=ends, y=[value, value], name=name, mode="lines", line={"color": colour, "dash": "dash", "width": 2},
                       hovertemplate="%{fullData.name}<extra></extra>")


def _steps(steps: pd.Series) -> pd.Series:
    """Step 0 has no place on a logarithmic axis; it stands where half a step would."""
    return steps.astype(float).clip(lower=0.5)


def _stepped(figure: go.Figure, rows: pd.DataFrame, now: int | None, height: int) -> go.Figure:
    last = int(rows["step"].max()) if len(rows) else 1
    ticks = [0.5, *(10 ** power for power in range(len(str(last))))]
    figure.update_xaxes(type="log", title="training step", tickmode="array", tickvals=ticks,
                        ticktext=["0", *(f"{tick:,}" for tick in ticks[1:])])
    if now is not None:
        figure.add_vline(x=max(now, 0.5), line={"color": theme.MUTED, "width": 2})
    # the legend may need two rows, and must not lie on the lines
    return theme.finished(figure, height).update_layout(
        margin={"t": 64}, legend={"y": 1.02, "yanchor": "bottom", "font": {"size": 14}})
