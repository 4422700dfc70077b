"""What a probing experiment found, drawn: never a score without its baselines."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from app.figures import theme
from probes.probing.apply import Labelled
from probes.probing.results import SCORE, Mixture, Result, table

RGBA, SEEDS = "rgba(16,152,173,0.18)", "rgba(240,140,0,0.35)"
RANDOM = "random weights (random-init)"
LABELS_DRAWN = 24  # classes a confusion matrix shows, the most frequent first


def layer_name(layer: int) -> str:
    """Layer 0 is what goes into the first layer."""
    return "embed." if layer == 0 else str(layer)


def curve(result: Result) -> go.Figure:
    """The score by layer, its interval over test examples and its range over seeds, and every baseline."""
    rows, score, seeds = table(result), SCORE[result.kind], result.settings["seeds"]
    figure, x = go.Figure(), rows["layer"].tolist()
    bands = [("low", "high", RGBA, "95 % interval over test examples")]
    if seeds > 1:
        bands.append(("seed_low", "seed_high", SEEDS, f"range over {seeds} seeds"))
    for low, high, colour, name in bands:
        figure.add_scatter(x=x + x[::-1], y=[*rows[high], *rows[low][::-1]], fill="toself", fillcolor=colour,
                           mode="lines", line={"width": 0}, hoverinfo="skip", name=name)
    lines = [(score, "this model", theme.ACCENT, "solid", 4), ("twin", RANDOM, theme.CATEGORIES[4], "dash", 3)]
    if result.kind == "labels":
        lines += [("control", "control task", theme.CATEGORIES[2], "dot", 3),
                  ("word_type", "word alone", theme.CATEGORIES[3], "dashdot", 2),
                  ("majority", "most frequent label", theme.MUTED, "dash", 2)]
    else:
        lines += [("chain", "each word with the next", theme.MUTED, "dash", 2)]
    for column, name, colour, dash, width in lines:
        figure.add_scatter(x=x, y=rows[column], name=name, mode="lines+markers" if width > 2 else "lines",
                           line={"color": colour, "dash": dash, "width": width}, marker={"size": 8},
                           hovertemplate=f"{name}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>")
    return _by_layer(figure, x, "edges found" if result.kind == "tree" else "accuracy")


def compared(results: Sequence[Result]) -> go.Figure:
    """Several results in one picture: solid each model, dotted its random-init copy."""
    figure, layers = go.Figure(), set()
    for number, result in enumerate(results):
        rows, colour = table(result), theme.CATEGORIES[number % len(theme.CATEGORIES)]
        layers |= set(rows["layer"].tolist())
        name = theme.shown(result.name)
        figure.add_scatter(x=rows["layer"], y=rows[SCORE[result.kind]], name=name, mode="lines+markers",
                           error_y={"type": "data", "array": rows["high"] - rows[SCORE[result.kind]], "thickness": 1,
                                    "arrayminus": rows[SCORE[result.kind]] - rows["low"]},
                           line={"color": colour, "width": 4}, marker={"size": 8},
                           hovertemplate=f"{name}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>")
        figure.add_scatter(x=rows["layer"], y=rows["twin"], mode="lines", showlegend=False,
                           line={"color": colour, "width": 2, "dash": "dot"},
                           hovertemplate=f"{name}, {RANDOM}<br>layer %{{x}}: %{{y:.1%}}<extra></extra>")
    return _by_layer(figure, sorted(layers), "score on test")


def selectivity(result: Result) -> go.Figure:
    """Accuracy minus accuracy on the control task: what the layer gives beyond memorising words."""
    rows = table(result)
    figure = go.Figure(go.Bar(x=rows["layer"], y=rows["selectivity"], marker={"color": theme.ACCENT},
                              text=[f"{value:.2f}" for value in rows["selectivity"]], textposition="outside",
                              cliponaxis=False, hovertemplate="layer %{x}: %{y:.3f}<extra></extra>"))
    figure.add_hline(y=0, line={"color": theme.MUTED, "dash": "dash"})
    made = _by_layer(figure, rows["layer"].tolist(), "selectivity", 320)
    made.update_yaxes(tickformat=".2f", nticks=5, range=[min(0.0, rows["selectivity"].min()) - 0.02,
                                               max(0.1, rows["selectivity"].max()) * 1.2])
    return made


def correlations(result: Result) -> go.Figure:
    """Root found, and rank correlation of distances and depths, by layer."""
    rows, figure = table(result), go.Figure()
    for number, (column, name) in enumerate((("root", "root found"), ("distance", "distances, Spearman"),
                                             ("depth", "depths, Spearman"))):
        figure.add_scatter(x=rows["layer"], y=rows[column], name=name, mode="lines+markers",
                           line={"color": theme.CATEGORIES[number + 2], "width": 3}, marker={"size": 8})
    made = _by_layer(figure, rows["layer"].tolist(), "score", 320)
    made.update_yaxes(tickformat=".1f")
    return made


def code_lengths(result: Result) -> go.Figure:
    """Bits an example takes, with the states of each layer, against a code that knows nothing."""
    rows, figure, count = table(result), go.Figure(), result.sizes["train"]
    for column, name, colour in (("bits", "the task", theme.ACCENT), ("control_bits", "control task", theme.CATEGORIES[2])):
        figure.add_scatter(x=rows["layer"], y=rows[column] / count, name=name, mode="lines+markers",
                           line={"color": colour, "width": 3}, marker={"size": 8})
    figure.add_scatter(x=rows["layer"], y=rows["uniform_bits"] / count, name="knowing nothing", mode="lines",
                       line={"color": theme.MUTED, "dash": "dash"})
    made = _by_layer(figure, rows["layer"].tolist(), "bits an example", 320)
    made.update_yaxes(tickformat=".1f", rangemode="tozero")
    return made


def mixed(mix: Mixture) -> go.Figure:
    """The weight of each layer in the mix, its centre of gravity with its interval, and the equal share by chance."""
    figure = go.Figure(go.Bar(x=mix.layers, y=mix.weights, marker={"color": theme.ACCENT},
                              hovertemplate="layer %{x}: %{y:.1%}<extra></extra>"))
    figure.add_hline(y=1 / len(mix.layers), line={"color": theme.MUTED, "dash": "dash"})
    figure.add_vrect(x0=mix.low, x1=mix.high, fillcolor=SEEDS, line={"width": 0}, layer="below")
    figure.add_vline(x=mix.centre, line={"color": theme.SECOND, "width": 3})
    return _by_layer(figure, mix.layers, "weight in the mix", 320)


def confusion(counted: Sequence[Sequence[int]], classes: Sequence[str]) -> go.Figure:
    """Which label was taken for which, (true, said): a row for each true label, as shares of the row."""
    counts = np.array(counted)
    kept = np.argsort(-counts.sum(1), kind="stable")[:LABELS_DRAWN]
    names = [theme.shown(classes[index]) for index in kept]
    shares = counts[np.ix_(kept, kept)] / counts[kept].sum(1, keepdims=True).clip(1)
    figure = go.Figure(go.Heatmap(
        z=shares, colorscale=theme.SEQUENTIAL, zmin=0, zmax=1, showscale=False, xgap=1, ygap=1,
        customdata=counts[np.ix_(kept, kept)], text=[[f"{true} taken for {said}" for said in names] for true in names],
        hovertemplate="%{text}<br>%{customdata} times, %{z:.0%}<extra></extra>"))
    places = list(range(len(names)))
    figure.update_xaxes(tickvals=places, ticktext=names, tickangle=-90, title="said")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed", title="true")
    return theme.finished(figure, max(320, 26 * len(names) + 120))


def live(said: Labelled) -> go.Figure:
    """Words by layers, a colour a label, as strong as the probe is sure."""
    ordered = sorted({label for row in said.labels for label in row})
    figure = go.Figure()
    for row in range(len(said.layers)):
        for column in range(len(said.units)):
            label, sure = said.labels[row][column], float(said.sure[row, column])
            # hues a golden angle apart stay distinct however many labels there are
            colour = f"hsl({ordered.index(label) * 137.5 % 360:.0f},70%,50%)"
            figure.add_shape(type="rect", x0=row - 0.48, x1=row + 0.48, y0=column - 0.46, y1=column + 0.46,
                             line={"width": 0}, fillcolor=colour, opacity=0.12 + 0.5 * sure, layer="below")
    figure.add_scatter(
        x=[row for row in range(len(said.layers)) for _ in said.units],
        y=[column for _ in said.layers for column in range(len(said.units))],
        text=[theme.shown(label) for row in said.labels for label in row], mode="text", textfont={"size": 14},
        customdata=said.sure.ravel(), hovertemplate="%{text}: %{customdata:.0%}<extra></extra>", showlegend=False)
    figure.update_xaxes(tickvals=list(range(len(said.layers))), ticktext=[layer_name(one) for one in said.layers],
                        side="top", title="layer", range=[-0.5, len(said.layers) - 0.5])
    figure.update_yaxes(tickvals=list(range(len(said.units))), ticktext=[theme.shown(unit) for unit in said.units],
                        range=[len(said.units) - 0.5, -0.5])
    return theme.finished(figure, 34 * len(said.units) + 110)


def _by_layer(figure: go.Figure, layers: Sequence[int], title: str, height: int = 420) -> go.Figure:
    figure.update_xaxes(title="layer", tickvals=list(layers), ticktext=[layer_name(one) for one in layers])
    figure.update_yaxes(title=title, tickformat=".0%", showgrid=True, gridcolor="rgba(134,142,150,0.25)")
    made = theme.finished(figure, height)
    made.update_yaxes(showgrid=True)
    # below the picture: five names above it would cover it on a phone
    made.update_layout(legend={"orientation": "h", "y": -92 / height, "x": 0, "yanchor": "top", "font": {"size": 14}})
    return made
