"""Results of a probing experiment: never a score without its baselines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.figures import shapes, theme
from app.figures.theme import Figure
from probes.probing.apply import ProbePredictions
from probes.probing.results import SCORE, LayerMixture, ProbingResult, table

INTERVAL, SEEDS = "rgba(16,152,173,0.18)", "rgba(240,140,0,0.35)"
RANDOM = "random weights (random-init)"
LABELS_DRAWN = 24  # classes a confusion matrix shows, the most frequent first


def layer_name(layer: int) -> str:
    """Layer 0 is what goes into the first layer."""
    return "embed." if layer == 0 else str(layer)


def curve(result: ProbingResult) -> Figure:
    """The score by layer, its interval over test examples and its range over seeds, and every baseline."""
    rows, score, seeds = table(result), SCORE[result.kind], result.settings["seeds"]
    layers = rows["layer"].tolist()
    bands = [("low", "high", INTERVAL, "95 % interval over test examples")]
    if seeds > 1:
        bands.append(("seed_low", "seed_high", SEEDS, f"range over {seeds} seeds"))
    traces = [
        {
            "type": "scatter",
            "x": layers + layers[::-1],
            "y": rows[high].tolist() + rows[low].tolist()[::-1],
            "fill": "toself",
            "fillcolor": colour,
            "mode": "lines",
            "line": {"width": 0},
            "hoverinfo": "skip",
            "name": name,
        }
        for low, high, colour, name in bands
    ]
    lines = [(score, "this model", theme.ACCENT, "solid", 4), ("random_init", RANDOM, theme.CATEGORIES[4], "dash", 3)]
    if result.kind == "labels":
        lines += [
            ("control", "control task", theme.CATEGORIES[2], "dot", 3),
            ("word_type", "word alone", theme.CATEGORIES[3], "dashdot", 2),
            ("majority", "most frequent label", theme.MUTED, "dash", 2),
        ]
    else:
        lines += [("chain", "each word with the next", theme.MUTED, "dash", 2)]
    for column, name, colour, dash, width in lines:
        line = _line(rows, column, name, {"color": colour, "dash": dash, "width": width})
        traces.append(
            line
            | {
                "mode": "lines+markers" if width > 2 else "lines",
                "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>",
            }
        )
    return _by_layer(traces, layers, "edges recovered" if result.kind == "tree" else "accuracy")


def compared(results: Sequence[ProbingResult]) -> Figure:
    """Several results in one picture: solid each model, dotted its random-init copy."""
    traces, layers = [], set()
    for index, result in enumerate(results):
        rows, colour = table(result), theme.CATEGORIES[index % len(theme.CATEGORIES)]
        layers |= set(rows["layer"].tolist())
        name, score = theme.escape(result.name), rows[SCORE[result.kind]]
        line = _line(rows, SCORE[result.kind], name, {"color": colour, "width": 4})
        traces.append(
            line
            | {
                "error_y": {
                    "type": "data",
                    "array": (rows["high"] - score).tolist(),
                    "thickness": 1,
                    "arrayminus": (score - rows["low"]).tolist(),
                },
                "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>",
            }
        )
        traces.append(
            {
                "type": "scatter",
                "x": rows["layer"].tolist(),
                "y": rows["random_init"].tolist(),
                "mode": "lines",
                "showlegend": False,
                "line": {"color": colour, "width": 2, "dash": "dot"},
                "hovertemplate": f"{name}, {RANDOM}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>",
            }
        )
    return _by_layer(traces, sorted(layers), "score on test")


def selectivity(result: ProbingResult) -> Figure:
    """Accuracy minus accuracy on the control task: what the layer gives beyond memorising words."""
    rows = table(result)
    values = rows["selectivity"]
    bars = {
        "type": "bar",
        "x": rows["layer"].tolist(),
        "y": values.tolist(),
        "marker": {"color": theme.ACCENT},
        "text": [f"{value:.2f}" for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "layer %{x}: %{y:.3f}<extra></extra>",
    }
    layout = {
        "shapes": [shapes.horizontal_line(0, {"color": theme.MUTED, "dash": "dash"})],
        "yaxis": {
            "tickformat": ".2f",
            "nticks": 5,
            "range": [min(0.0, float(values.min())) - 0.02, max(0.1, float(values.max())) * 1.2],
        },
    }
    return _by_layer([bars], rows["layer"].tolist(), "selectivity", 320, layout)


def correlations(result: ProbingResult) -> Figure:
    """Accuracy of the root, and rank correlation of distances and depths, by layer."""
    rows = table(result)
    columns = (("root", "root accuracy"), ("distance", "distances, Spearman"), ("depth", "depths, Spearman"))
    lines = [
        _line(rows, column, name, {"color": theme.CATEGORIES[index + 2], "width": 3})
        for index, (column, name) in enumerate(columns)
    ]
    return _by_layer(lines, rows["layer"].tolist(), "score", 320, {"yaxis": {"tickformat": ".1f"}})


def code_lengths(result: ProbingResult) -> Figure:
    """Bits an example takes, with the states of each layer, against a code that knows nothing."""
    rows, count = table(result), result.sizes["train"]
    rows = rows.assign(
        **{column: rows[column] / count for column in ("code_length", "control_code_length", "uniform_code_length")}
    )
    lines = [
        _line(rows, "code_length", "the task", {"color": theme.ACCENT, "width": 3}),
        _line(rows, "control_code_length", "control task", {"color": theme.CATEGORIES[2], "width": 3}),
        {
            "type": "scatter",
            "x": rows["layer"].tolist(),
            "y": rows["uniform_code_length"].tolist(),
            "name": "knowing nothing",
            "mode": "lines",
            "line": {"color": theme.MUTED, "dash": "dash"},
        },
    ]
    axis = {"tickformat": ".1f", "rangemode": "tozero"}
    return _by_layer(lines, rows["layer"].tolist(), "bits an example", 320, {"yaxis": axis})


def mixed(mix: LayerMixture) -> Figure:
    """The weight of each layer in the mix, its centre of gravity with its interval, and the equal share by chance."""
    bars = {
        "type": "bar",
        "x": list(mix.layers),
        "y": list(mix.weights),
        "marker": {"color": theme.ACCENT},
        "hovertemplate": "layer %{x}: %{y:.1%}<extra></extra>",
    }
    marks = [
        shapes.horizontal_line(1 / len(mix.layers), {"color": theme.MUTED, "dash": "dash"}),
        shapes.band(mix.low, mix.high, {"fillcolor": SEEDS, "layer": "below"}),
        shapes.vertical_line(mix.center_of_gravity, {"color": theme.HIGHLIGHT, "width": 3}),
    ]
    return _by_layer([bars], mix.layers, "weight in the mix", 320, {"shapes": marks})


def centres(rows: pd.DataFrame) -> Figure:
    """A line a task: the centre of gravity of its mix with its interval, the expected layer, and the best single layer."""
    names = [theme.escape(task) for task in rows["task"]]
    centre = {
        "type": "scatter",
        "x": rows["center"].tolist(),
        "y": names,
        "mode": "markers",
        "name": "centre of gravity",
        "marker": {"size": 13, "color": theme.ACCENT},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": (rows["high"] - rows["center"]).tolist(),
            "arrayminus": (rows["center"] - rows["low"]).tolist(),
            "color": theme.ACCENT,
            "thickness": 2,
        },
        "hovertemplate": "%{y}: %{x:.2f}<extra>centre of gravity</extra>",
    }
    defined = rows[rows["expected"].notna()]
    others = [
        (
            defined["expected"],
            defined["task"],
            "expected layer",
            {"symbol": "diamond", "color": theme.HIGHLIGHT, "size": 10},
        ),
        (
            rows["layer"],
            rows["task"],
            "best single layer",
            {"symbol": "circle-open", "color": theme.CATEGORIES[2], "size": 12, "line": {"width": 2}},
        ),
    ]
    traces = [centre] + [
        {
            "type": "scatter",
            "x": layers.tolist(),
            "y": [theme.escape(task) for task in tasks],
            "mode": "markers",
            "name": name,
            "marker": marker,
            "hovertemplate": f"%{{y}}: %{{x:.2f}}<extra>{name}</extra>",
        }
        for layers, tasks, name, marker in others
    ]
    last = max(int(rows["layer"].max()), int(np.ceil(rows["high"].max())))
    layout = {
        "xaxis": {
            "title": {"text": "layer"},
            "range": [-0.3, last + 0.3],
            "tickvals": list(range(last + 1)),
            "ticktext": [layer_name(layer) for layer in range(last + 1)],
            "showgrid": True,
            "gridcolor": theme.GRID,
        },
        "yaxis": {"autorange": "reversed", "type": "category", "categoryarray": names, "categoryorder": "array"},
        "legend": {"y": -0.16, "yanchor": "top"},
    }
    return theme.apply({"data": traces, "layout": layout}, 34 * len(rows) + 130)


def confusion(counted: Sequence[Sequence[int]], classes: Sequence[str]) -> Figure:
    """Which label was predicted for which, (true, predicted): a row for each true label, as shares of the row."""
    counts, fractions, frequent = _most_frequent(np.array(counted))
    names = [theme.escape(classes[int(index)]) for index in frequent]
    cells = {
        "type": "heatmap",
        "z": fractions,
        "colorscale": theme.SEQUENTIAL,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "customdata": counts,
        "text": [[f"{true} taken for {predicted}" for predicted in names] for true in names],
        "hovertemplate": "%{text}<br>%{customdata} times, %{z:.0%}<extra></extra>",
    }
    ticks = {"tickvals": list(range(len(names))), "ticktext": names}
    layout = {
        "xaxis": ticks | {"tickangle": -90, "title": {"text": "predicted"}},
        "yaxis": ticks | {"autorange": "reversed", "title": {"text": "true"}},
    }
    return theme.apply({"data": [cells], "layout": layout}, max(320, 26 * len(names) + 120))


def _most_frequent(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts and shares of their row among the most frequent true labels, and these labels: (true, predicted), (labels,)."""
    frequent = np.argsort(-counts.sum(1), kind="stable")[:LABELS_DRAWN]
    square = counts[np.ix_(frequent, frequent)]
    return square, square / counts[frequent].sum(1, keepdims=True).clip(1), frequent


def live(predictions: ProbePredictions) -> Figure:
    """Words by layers, a colour a label, as strong as the probe is sure."""
    layers, units = predictions.layers, predictions.units
    classes = sorted({label for row in predictions.labels for label in row})
    # hues a golden angle apart stay distinct however many labels there are
    colours = {label: f"hsl({index * 137.5 % 360:.0f},70%,50%)" for index, label in enumerate(classes)}
    cells = [(column, row) for column in range(len(layers)) for row in range(len(units))]
    fields = [
        {
            "type": "rect",
            "x0": column - 0.48,
            "x1": column + 0.48,
            "y0": row - 0.46,
            "y1": row + 0.46,
            "line": {"width": 0},
            "fillcolor": colours[predictions.labels[column][row]],
            "opacity": 0.12 + 0.5 * float(predictions.confidence[column, row]),
            "layer": "below",
        }
        for column, row in cells
    ]
    labels = {
        "type": "scatter",
        "x": [column for column, _ in cells],
        "y": [row for _, row in cells],
        "text": [theme.escape(predictions.labels[column][row]) for column, row in cells],
        "mode": "text",
        "textfont": {"size": 14},
        "customdata": predictions.confidence.ravel(),
        "hovertemplate": "%{text}: %{customdata:.0%}<extra></extra>",
        "showlegend": False,
    }
    layout = {
        "shapes": fields,
        "xaxis": {
            "tickvals": list(range(len(layers))),
            "ticktext": [layer_name(layer) for layer in layers],
            "side": "top",
            "title": {"text": "layer"},
            "range": [-0.5, len(layers) - 0.5],
        },
        "yaxis": {
            "tickvals": list(range(len(units))),
            "ticktext": [theme.escape(unit) for unit in units],
            "range": [len(units) - 0.5, -0.5],
        },
    }
    return theme.apply({"data": [labels], "layout": layout}, 34 * len(units) + 110)


def _line(rows: pd.DataFrame, column: str, name: str, line: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": rows["layer"].tolist(),
        "y": rows[column].tolist(),
        "name": name,
        "mode": "lines+markers",
        "line": line,
        "marker": {"size": 8},
    }


def _by_layer(
    traces: list[dict[str, Any]],
    layers: Sequence[int],
    title: str,
    height: int = 420,
    layout: dict[str, Any] | None = None,
) -> Figure:
    """Traces over layers, with a title for their values; `layout` is what this figure says besides."""
    axes = {
        "xaxis": {
            "title": {"text": "layer"},
            "tickvals": list(layers),
            "ticktext": [layer_name(layer) for layer in layers],
        },
        "yaxis": {"title": {"text": title}, "tickformat": ".0%", "showgrid": True, "gridcolor": theme.GRID},
        # below the picture: five names above it would cover it on a phone
        "legend": {"y": -92 / height, "yanchor": "top"},
    }
    return theme.apply({"data": traces, "layout": theme.merge(axes, layout or {})}, height)
