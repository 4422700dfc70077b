"""States compared: square maps of similarity, lines over layers with their baselines, maps of points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.figures import label_placement, theme
from app.figures.theme import Figure
from probes.states.residual_stream import ResidualContributions
from probes.states.token_contexts import SelfSimilarity, SentenceSimilarity
from probes.states.word_senses import SenseSeparation

GRID = {"showgrid": True, "gridcolor": "rgba(134,142,150,0.2)"}
BOLD = {"color": theme.ACCENT, "width": 3}
BASELINE = {"color": theme.MUTED, "width": 3, "dash": "dot"}


def similarity_map(
    values: np.ndarray,
    texts: Sequence[str],
    across: Sequence[str] | None = None,
    what: str = "cosine",
    titles: tuple[str, str] = ("", ""),
    cell: int = 30,
    every: int = 1,
) -> Figure:
    """A map of every row with every column, up to 1: (rows, columns) -> figure; below zero is the second colour."""
    rows, columns = list(texts), list(across if across is not None else texts)
    below = bool((values < -0.02).any())
    gap = 1 if len(rows) <= 64 else 0
    cells = {
        "type": "heatmap",
        "z": values,
        "zmin": -1 if below else 0,
        "zmax": 1,
        "colorscale": theme.DIVERGING if below else theme.SEQUENTIAL,
        "colorbar": theme.colour_bar(what),
        "xgap": gap,
        "ygap": gap,
        "hovertemplate": "%{y} · %{x}: %{z:.2f}<extra></extra>",
    }
    every = max(every, 1 + len(rows) // 64)
    layout = {
        "annotations": _numbers(values) if max(values.shape) <= 13 else [],
        # a word that slants upwards ends at its column: one that begins there leaves the picture at the last and is missing
        "xaxis": {"title": {"text": titles[1]}, "autotickangles": [0, -45, -90]} | ticks(columns, every),
        "yaxis": {"title": {"text": titles[0]}, "autorange": "reversed"} | ticks(rows, every),
    }
    return theme.apply({"data": [cells], "layout": layout}, min(900, max(370, 190 + cell * len(rows))))


def ticks(texts: Sequence[str], every: int) -> dict[str, Any]:
    """A tick for every so many, cut where one is long."""
    axis = theme.token_axis([text if len(text) <= 18 else f"{text[:16]}…" for text in texts])
    return axis | {name: axis[name][::every] for name in ("tickvals", "ticktext")}


def _numbers(values: np.ndarray) -> list[dict[str, Any]]:
    """The value of each cell: white on the dark end of the scale, else in the ink of the page."""
    return [
        {
            "x": column,
            "y": row,
            "text": f"{value:.2f}",
            "showarrow": False,
            "font": {"size": 14, "color": theme.ON_STRONG} if value > 0.6 else {"size": 14},
        }
        for row, cells in enumerate(values.tolist())
        for column, value in enumerate(cells)
    ]


def self_similarity(similarity: SelfSimilarity, word: str | None) -> Figure:
    """Self-similarity over layers beside random pairs, and one word's own. Ethayarajh (2019)."""
    lines = [_line(similarity.within_word, "uses of the same word", BOLD)]
    own = similarity.words[similarity.words["word"] == word]
    if len(own):
        values = own.iloc[0][list(range(len(similarity.within_word)))].astype(float).to_numpy()
        lines.append(_line(values, f"uses of “{theme.escape(str(word))}”", BOLD | {"color": theme.HIGHLIGHT}))
    lines.append(_line(similarity.baseline, "baseline: random pairs (anisotropy)", BASELINE))
    return _over_layers(lines, "mean cosine", [min(0.0, float(similarity.baseline.min())) - 0.02, 1.02])


def intra_sentence(similarity: SentenceSimilarity) -> Figure:
    """Intra-sentence similarity over layers: the mean, its range over the middle half of the sentences, the baseline."""
    low, high = similarity.middle_half
    lines = [
        *_band(low, high, "middle half of the sentences", "rgba(16,152,173,0.2)"),
        _line(similarity.mean, "tokens and the mean of their sentence", BOLD),
        _line(similarity.shuffled, "baseline: the same with tokens in random sentences", BASELINE),
    ]
    return _over_layers(lines, "mean cosine", [min(0.0, float(low.min())) - 0.02, 1.02])


def sense_separation(separation: SenseSeparation) -> Figure:
    """Silhouette of the senses over layers, and the band of random labellings of the same sizes."""
    null = "baseline: labels assigned at random, 95 % of the times"
    mean = _line(separation.null_mean, "their mean", {"color": theme.MUTED, "dash": "dot", "width": 2})
    true = _line(separation.silhouette, "the true senses", BOLD)
    lines = [
        *_band(separation.low, separation.high, null, "rgba(134,142,150,0.3)"),
        mean | {"mode": "lines"},
        true
        | {
            "customdata": separation.p_value,
            "hovertemplate": "layer %{x}: %{y:.2f}, p = %{customdata:.3f}<extra></extra>",
        },
    ]
    return _over_layers(lines, "silhouette")


def _line(values: np.ndarray, name: str, line: dict[str, Any]) -> dict[str, Any]:
    """Values by layer: (layers,)."""
    layers = list(range(len(values)))
    return {"type": "scatter", "x": layers, "y": values, "name": name, "mode": "lines+markers", "line": line}


def _band(low: np.ndarray, high: np.ndarray, name: str, colour: str) -> list[dict[str, Any]]:
    """The field between two lines over layers: (layers,) each."""
    edge = {"type": "scatter", "x": list(range(len(low))), "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    return [
        edge | {"y": low, "showlegend": False},
        edge | {"y": high, "fill": "tonexty", "fillcolor": colour, "name": name},
    ]


def _over_layers(lines: list[dict[str, Any]], title: str, span: list[float] | None = None) -> Figure:
    layout = {
        "xaxis": {"title": {"text": "layer (0 = embeddings)"}, "dtick": 1},
        "yaxis": {"title": {"text": title}} | GRID | ({"range": span} if span else {}),
        "legend": {"y": 1.02, "yanchor": "bottom"},
        "margin": {"t": 100},
    }
    return theme.apply({"data": lines, "layout": layout}, 400)


def residual_contributions(contributions: ResidualContributions, texts: Sequence[str], part: str) -> Figure:
    """Layers down, tokens across: the length of states, or of what a sub-layer adds to them."""
    values = {
        "state": contributions.length,
        "attention": contributions.attention,
        "feed-forward": contributions.feed_forward,
        "turn": contributions.cosine_to_input,
    }[part]
    first, scales = 0 if part == "state" else 1, {"state": "length", "turn": "cosine"}
    names = [f"{layer}" for layer in range(first, first + len(values))]
    cells = {
        "type": "heatmap",
        "z": values,
        "colorscale": theme.SEQUENTIAL,
        "zmin": 0,
        "zmax": max(1.0, float(values.max())),
        "xgap": 1,
        "ygap": 1,
        "colorbar": theme.colour_bar(scales.get(part, "times the state")),
        "hovertemplate": "layer %{y}, position %{x}: %{z:.2f}<extra></extra>",
    }
    layout = {
        "xaxis": ticks(texts, 1 + len(texts) // 64),
        "yaxis": {"title": {"text": "layer"}, "autorange": "reversed"} | theme.token_axis(names),
    }
    return theme.apply({"data": [cells], "layout": layout}, 190 + 38 * len(values))


def sentence_map(points: np.ndarray, explained: np.ndarray, texts: Sequence[str]) -> Figure:
    """Sentences as numbered points of a plane: (sentences, 2)."""
    points = points.round(6)  # what an axis without variance is off zero by is no distance to draw
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    margin = np.maximum(np.ptp(points, axis=0) * 0.12, 1e-6)
    dots = {
        "type": "scatter",
        "x": points[:, 0],
        "y": points[:, 1],
        "mode": "markers+text",
        "text": numbers,
        "textposition": label_placement.sides(points, numbers, points.min(0) - margin, points.max(0) + margin),
        "textfont": {"size": 14},
        "marker": {"size": 11, "color": theme.ACCENT},
        "hovertext": [theme.escape(text) for text in texts],
        "hovertemplate": "%{text}. %{hovertext}<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": f"axis 1: {explained[0]:.0%} of the variance"}} | GRID,
        "yaxis": {"title": {"text": f"axis 2: {explained[1]:.0%}"}} | GRID,
    }
    return theme.apply({"data": [dots], "layout": layout}, 520)
