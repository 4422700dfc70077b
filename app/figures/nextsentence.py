"""What the next-sentence head says about a pair, and where it comes from."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from app.figures import theme
from model import Token
from probes.nextsentence import IS_NEXT, NOT_NEXT, Judgement
from probes.nextsentence.evidence import PARTS, Evidence
from probes.nextsentence.perturbations import Outcome

HALF = {"line_dash": "dot", "line_color": theme.MUTED, "line_width": 1.5}


def answer(judgement: Judgement) -> go.Figure:
    """One bar shared by the two answers, each with its name."""
    figure = go.Figure()
    shares = ((IS_NEXT, judgement.is_next, theme.ACCENT), (NOT_NEXT, judgement.not_next, theme.SECOND))
    for name, share, colour in shares:
        figure.add_bar(x=[share], y=[""], orientation="h", name=f"{name} {share:.1%}", marker_color=colour,
                       hovertemplate=f"{name}: {share:.4f}<extra></extra>")
    figure.add_vline(x=0.5, **HALF)
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(range=[-0.01, 1.01], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure = theme.finished(figure, 150)
    return figure.update_layout(legend={"font": {"size": 18}, "y": 1.45}, margin={"t": 50})


def outcomes(found: Sequence[Outcome]) -> go.Figure:
    """A row a control: the mean of P(IsNext) as a dot, every reading behind it, the pair itself as a line."""
    figure = go.Figure()
    drawn = [outcome for outcome in found if len(outcome.probabilities)]
    for row, outcome in enumerate(drawn):
        figure.add_scatter(x=outcome.probabilities, y=[row] * len(outcome.probabilities), mode="markers",
                           marker={"size": 10, "color": theme.MUTED, "symbol": "line-ns-open", "line": {"width": 2}},
                           hovertemplate="%{x:.3f}<extra></extra>")
    figure.add_scatter(x=[outcome.mean for outcome in drawn], y=list(range(len(drawn))), mode="markers+text",
                       text=[f"{outcome.mean:.2f}" for outcome in drawn], textposition="bottom center",
                       textfont={"size": 14}, cliponaxis=False,
                       marker={"size": 15, "color": [theme.SECOND, *[theme.ACCENT] * (len(drawn) - 1)]},
                       customdata=[outcome.control.title for outcome in drawn],
                       hovertemplate="%{customdata}: %{x:.3f}<extra></extra>")
    figure.add_vline(x=drawn[0].mean, line_color=theme.SECOND, line_width=1.5)
    figure.add_vline(x=0.5, **HALF)
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(drawn))), range=[len(drawn) - 0.3, -0.6],
                        ticktext=[outcome.control.title for outcome in drawn])
    figure.update_xaxes(range=[-0.03, 1.03], title="P(IsNext)", tickvals=[0, 0.25, 0.5, 0.75, 1], side="bottom")
    return theme.finished(figure, 70 + 48 * len(drawn)).update_layout(showlegend=False)


def tokens(evidence: Evidence) -> str:
    """Tokens -> HTML, a chip each with how much the margin falls without it: blue speaks for IsNext, orange against."""
    reach = max(1e-6, float(np.nanmax(np.abs(evidence.occlusion))))
    return f'<div class="chips">{"".join(_chip(token, evidence, reach) for token in evidence.encoding.tokens)}</div>'


def _chip(token: Token, evidence: Evidence, reach: float) -> str:
    if token.special:
        return f'<span class="chip special"><b>{escape(token.text)}</b><small>&nbsp;</small></span>'
    fall = evidence.occlusion[token.position]
    colour, share = (theme.ACCENT if fall > 0 else theme.SECOND), 85 * abs(fall) / reach
    kinds = "chip continues" if token.continues else "chip"
    return (f'<span class="{kinds}" style="background: color-mix(in srgb, {colour} {share:.0f}%, transparent)">'
            f'<b>{escape(token.text)}</b><small>{fall:+.2f}</small></span>')


def looks(evidence: Evidence) -> go.Figure:
    """A bar a layer, shared out among the parts of the input that [CLS] looks at; the last bar is an even look."""
    rows = np.vstack([evidence.attention, evidence.uniform])
    names = [f"layer {layer + 1}" for layer in range(len(evidence.attention))] + ["even look"]
    figure = go.Figure()
    colours = ("#868e96", theme.ACCENT, "#7048e8", theme.SECOND)
    for part, (name, colour) in enumerate(zip(PARTS, colours, strict=True)):
        figure.add_bar(x=rows[:, part], y=list(range(len(rows))), orientation="h", name=name, marker_color=colour,
                       customdata=names, hovertemplate=f"%{{customdata}} to {name}: %{{x:.1%}}<extra></extra>")
    figure.add_hline(y=len(rows) - 1.5, **HALF)
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(rows))), ticktext=names, autorange="reversed")
    return theme.finished(figure, 110 + 30 * len(rows))


def heads(evidence: Evidence) -> go.Figure:
    """P(IsNext) with each head off, coloured by how far that is from nothing off."""
    whole = evidence.layers[-1]
    change = evidence.heads - whole
    reach = max(0.05, float(np.abs(change).max()))
    layers, count = change.shape
    figure = go.Figure(go.Heatmap(
        z=change, x=list(range(1, count + 1)), y=list(range(1, layers + 1)), colorscale=theme.DIVERGING, zmid=0,
        zmin=-reach, zmax=reach, xgap=2, ygap=2, customdata=evidence.heads,
        hovertemplate="layer %{y}, head %{x} off: %{customdata:.3f} (%{z:+.3f})<extra></extra>",
        colorbar={"title": {"text": "change", "side": "top"}, "tickformat": "+.2f", "thickness": 14}))
    figure.update_xaxes(title="head", dtick=1 if count <= 12 else 2)
    figure.update_yaxes(title="layer", dtick=1 if layers <= 12 else 2, autorange="reversed")
    return theme.finished(figure, 130 + 34 * layers)


def layers(evidence: Evidence) -> go.Figure:
    """P(IsNext) read by the same head from [CLS] after every layer."""
    count = len(evidence.layers)
    figure = go.Figure(go.Scatter(
        x=list(range(count)), y=evidence.layers, mode="lines+markers+text", line={"color": theme.ACCENT, "width": 3},
        marker={"size": 10}, text=[f"{value:.2f}" for value in evidence.layers], textposition="top center",
        textfont={"size": 14}, cliponaxis=False, hovertemplate="after %{x} layers: %{y:.3f}<extra></extra>"))
    figure.add_hline(y=0.5, **HALF)
    figure.update_xaxes(title="after layer", dtick=1 if count <= 13 else 2, range=[-0.3, count - 0.7])
    figure.update_yaxes(title="P(IsNext)", range=[0, 1.08])
    return theme.finished(figure, 320)
