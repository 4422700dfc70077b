"""How a blank is filled: words by probability, layers, directions and the words that were used."""

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from app.figures import shapes, subplots, theme
from app.figures.theme import Figure
from probes.cloze.attention_shift import AttentionShift
from probes.cloze.attribution import Attribution
from probes.cloze.logit_lens import LogitLens


def token_probabilities(texts: Sequence[str], logs: Iterable[float]) -> str:
    """Tokens and log P of each -> HTML: the paler a word, the better it was foreseen; its probability below it."""
    chips = []
    for text, log in zip(texts, logs, strict=True):
        probability = float(np.exp(log))
        strength = round(65 * min(1.0, -log / 8))  # e^-8 is one in three thousand: as dark as it gets
        chips.append(
            f'<span class="chip" style="background: color-mix(in srgb, #f08c00 {strength}%, transparent)">'
            f"<b>{escape(text)}</b><small>{percent(probability)}</small></span>"
        )
    return f'<div class="chips">{"".join(chips)}</div>'


def percent(probability: float) -> str:
    """A probability as people read it: 12 %, 1.4 %, 0.03 %, 0.0000004 %."""
    if probability < 0.0095:
        return theme.percent(probability)
    return f"{100 * probability:.{0 if probability >= 0.0995 else 1}f} %"


def logit_lens(lens: LogitLens, texts: Sequence[str], positions: Sequence[int]) -> str:
    """Positions × layers -> an HTML table: the head's best word, darker when surer; rows of `positions` are framed."""
    layers = lens.probability.shape[0]
    head = "".join(f"<th>{name}</th>" for name in layer_names(layers))
    rows = []
    for position, text in enumerate(texts):
        cells = [
            f'<td style="background: color-mix(in srgb, #1098ad {round(55 * lens.probability[layer, position])}%, '
            f'transparent)" title="{escape(_tip(lens, layer, position))}">{escape(lens.words[layer][position])}</td>'
            for layer in range(layers)
        ]
        kind = ' class="framed"' if position in positions else ""
        rows.append(f"<tr{kind}><th>{escape(text)}</th>{''.join(cells)}</tr>")
    return f'<div class="lens"><table><tr><th>token</th>{head}</tr>{"".join(rows)}</table></div>'


def _tip(lens: LogitLens, layer: int, position: int) -> str:
    return (
        f"{layer_names(layer + 1)[layer]}: {lens.words[layer][position]} {percent(lens.probability[layer, position])}; "
        f"the true word has rank {lens.gold_rank[layer, position] + 1:,}"
    )


def layer_names(layers: int) -> list[str]:
    """The rows of hidden states, as they are called on screen."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, layers))]


def ranks(lens: LogitLens, positions: Sequence[int], names: Sequence[str]) -> Figure:
    """The rank of the true word by layer, 1 at the top, one line a blank; a guess among all words is the baseline."""
    layers = lens.gold_rank.shape[0]
    lines = [
        {
            "type": "scatter",
            "x": list(range(layers)),
            "y": lens.gold_rank[:, position] + 1,
            "mode": "lines+markers",
            "name": theme.escape(name),
            "line": {"color": theme.CATEGORIES[index % len(theme.CATEGORIES)], "width": 3},
            "marker": {"size": 9},
            "hovertemplate": "%{x}: rank %{y:,}<extra>" + theme.escape(name) + "</extra>",
        }
        for index, (position, name) in enumerate(zip(positions, names, strict=True))
    ]
    worst = float(np.log10(lens.gold_rank[:, list(positions)].max() + 1))
    layout = {
        "yaxis": {
            "type": "log",
            "range": [max(1.0, worst) + 0.15, -0.15],
            "title": {"text": "rank of the true word"},
            "tickformat": ",d",
            "dtick": 1,
        },
        "xaxis": {"tickvals": list(range(layers)), "ticktext": layer_names(layers)},
        "showlegend": True,
    }
    return theme.apply({"data": lines, "layout": layout}, 360)


def attention_shift(shift: AttentionShift) -> Figure:
    """Layers × heads: the share of attention that went elsewhere (total variation)."""
    values = shift.total_variation
    layers, heads = values.shape
    cells = {
        "type": "heatmap",
        "z": values,
        "colorscale": theme.SEQUENTIAL,
        "zmin": 0,
        "zmax": max(0.05, float(values.max())),
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "layer %{y}, head %{x}: %{z:.1%} moved<extra></extra>",
        "x": list(range(1, heads + 1)),
        "y": list(range(1, layers + 1)),
        "colorbar": {"thickness": 12, "tickformat": ".0%"},
    }
    layout = {
        "xaxis": {"title": {"text": "head"}, "dtick": 1},
        "yaxis": {"title": {"text": "layer"}, "dtick": 1, "autorange": "reversed"},
    }
    return theme.apply({"data": [cells], "layout": layout}, 120 + 38 * layers)


def difference(values: np.ndarray, texts: Sequence[str]) -> Figure:
    """(query, key) changes of attention: blue gained, orange lost."""
    bound = max(0.01, float(np.abs(values).max()))
    names = [theme.escape(text) for text in texts]
    cells = {
        "type": "heatmap",
        "z": values,
        "colorscale": theme.DIVERGING,
        "zmin": -bound,
        "zmax": bound,
        "xgap": 1,
        "ygap": 1,
        "customdata": [[f"{query} → {key}" for key in names] for query in names],
        "hovertemplate": "%{customdata}: %{z:+.3f}<extra></extra>",
        "colorbar": {"thickness": 12, "tickformat": "+.2f"},
    }
    tokens = theme.token_axis(texts)
    layout = {
        "xaxis": tokens | {"title": {"text": "to (key)"}, "tickangle": -45},
        "yaxis": tokens | {"title": {"text": "from (query)"}, "autorange": "reversed"},
    }
    return theme.apply({"data": [cells], "layout": layout}, 170 + 26 * len(texts))


def attribution(scores: Attribution, texts: Sequence[str], position: int) -> Figure:
    """Occlusion above, gradient × input below, each against zero; a dotted line stands at the predicted position."""
    bars, lines = [], []
    for index, values in enumerate((scores.occlusion, scores.gradient)):
        subplot = "" if index == 0 else "2"
        bars.append(
            {
                "type": "bar",
                "x": list(range(len(texts))),
                "y": values,
                "marker": {"color": [theme.ACCENT if value >= 0 else theme.HIGHLIGHT for value in values]},
                "showlegend": False,
                "customdata": [theme.escape(text) for text in texts],
                "hovertemplate": "%{customdata}: %{y:+.3f}<extra></extra>",
                **subplots.axes(index),
            }
        )
        lines.append(shapes.horizontal_line(0, {"color": theme.MUTED, "width": 1}, subplot))
        lines.append(shapes.vertical_line(position, {"color": theme.MUTED, "width": 2, "dash": "dot"}, subplot))
    titles = ("Occlusion: fall of log P when the word is masked", "Gradient × input")
    rows = subplots.layout(2, 1, vertical_spacing=0.16, titles=titles, title_size=15, shared_x=True)
    layout = theme.merge(rows, {"shapes": lines, "xaxis2": theme.token_axis(texts) | {"tickangle": -45}})
    return theme.apply({"data": bars, "layout": layout}, 460)


def directions(rows: Sequence[tuple[str, float]]) -> Figure:
    """(direction, probability of the word) -> bars in this order."""
    bars = {
        "type": "bar",
        "x": [probability for _, probability in rows],
        "y": [name for name, _ in rows],
        "orientation": "h",
        "marker": {"color": [theme.MUTED, theme.MUTED, theme.MUTED, theme.ACCENT]},
        "cliponaxis": False,
        "text": [percent(probability) for _, probability in rows],
        "textposition": "outside",
        "textfont": {"size": 15},
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    layout = {
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis": theme.share_axis(max(probability for _, probability in rows), least=0.02),
    }
    return theme.apply({"data": [bars], "layout": layout}, 220)
