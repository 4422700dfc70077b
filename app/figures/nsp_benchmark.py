"""The metrics of a benchmark: accuracy, ROC and calibration, the model beside shared words (lexical overlap)."""

from app.figures import shapes, theme
from app.figures.theme import Figure
from probes.nextsentence.metrics import BinaryMetrics

MODEL, WORDS = "the model", "shared words only"
COLOURS = {MODEL: theme.ACCENT, WORDS: theme.HIGHLIGHT}
DIAGONAL = {"color": theme.MUTED, "dash": "dot", "width": 1.5}


def accuracies(benchmarks: dict[str, tuple[BinaryMetrics, BinaryMetrics]]) -> Figure:
    """Accuracy with its 95 % interval in each benchmark, the model and shared words, against one half."""
    names = list(benchmarks)
    bars = []
    for side, name in enumerate((MODEL, WORDS)):
        metrics = [benchmarks[kind][side] for kind in names]
        bars.append(
            {
                "type": "bar",
                "x": list(range(len(names))),
                "y": [metric.accuracy for metric in metrics],
                "name": name,
                "marker": {"color": COLOURS[name]},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "thickness": 2,
                    "color": theme.MUTED,
                    "array": [metric.interval[1] - metric.accuracy for metric in metrics],
                    "arrayminus": [metric.accuracy - metric.interval[0] for metric in metrics],
                },
                "text": [f"{metric.accuracy:.0%}" for metric in metrics],
                "textposition": "inside",
                "insidetextanchor": "start",
                "textangle": 0,
                "textfont": {"size": 16, "color": "white"},
                "hovertemplate": "%{y:.1%}<extra>" + name + "</extra>",
            }
        )
    guessing = {
        "text": "guessing",
        "x": 1,
        "xref": "x domain",
        "xanchor": "right",
        "y": 0.5,
        "yref": "y",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 14},
    }
    layout = {
        "shapes": [shapes.horizontal_line(0.5, {"dash": "dot", "color": theme.MUTED})],
        "annotations": [guessing],
        "xaxis": {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names},
        "yaxis": {"range": [0, 1.02], "tickformat": ".0%", "title": {"text": "right answers"}},
        "barmode": "group",
    }
    return theme.apply({"data": bars, "layout": layout}, 380)


def roc(pair: tuple[BinaryMetrics, BinaryMetrics]) -> Figure:
    """True pairs accepted against false pairs accepted, at every threshold."""
    curves = [
        {
            "type": "scatter",
            "x": metrics.false_positive,
            "y": metrics.true_positive,
            "mode": "lines",
            "name": f"{name}, area {metrics.auc:.2f}",
            "line": {"color": COLOURS[name], "width": 3},
            "hovertemplate": "false accepted %{x:.0%}, true accepted %{y:.0%}<extra></extra>",
        }
        for name, metrics in zip((MODEL, WORDS), pair, strict=True)
    ]
    return _square(curves, "false pairs accepted", "true pairs accepted")


def calibration(pair: tuple[BinaryMetrics, BinaryMetrics]) -> Figure:
    """How often a pair is true against how probable it was called, in ten ranges."""
    curves = [
        {
            "type": "scatter",
            "x": metrics.bins.predicted,
            "y": metrics.bins.observed,
            "mode": "lines+markers",
            "name": f"{name}, error {metrics.expected_calibration_error:.2f}",
            "line": {"color": COLOURS[name], "width": 3},
            "marker": {"size": 9},
            "customdata": metrics.bins.count,
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": metrics.bins.high - metrics.bins.observed,
                "arrayminus": metrics.bins.observed - metrics.bins.low,
                "thickness": 1.2,
            },
            "hovertemplate": "predicted %{x:.0%}, true %{y:.0%} of %{customdata} pairs<extra></extra>",
        }
        for name, metrics in zip((MODEL, WORDS), pair, strict=True)
    ]
    return _square(curves, "predicted P(IsNext)", "truly next")


def _square(curves: list[Figure], x_title: str, y_title: str) -> Figure:
    """Curves from 0 to 1 both ways, with the diagonal."""
    diagonal = {
        "type": "scatter",
        "x": [0, 1],
        "y": [0, 1],
        "mode": "lines",
        "line": DIAGONAL,
        "showlegend": False,
        "hoverinfo": "skip",
    }
    axis = {"range": [-0.02, 1.02], "tickformat": ".0%"}
    layout = {
        "xaxis": axis | {"title": {"text": x_title}},
        "yaxis": axis | {"title": {"text": y_title}},
        "legend": {"orientation": "v", "y": 1.22},
    }
    return theme.apply({"data": [diagonal, *curves], "layout": layout}, 430)
