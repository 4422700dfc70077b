"""What the next-sentence head says about a pair, and where it comes from."""

from collections.abc import Sequence
from html import escape

import numpy as np

from app.figures import shapes, theme
from app.figures.theme import Figure
from model import Token
from probes.nextsentence import IS_NEXT, NOT_NEXT, PairPrediction
from probes.nextsentence.evidence import PARTS, NSPEvidence
from probes.nextsentence.perturbations import PerturbationResult

HALF = {"dash": "dot", "color": theme.MUTED, "width": 1.5}
QUARTERS = [0, 0.25, 0.5, 0.75, 1]


def answer(judgement: PairPrediction) -> Figure:
    """One bar shared by the two answers, each with its name."""
    answers = ((IS_NEXT, judgement.is_next, theme.ACCENT), (NOT_NEXT, judgement.not_next, theme.HIGHLIGHT))
    bars = [
        {
            "type": "bar",
            "x": [probability],
            "y": [""],
            "orientation": "h",
            "name": f"{name} {probability:.1%}",
            "marker": {"color": colour},
            "hovertemplate": f"{name}: {probability:.4f}<extra></extra>",
        }
        for name, probability, colour in answers
    ]
    layout = {
        "shapes": [shapes.vertical_line(0.5, HALF)],
        "barmode": "stack",
        "xaxis": {"range": [-0.01, 1.01], "tickformat": ".0%", "tickvals": QUARTERS},
        "legend": {"traceorder": "normal", "font": {"size": 18}, "y": 1.45},
        "margin": {"t": 50},
    }
    return theme.apply({"data": bars, "layout": layout}, 150)


def perturbations(results: Sequence[PerturbationResult]) -> Figure:
    """A row a perturbation: the mean of P(IsNext) as a dot, every draw behind it, the pair itself as a line."""
    rows = [result for result in results if len(result.probabilities)]
    draws = [
        {
            "type": "scatter",
            "x": result.probabilities,
            "y": [row] * len(result.probabilities),
            "mode": "markers",
            "marker": {"size": 10, "color": theme.MUTED, "symbol": "line-ns-open", "line": {"width": 2}},
            "hovertemplate": "%{x:.3f}<extra></extra>",
        }
        for row, result in enumerate(rows)
    ]
    titles = [result.perturbation.title for result in rows]
    means = {
        "type": "scatter",
        "x": [result.mean for result in rows],
        "y": list(range(len(rows))),
        "mode": "markers+text",
        "text": [f"{result.mean:.2f}" for result in rows],
        "textposition": "bottom center",
        "textfont": {"size": 14},
        "cliponaxis": False,
        "marker": {"size": 15, "color": [theme.HIGHLIGHT, *[theme.ACCENT] * (len(rows) - 1)]},
        "customdata": titles,
        "hovertemplate": "%{customdata}: %{x:.3f}<extra></extra>",
    }
    whole = shapes.vertical_line(rows[0].mean, {"color": theme.HIGHLIGHT, "width": 1.5})
    layout = {
        "shapes": [whole, shapes.vertical_line(0.5, HALF)],
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(rows))),
            "range": [len(rows) - 0.3, -0.6],
            "ticktext": titles,
        },
        "xaxis": {"range": [-0.03, 1.03], "title": {"text": "P(IsNext)"}, "tickvals": QUARTERS, "side": "bottom"},
        "showlegend": False,
    }
    return theme.apply({"data": [*draws, means], "layout": layout}, 70 + 48 * len(rows))


def occlusion(evidence: NSPEvidence) -> str:
    """Tokens -> HTML, a chip each with how much the margin falls without it: blue speaks for IsNext, orange against."""
    bound = max(1e-6, float(np.nanmax(np.abs(evidence.occlusion))))
    return f'<div class="chips">{"".join(_chip(token, evidence, bound) for token in evidence.encoding.tokens)}</div>'


def _chip(token: Token, evidence: NSPEvidence, bound: float) -> str:
    if token.is_special:
        return f'<span class="chip special"><b>{escape(token.text)}</b><small>&nbsp;</small></span>'
    fall = evidence.occlusion[token.position]
    colour, share = (theme.ACCENT if fall > 0 else theme.HIGHLIGHT), 55 * abs(fall) / bound
    kinds = "chip continues" if token.is_continuation else "chip"
    return (
        f'<span class="{kinds}" style="background: color-mix(in srgb, {colour} {share:.0f}%, transparent)">'
        f"<b>{escape(token.text)}</b><small>{fall:+.2f}</small></span>"
    )


def cls_attention(evidence: NSPEvidence) -> Figure:
    """A bar a layer, shared out among the parts of the input that [CLS] attends to; the last bar is uniform attention."""
    rows = np.vstack([evidence.attention, evidence.uniform_attention])  # (layers and the uniform one, parts)
    names = [f"layer {layer + 1}" for layer in range(len(evidence.attention))] + ["all alike"]
    colours = ("#868e96", theme.ACCENT, "#7048e8", theme.HIGHLIGHT)
    bars = [
        {
            "type": "bar",
            "x": rows[:, part],
            "y": list(range(len(rows))),
            "orientation": "h",
            "name": name,
            "marker": {"color": colour},
            "customdata": names,
            "hovertemplate": f"%{{customdata}} to {name}: %{{x:.1%}}<extra></extra>",
        }
        for part, (name, colour) in enumerate(zip(PARTS, colours, strict=True))
    ]
    layout = {
        "shapes": [shapes.horizontal_line(len(rows) - 1.5, HALF)],
        "barmode": "stack",
        "legend": {"traceorder": "normal"},
        "xaxis": {"tickformat": ".0%", "range": [0, 1]},
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(rows))), "ticktext": names, "autorange": "reversed"},
    }
    return theme.apply({"data": bars, "layout": layout}, 110 + 30 * len(rows))


def head_ablation(evidence: NSPEvidence) -> Figure:
    """P(IsNext) with each head off, coloured by how far that is from nothing off."""
    change = evidence.ablated - evidence.by_layer[-1]
    bound = max(0.05, float(np.abs(change).max()))
    layers, heads = change.shape
    cells = {
        "type": "heatmap",
        "z": change,
        "x": list(range(1, heads + 1)),
        "y": list(range(1, layers + 1)),
        "colorscale": theme.DIVERGING,
        "zmid": 0,
        "zmin": -bound,
        "zmax": bound,
        "xgap": 2,
        "ygap": 2,
        "customdata": evidence.ablated,
        "hovertemplate": "layer %{y}, head %{x} off: %{customdata:.3f} (%{z:+.3f})<extra></extra>",
        "colorbar": {"title": {"text": "change", "side": "top"}, "tickformat": "+.2f", "thickness": 14},
    }
    layout = {
        "xaxis": {"title": {"text": "head"}, "dtick": 1 if heads <= 12 else 2},
        "yaxis": {"title": {"text": "layer"}, "dtick": 1 if layers <= 12 else 2, "autorange": "reversed"},
    }
    return theme.apply({"data": [cells], "layout": layout}, 130 + 34 * layers)


def by_layer(evidence: NSPEvidence) -> Figure:
    """P(IsNext) read by the same head from [CLS] after every layer."""
    count = len(evidence.by_layer)
    line = {
        "type": "scatter",
        "x": list(range(count)),
        "y": evidence.by_layer,
        "mode": "lines+markers+text",
        "line": {"color": theme.ACCENT, "width": 3},
        "marker": {"size": 10},
        "text": [f"{value:.2f}" for value in evidence.by_layer],
        "textposition": "top center",
        "textfont": {"size": 14},
        "cliponaxis": False,
        "hovertemplate": "after %{x} layers: %{y:.3f}<extra></extra>",
    }
    layout = {
        "shapes": [shapes.horizontal_line(0.5, HALF)],
        "xaxis": {"title": {"text": "after layer"}, "dtick": 1 if count <= 13 else 2, "range": [-0.3, count - 0.7]},
        "yaxis": {"title": {"text": "P(IsNext)"}, "range": [0, 1.08]},
    }
    return theme.apply({"data": [line], "layout": layout}, 320)
