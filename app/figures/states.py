"""States compared: square maps of similarity, lines over layers with their baselines, maps of points."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from app.figures import label_placement, theme
from probes.states.residual_stream import Writes
from probes.states.token_contexts import SentenceSimilarity, Steadiness
from probes.states.word_senses import Separation

GRID = {"showgrid": True, "gridcolor": "rgba(134,142,150,0.2)"}


def square(values: np.ndarray, texts: Sequence[str], across: Sequence[str] | None = None, what: str = "cosine",
           titles: tuple[str, str] = ("", ""), cell: int = 30, every: int = 1) -> go.Figure:
    """A map of every row with every column, up to 1: (rows, columns) -> figure; below zero is the second colour."""
    rows, columns = list(texts), list(across if across is not None else texts)
    below = bool((values < -0.02).any())
    gap = 1 if len(rows) <= 64 else 0
    figure = go.Figure(go.Heatmap(
        z=values, zmin=-1 if below else 0, zmax=1, colorscale=theme.DIVERGING if below else theme.SEQUENTIAL,
        colorbar=theme.colour_bar(what), xgap=gap, ygap=gap,
        hovertemplate="%{y} · %{x}: %{z:.2f}<extra></extra>"))
    if len(rows) <= 13 and len(columns) <= 13:
        _numbers(figure, values)
    every = max(every, 1 + len(rows) // 64)
    # a word that slants upwards ends at its column: one that begins there leaves the picture at the last, and is not drawn
    figure.update_xaxes(title=titles[1], autotickangles=[0, -45, -90], **ticks(columns, every))
    figure.update_yaxes(title=titles[0], autorange="reversed", **ticks(rows, every))
    return theme.finished(figure, min(900, max(370, 190 + cell * len(rows))))


def ticks(texts: Sequence[str], every: int) -> dict:
    """A tick for every so many, cut where one is long."""
    axis = theme.token_axis([text if len(text) <= 18 else f"{text[:16]}…" for text in texts])
    return axis | {name: axis[name][::every] for name in ("tickvals", "ticktext")}


def _numbers(figure: go.Figure, values: np.ndarray) -> None:
    """Write its value into each cell: white on the dark end of the scale, else in the ink of the page."""
    for row, column in np.ndindex(*values.shape):
        figure.add_annotation(x=column, y=row, text=f"{values[row, column]:.2f}", showarrow=False,
                              font={"size": 14, "color": theme.ON_STRONG if values[row, column] > 0.6 else None})


def steadiness(found: Steadiness, word: str | None) -> go.Figure:
    """Self-similarity over layers beside random pairs, and one word's own."""
    layers = list(range(len(found.same)))
    figure = go.Figure()
    figure.add_scatter(x=layers, y=found.same, name="uses of the same word", mode="lines+markers",
                       line={"color": theme.ACCENT, "width": 3})
    own = found.words[found.words["word"] == word]
    if len(own):
        figure.add_scatter(x=layers, y=own.iloc[0][layers].astype(float), name=f"uses of “{theme.shown(str(word))}”",
                           mode="lines+markers", line={"color": theme.SECOND, "width": 3})
    figure.add_scatter(x=layers, y=found.random, name="baseline: random pairs (anisotropy)", mode="lines+markers",
                       line={"color": theme.MUTED, "width": 3, "dash": "dot"})
    return _over_layers(figure, "mean cosine", [min(0.0, float(found.random.min())) - 0.02, 1.02])


def intra_sentence(found: SentenceSimilarity) -> go.Figure:
    """Intra-sentence similarity over layers: the mean, its range over the middle half of the sentences, the baseline."""
    layers = list(range(len(found.mean)))
    low, high = found.middle_half
    figure = go.Figure()
    figure.add_scatter(x=layers, y=low, mode="lines", line={"width": 0}, showlegend=False, hoverinfo="skip")
    figure.add_scatter(x=layers, y=high, mode="lines", line={"width": 0}, fill="tonexty", hoverinfo="skip",
                       fillcolor="rgba(16,152,173,0.2)", name="middle half of the sentences")
    figure.add_scatter(x=layers, y=found.mean, name="tokens and the mean of their sentence", mode="lines+markers",
                       line={"color": theme.ACCENT, "width": 3})
    figure.add_scatter(x=layers, y=found.shuffled, name="baseline: the same with tokens dealt at random",
                       mode="lines+markers", line={"color": theme.MUTED, "width": 3, "dash": "dot"})
    return _over_layers(figure, "mean cosine", [min(0.0, float(low.min())) - 0.02, 1.02])


def separation(found: Separation) -> go.Figure:
    """Silhouette of the senses over layers, and the band of random labellings of the same sizes."""
    layers = list(range(len(found.silhouette)))
    figure = go.Figure()
    figure.add_scatter(x=layers, y=found.low, mode="lines", line={"width": 0}, showlegend=False, hoverinfo="skip")
    figure.add_scatter(x=layers, y=found.high, mode="lines", line={"width": 0}, fill="tonexty", hoverinfo="skip",
                       fillcolor="rgba(134,142,150,0.3)", name="baseline: senses dealt at random, 95 % of the times")
    figure.add_scatter(x=layers, y=found.chance, mode="lines", line={"color": theme.MUTED, "dash": "dot", "width": 2},
                       name="their mean")
    figure.add_scatter(x=layers, y=found.silhouette, mode="lines+markers", name="the true senses",
                       line={"color": theme.ACCENT, "width": 3}, customdata=found.p,
                       hovertemplate="layer %{x}: %{y:.2f}, p = %{customdata:.3f}<extra></extra>")
    return _over_layers(figure, "silhouette", None)


def _over_layers(figure: go.Figure, what: str, span: list[float] | None) -> go.Figure:
    figure.update_xaxes(title="layer (0 = embeddings)", dtick=1)
    figure.update_yaxes(title=what, range=span)
    figure = theme.finished(figure, 400).update_yaxes(**GRID)
    return figure.update_layout(legend={"y": 1.02, "yanchor": "bottom"}, margin={"t": 100})


def writes(found: Writes, texts: Sequence[str], part: str) -> go.Figure:
    """Layers down, tokens across: the length of states, or of what a sub-layer adds to them."""
    values = {"state": found.length, "attention": found.attention, "feed-forward": found.feed_forward,
              "turn": found.turn}[part]
    first, scales = 0 if part == "state" else 1, {"state": "length", "turn": "cosine"}
    names = [f"{layer}" for layer in range(first, first + len(values))]
    figure = go.Figure(go.Heatmap(z=values, colorscale=theme.SEQUENTIAL, zmin=0, zmax=max(1.0, float(values.max())),
                                  xgap=1, ygap=1, colorbar=theme.colour_bar(scales.get(part, "times the state")),
                                  hovertemplate="layer %{y}, position %{x}: %{z:.2f}<extra></extra>"))
    figure.update_xaxes(**ticks(texts, 1 + len(texts) // 64))
    figure.update_yaxes(title="layer", autorange="reversed", **theme.token_axis(names))
    return theme.finished(figure, 190 + 38 * len(values))


def sentence_map(points: np.ndarray, explained: np.ndarray, texts: Sequence[str]) -> go.Figure:
    """Sentences as numbered points of a plane: (sentences, 2)."""
    points = points.round(6)  # what an axis without variance is off zero by is no distance to draw
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    room = np.maximum(np.ptp(points, axis=0) * 0.12, 1e-6)
    figure = go.Figure(go.Scatter(
        x=points[:, 0], y=points[:, 1], mode="markers+text", text=numbers,
        textposition=label_placement.sides(points, numbers, points.min(0) - room, points.max(0) + room),
        textfont={"size": 14},
        marker={"size": 11, "color": theme.ACCENT},
        hovertext=[theme.shown(text) for text in texts], hovertemplate="%{text}. %{hovertext}<extra></extra>"))
    figure.update_xaxes(title=f"axis 1: {explained[0]:.0%} of the variance")
    figure.update_yaxes(title=f"axis 2: {explained[1]:.0%}")
    return theme.finished(figure, 520).update_xaxes(**GRID).update_yaxes(**GRID)
