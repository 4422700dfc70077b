"""Figures about heads: grids of layers × heads, the steps inside one, what switching off does."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from app.figures import shapes, subplots, theme
from app.figures.theme import Figure

FRAME = {"color": theme.HIGHLIGHT, "width": 3}


def grid(
    values: np.ndarray,
    name: str,
    chosen: tuple[int, int] | None = None,
    off: Sequence[tuple[int, int]] = (),
    words: Sequence[Sequence[str]] | np.ndarray | None = None,
) -> Figure:
    """(layers, heads) as colours, layer 1 on top; values of both signs are drawn from orange to blue."""
    layers, heads = values.shape
    signed = bool((values < 0).any())
    top = float(np.abs(values).max()) or 1.0
    cells = {
        "type": "heatmap",
        "z": values,
        "x": list(range(1, heads + 1)),
        "y": list(range(1, layers + 1)),
        "zmin": -top if signed else 0,
        "zmax": top,
        "colorscale": theme.DIVERGING if signed else theme.SEQUENTIAL,
        "xgap": 2,
        "ygap": 2,
        "customdata": [list(row) for row in words] if words is not None else [[""] * heads for _ in range(layers)],
        "hovertemplate": f"layer %{{y}}, head %{{x}}: {name} %{{z:.3f}}<br>%{{customdata}}<extra></extra>",
        "colorbar": {
            "title": {"text": name, "side": "top"},
            "thickness": 14,
            "orientation": "h",
            "y": -0.02,
            "yanchor": "top",
            "tickfont": {"size": 14},
        },
    }
    crosses = [
        {"x": head + 1, "y": layer + 1, "text": "✕", "showarrow": False, "font": {"size": 20, "color": theme.HIGHLIGHT}}
        for layer, head in off
    ]
    layout = {
        "shapes": [_cell(*chosen)] if chosen else [],
        "annotations": crosses,
        "xaxis": {"title": {"text": "head"}, "dtick": 1, "side": "top"},
        "yaxis": {"title": {"text": "layer"}, "dtick": 1, "autorange": "reversed"},
        "margin": {"t": 60, "b": 70},
    }
    return theme.apply({"data": [cells], "layout": layout}, 170 + 42 * layers)


def _cell(layer: int, head: int) -> shapes.Shape:
    return shapes.frame((head + 0.5, head + 1.5), (layer + 0.5, layer + 1.5), FRAME)


def strips(rows: Mapping[str, np.ndarray]) -> Figure:
    """Vectors of one length as rows of colour, orange below and blue above zero, each row on its own scale."""
    return _strips(rows, np.abs(np.stack(list(rows.values()))).max(1, keepdims=True))


def mixture(values: np.ndarray, weights: np.ndarray, texts: Sequence[str], most: int = 4) -> Figure:
    """The heaviest of the weighted values, what the others bring, and their sum, all on one scale: (seq, head_size)."""
    rows = _weighted_values(values, weights, texts, most)
    return _strips(rows, np.abs(np.stack(list(rows.values()))).max())


def _weighted_values(values: np.ndarray, weights: np.ndarray, texts: Sequence[str], max_rows: int) -> dict[str, np.ndarray]:
    """Weight × value of the `max_rows` heaviest tokens, the sum of the others, and the context: (head_size,) each."""
    heaviest = np.argsort(-weights, kind="stable")[:max_rows]
    rows = {
        f"{weights[position]:.2f} × value of {position + 1} · {texts[position]}": weights[position] * values[position]
        for position in heaviest
    }
    rest = np.setdiff1d(np.arange(len(texts)), heaviest)
    if len(rest):
        rows[f"all {len(rest)} others"] = weights[rest] @ values[rest]
    rows["the mix: their sum"] = weights @ values
    return rows


def split(state: np.ndarray, queries: np.ndarray, chosen: int) -> Figure:
    """The state of one token (hidden,) above its queries (heads, head_size) side by side, one head framed."""
    heads, size = queries.shape
    figure = strips({"state": state, "query": queries.ravel()})
    cells = figure["data"][0] | {"xgap": 0}
    layout = {
        "shapes": [shapes.frame((chosen * size + 0.5, (chosen + 1) * size + 0.5), (0.5, 1.5), FRAME)],
        "xaxis": {
            "tickmode": "array",
            "tickvals": [(head + 0.5) * size for head in range(heads)],
            "tickangle": 0,
            "ticktext": [str(head + 1) for head in range(heads)],
            "title": {"text": "head"},
        },
    }
    return {"data": [cells], "layout": theme.merge(figure["layout"], layout)}


def _strips(rows: Mapping[str, np.ndarray], tops: np.ndarray) -> Figure:
    values = np.stack(list(rows.values()))  # (rows, numbers)
    names = [theme.escape(name) for name in rows]
    cells = {
        "type": "heatmap",
        "z": values / np.where(tops > 0, tops, 1),
        "y": list(range(len(rows))),
        "x": list(range(1, values.shape[1] + 1)),
        "zmin": -1,
        "zmax": 1,
        "colorscale": theme.DIVERGING,
        "ygap": 6,
        "xgap": 1,
        "customdata": [
            [[name, f"{value:.3f}"] for value in vector] for name, vector in zip(names, values.tolist(), strict=True)
        ],
        "showscale": False,
        "hovertemplate": "%{customdata[0]}, number %{x}: %{customdata[1]}<extra></extra>",
    }
    layout = {
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(rows))),
            "ticktext": names,
            "autorange": "reversed",
            "tickfont": {"size": 15},
        },
        "margin": {"t": 6},
    }
    return theme.apply({"data": [cells], "layout": layout}, 60 + 44 * len(rows))


def softmax(scores: np.ndarray, weights: np.ndarray, texts: list[str], chosen: int) -> Figure:
    """Above the scores of one token against every key, below what the softmax makes of them."""
    colours = [theme.HIGHLIGHT if position == chosen else theme.ACCENT for position in range(len(texts))]
    bars = [
        {
            "type": "bar",
            "y": values,
            "x": list(range(len(texts))),
            "marker": {"color": colours},
            "showlegend": False,
            "hovertemplate": "%{customdata}: %{y:.3f}<extra></extra>",
            "customdata": [theme.escape(text) for text in texts],
            **subplots.axes(index),
        }
        for index, values in enumerate((scores, weights))
    ]
    # many tokens on a narrow screen have room only side by side
    tokens = theme.token_axis(texts) | {"tickangle": -60 if len(texts) <= 16 else -90}
    titles = ["score: query · key / √size", "weight: softmax of the scores"]
    rows = subplots.layout(2, 1, vertical_spacing=0.1, titles=titles, title_size=15, shared_x=True)
    layout = theme.merge(rows, {"xaxis": tokens, "xaxis2": tokens})
    return theme.apply({"data": bars, "layout": layout}, 430)


def written(lengths: np.ndarray, chosen: int) -> Figure:
    """How long a vector each head of a layer adds to the state of one token: (heads,)."""
    bars = {
        "type": "bar",
        "x": list(range(1, len(lengths) + 1)),
        "y": lengths,
        "marker": {"color": [theme.HIGHLIGHT if head == chosen else theme.ACCENT for head in range(len(lengths))]},
        "hovertemplate": "head %{x}: %{y:.3f}<extra></extra>",
    }
    layout = {"xaxis": {"title": {"text": "head"}, "dtick": 1}, "yaxis": {"title": {"text": "length added"}}}
    return theme.apply({"data": [bars], "layout": layout}, 280)


def head_map(points: np.ndarray, table: pd.DataFrame, colour: str, chosen: tuple[int, int]) -> Figure:
    """Every head as a point, near where attention is alike; coloured by "layer" or "label" of the table."""
    names = table["label"].replace("", "no label") if colour == "label" else table["layer"] + 1
    heads = []
    for index, (name, rows) in enumerate(table.groupby(names, sort=True)):
        heads.append(
            {
                "type": "scatter",
                "x": points[rows.index, 0],
                "y": points[rows.index, 1],
                "mode": "markers",
                "name": theme.escape(f"layer {name}" if colour == "layer" else str(name)),
                "marker": {
                    "size": 13,
                    "color": theme.CATEGORIES[index % len(theme.CATEGORIES)],
                    "symbol": ("circle", "diamond", "square")[index % 3],
                },
                "customdata": [
                    [layer + 1, head + 1, label]
                    for layer, head, label in zip(*(rows[key].tolist() for key in ("layer", "head", "label")), strict=True)
                ],
                "hovertemplate": "layer %{customdata[0]}, head %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
            }
        )
    index = table.index[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])]
    ring = {
        "type": "scatter",
        "x": points[index, 0],
        "y": points[index, 1],
        "mode": "markers",
        "name": "chosen",
        "hoverinfo": "skip",
        "marker": {"size": 22, "color": "rgba(0,0,0,0)", "line": FRAME},
    }
    layout = {
        "xaxis": {"showticklabels": False},
        "yaxis": {"showticklabels": False, "scaleanchor": "x"},
        "legend": {"orientation": "v", "x": 1.02, "y": 1},
    }
    return theme.apply({"data": [*heads, ring], "layout": layout}, 520)


def before_after(table: pd.DataFrame, answer: str) -> Figure:
    """Columns word, before, after -> two bars a word; the answer is marked by an arrow in its name."""
    names = [f"<b>{theme.escape(word)}</b>" if word == answer else theme.escape(word) for word in table["word"]]
    bars = [
        {
            "type": "bar",
            "y": list(range(len(table))),
            "x": table[name].tolist(),
            "orientation": "h",
            "name": name,
            "marker": {"color": colour},
            "text": [f"{probability:.1%}" for probability in table[name]],
            "textposition": "outside",
            "cliponaxis": False,
            "textfont": {"size": 14},
            "customdata": names,
            "hovertemplate": f"%{{customdata}} {name}: %{{x:.2%}}<extra></extra>",
        }
        for name, colour in (("before", theme.MUTED), ("after", theme.ACCENT))
    ]
    layout = {
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(table))),
            "ticktext": names,
            "autorange": "reversed",
            "tickfont": {"size": 16},
        },
        "xaxis": theme.share_axis(float(table[["before", "after"]].to_numpy().max())),
        "barmode": "group",
        "bargap": 0.25,
    }
    return theme.apply({"data": bars, "layout": layout}, 70 + 44 * len(table))


def two_rankings(effects: np.ndarray, gradients: np.ndarray, chosen: tuple[int, int]) -> Figure:
    """Each head by what switching it off costs (x, bits) and by the slope of the loss at its gate (y, bits)."""
    heads = list(np.ndindex(*effects.shape))
    points = {
        "type": "scatter",
        "x": effects.ravel(),
        "y": gradients.ravel(),
        "mode": "markers",
        "marker": {"size": 11, "color": [theme.HIGHLIGHT if head == chosen else theme.ACCENT for head in heads]},
        "customdata": [[layer + 1, head + 1] for layer, head in heads],
        "hovertemplate": "layer %{customdata[0]}, head %{customdata[1]}<br>off: %{x:+.3f} bits<br>"
        "gradient: %{y:.3f} bits<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": "bits lost when switched off"}},
        "yaxis": {"title": {"text": "gradient importance (bits)"}},
    }
    return theme.apply({"data": [points], "layout": layout}, 420)


def pruning(curve: pd.DataFrame, heads: int) -> Figure:
    """Columns gone, greedy, gradient, low, middle, high (of the random orders) -> loss against heads switched off."""
    edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    gone = curve["gone"].tolist()
    traces = [
        edge | {"x": gone, "y": curve["high"].tolist()},
        edge | {"x": gone, "y": curve["low"].tolist(), "fill": "tonexty", "fillcolor": "rgba(134,142,150,0.22)"},
    ]
    for name, column, colour, dash in (
        ("random order (baseline)", "middle", theme.MUTED, "dot"),
        ("by gradient", "gradient", theme.HIGHLIGHT, "solid"),
        ("greedy", "greedy", theme.ACCENT, "solid"),
    ):
        traces.append(
            {
                "type": "scatter",
                "x": gone,
                "y": curve[column].tolist(),
                "mode": "lines+markers",
                "name": name,
                "line": {"color": colour, "width": 3, "dash": dash},
                "marker": {"size": 7},
                "hovertemplate": f"{name}: %{{x}} off, %{{y:.2f}} bits<extra></extra>",
            }
        )
    layout = {
        "xaxis": {"title": {"text": f"heads switched off, of {heads}"}},
        "yaxis": {"title": {"text": "loss on the masked words (bits)"}},
    }
    return theme.apply({"data": traces, "layout": layout}, 430)
