"""The marks of an exam: accuracy, ROC and calibration, the model beside shared words."""

import plotly.graph_objects as go

from app.figures import theme
from probes.nextsentence.metrics import Marks

MODEL, WORDS = "the model", "shared words only"
COLOURS = {MODEL: theme.ACCENT, WORDS: theme.SECOND}
DIAGONAL = {"color": theme.MUTED, "dash": "dot", "width": 1.5}


def accuracies(found: dict[str, tuple[Marks, Marks]]) -> go.Figure:
    """Accuracy with its 95 % interval in each exam, the model and shared words, against one half."""
    figure = go.Figure()
    names = list(found)
    for side, name in enumerate((MODEL, WORDS)):
        marks = [found[kind][side] for kind in names]
        figure.add_bar(
            x=list(range(len(names))), y=[mark.accuracy for mark in marks], name=name, marker_color=COLOURS[name],
            error_y={"type": "data", "symmetric": False, "thickness": 2, "color": theme.MUTED,
                     "array": [mark.interval[1] - mark.accuracy for mark in marks],
                     "arrayminus": [mark.accuracy - mark.interval[0] for mark in marks]},
            text=[f"{mark.accuracy:.0%}" for mark in marks], textposition="inside", insidetextanchor="start", textangle=0,
            textfont={"size": 16, "color": "white"},
            hovertemplate="%{y:.1%}<extra>" + name + "</extra>")
    figure.add_hline(y=0.5, line_dash="dot", line_color=theme.MUTED, annotation_text="guessing",
                     annotation_font_size=14, annotation_position="bottom right")
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(names))), ticktext=names)
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%", title="right answers")
    return theme.finished(figure, 380).update_layout(barmode="group")


def roc(pair: tuple[Marks, Marks]) -> go.Figure:
    """True pairs accepted against false pairs accepted, at every threshold."""
    figure = _square()
    for name, marks in zip((MODEL, WORDS), pair, strict=True):
        figure.add_scatter(x=marks.false_positive, y=marks.true_positive, mode="lines",
                           name=f"{name}, area {marks.area:.2f}", line={"color": COLOURS[name], "width": 3},
                           hovertemplate="false accepted %{x:.0%}, true accepted %{y:.0%}<extra></extra>")
    figure.update_xaxes(title="false pairs accepted")
    figure.update_yaxes(title="true pairs accepted")
    return figure


def calibration(pair: tuple[Marks, Marks]) -> go.Figure:
    """How often a pair is true against how probable it was called, in ten ranges."""
    figure = _square()
    for name, marks in zip((MODEL, WORDS), pair, strict=True):
        bins = marks.bins
        figure.add_scatter(
            x=bins.said, y=bins.true, mode="lines+markers", name=f"{name}, error {marks.error:.2f}",
            line={"color": COLOURS[name], "width": 3}, marker={"size": 9}, customdata=bins.count,
            error_y={"type": "data", "symmetric": False, "array": bins.high - bins.true,
                     "arrayminus": bins.true - bins.low, "thickness": 1.2},
            hovertemplate="said %{x:.0%}, true %{y:.0%} of %{customdata} pairs<extra></extra>")
    figure.update_xaxes(title="P(IsNext) said")
    figure.update_yaxes(title="truly next")
    return figure


def _square() -> go.Figure:
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=DIAGONAL, showlegend=False, hoverinfo="skip"))
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
    figure.update_yaxes(range=[-0.02, 1.02], tickformat=".0%")
    return theme.finished(figure, 430).update_layout(legend={"orientation": "v", "y": 1.22})
