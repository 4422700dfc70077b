"""A document's pairs as a matrix, and its sentences put in order."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from app.figures import theme
from probes.nextsentence import sentence_order


def matrix(probability: np.ndarray, sentences: Sequence[str]) -> go.Figure:
    """P(j follows i), rows the first sentence, columns the second; the true next pairs are framed."""
    count = len(probability)
    numbers = list(range(1, count + 1))
    short = [theme.shown(sentence if len(sentence) < 60 else sentence[:57] + "…") for sentence in sentences]
    said = [[f"{i + 1}. {short[i]}<br>then {j + 1}. {short[j]}" for j in range(count)] for i in range(count)]
    figure = go.Figure(go.Heatmap(
        z=probability, x=numbers, y=numbers, colorscale=theme.SEQUENTIAL, zmin=0, zmax=1, xgap=1, ygap=1,
        customdata=said, hovertemplate="%{customdata}<br>P(IsNext) %{z:.3f}<extra></extra>", hoverongaps=False,
        colorbar={"title": {"text": "P(IsNext)", "side": "top"}, "thickness": 12, "orientation": "h", "len": 0.6, "y": 1.01,
                  "yanchor": "bottom"}))
    for place in range(1, count):
        figure.add_shape(type="rect", x0=place + 0.5, x1=place + 1.5, y0=place - 0.5, y1=place + 0.5,
                         line={"color": theme.SECOND, "width": 2 if count <= 30 else 1})
    step = 1 if count <= 20 else 5
    figure.update_xaxes(title="… is followed by sentence", dtick=step, tick0=step, constrain="domain", side="bottom")
    figure.update_yaxes(title="Sentence …", dtick=step, tick0=step, autorange="reversed", scaleanchor="x",
                        constrain="domain")
    return theme.finished(figure, min(720, 280 + 44 * count))


def agreement(found: dict[str, float], count: int) -> go.Figure:
    """Kendall's τ of each way to recover the order, beside the spread of random orders."""
    names = list(found)
    values, ways = sentence_order.chance(count)
    width = sentence_order.chance_band(count)
    figure = go.Figure()
    figure.add_vrect(x0=-width, x1=width, fillcolor=theme.MUTED, opacity=0.25, line_width=0)
    figure.add_annotation(x=0, y=-0.75, text="95 % of random orders", showarrow=False, font={"size": 14})
    figure.add_scatter(x=[found[name] for name in names], y=list(range(len(names))), mode="markers+text",
                       text=[f"{found[name]:+.2f}" for name in names], textposition="top center", cliponaxis=False,
                       marker={"size": 16, "color": [*[theme.ACCENT] * (len(names) - 1), theme.SECOND]},
                       customdata=names, hovertemplate="%{customdata}: τ = %{x:.3f}<extra></extra>")
    figure.add_vline(x=float(values @ ways), line_color=theme.MUTED, line_width=1.5, line_dash="dot")
    figure.update_xaxes(range=[-1.06, 1.06], title="Kendall's τ")
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(names))), ticktext=names,
                        range=[len(names) - 0.4, -1.1])
    return theme.finished(figure, 130 + 58 * len(names)).update_layout(showlegend=False)
