"""How a blank is filled: words by probability, layers, directions and the words that were used."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import theme
from probes.cloze.attention_shift import Refocus
from probes.cloze.attribution import Attribution
from probes.cloze.logit_lens import Lens


def coloured(texts: Sequence[str], logs: Sequence[float]) -> str:
    """Tokens and log P of each -> HTML: the paler a word, the better it was foreseen; its probability below it."""
    chips = []
    for text, log in zip(texts, logs, strict=True):
        share = float(np.exp(log))
        strength = round(85 * min(1.0, -log / 8))  # e^-8 is one in three thousand: as dark as it gets
        chips.append(f'<span class="chip" style="background: color-mix(in srgb, #f08c00 {strength}%, transparent)">'
                     f"<b>{escape(text)}</b><small>{percent(share)}</small></span>")
    return f'<div class="chips">{"".join(chips)}</div>'


def percent(share: float) -> str:
    """A probability as people read it: 12 %, 1.4 %, 0.03 %, 2e-07."""
    if share < 1e-6:
        return f"{share:.0e}"
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f} %" if share >= 0.0095 else f"{100 * share:.1g} %"


def lens(read: Lens, texts: Sequence[str], asked: Sequence[int]) -> str:
    """Positions × layers -> an HTML table: the head's best word, darker when surer; asked rows are framed."""
    layers = read.probability.shape[0]
    head = "".join(f"<th>{name}</th>" for name in layer_names(layers))
    rows = []
    for place, text in enumerate(texts):
        cells = [f'<td style="background: color-mix(in srgb, #1098ad {round(75 * read.probability[layer, place])}%, '
                 f'transparent)" title="{escape(_said(read, layer, place))}">{escape(read.words[layer][place])}</td>'
                 for layer in range(layers)]
        kind = ' class="asked"' if place in asked else ""
        rows.append(f"<tr{kind}><th>{escape(text)}</th>{''.join(cells)}</tr>")
    return f'<div class="lens"><table><tr><th></th>{head}</tr>{"".join(rows)}</table></div>'


def _said(read: Lens, layer: int, place: int) -> str:
    return (f"{layer_names(layer + 1)[layer]}: {read.words[layer][place]} {percent(read.probability[layer, place])}; "
            f"the true word has rank {read.rank[layer, place] + 1:,}")


def layer_names(layers: int) -> list[str]:
    """The rows of hidden states, as they are called on screen."""
    return ["embeddings", *(f"layer {layer}" for layer in range(1, layers))]


def ranks(read: Lens, asked: Sequence[int], names: Sequence[str]) -> go.Figure:
    """The rank of the true word by layer, 1 at the top, one line a blank; a guess among all words is the baseline."""
    figure = go.Figure()
    layers = read.rank.shape[0]
    for nth, (place, name) in enumerate(zip(asked, names, strict=True)):
        figure.add_scatter(x=list(range(layers)), y=read.rank[:, place] + 1, mode="lines+markers",
                           name=theme.shown(name), line={"color": theme.CATEGORIES[nth % len(theme.CATEGORIES)],
                                                         "width": 3}, marker={"size": 9},
                           hovertemplate="%{x}: rank %{y:,}<extra>" + theme.shown(name) + "</extra>")
    worst = float(np.log10(read.rank[:, list(asked)].max() + 1))
    figure.update_yaxes(type="log", range=[max(1.0, worst) + 0.15, -0.15], title="rank of the true word", tickformat=",d",
                        dtick=1)
    figure.update_xaxes(tickvals=list(range(layers)), ticktext=layer_names(layers))
    figure.update_layout(showlegend=True)
    return theme.finished(figure, 360)


def moved(found: Refocus) -> go.Figure:
    """Layers × heads: the share of attention that went elsewhere."""
    values = found.moved
    figure = go.Figure(go.Heatmap(
        z=values, colorscale=theme.SEQUENTIAL, zmin=0, zmax=max(0.05, float(values.max())), xgap=2, ygap=2,
        hovertemplate="layer %{y}, head %{x}: %{z:.1%} moved<extra></extra>",
        x=list(range(1, values.shape[1] + 1)), y=list(range(1, values.shape[0] + 1)),
        colorbar={"thickness": 12, "tickformat": ".0%"}))
    figure.update_xaxes(title="head", dtick=1)
    figure.update_yaxes(title="layer", dtick=1, autorange="reversed")
    return theme.finished(figure, 120 + 38 * values.shape[0])


def difference(values: np.ndarray, texts: Sequence[str]) -> go.Figure:
    """(query, key) changes of attention: blue gained, orange lost."""
    bound = max(0.01, float(np.abs(values).max()))
    figure = go.Figure(go.Heatmap(
        z=values, colorscale=theme.DIVERGING, zmin=-bound, zmax=bound, xgap=1, ygap=1,
        customdata=[[f"{theme.shown(query)} → {theme.shown(key)}" for key in texts] for query in texts],
        hovertemplate="%{customdata}: %{z:+.3f}<extra></extra>", colorbar={"thickness": 12, "tickformat": "+.2f"}))
    figure.update_xaxes(**theme.token_axis(list(texts)), title="looked at", tickangle=-45)
    figure.update_yaxes(**theme.token_axis(list(texts)), title="looking", autorange="reversed")
    return theme.finished(figure, 170 + 26 * len(texts))


def attribution(found: Attribution, texts: Sequence[str], asked: int) -> go.Figure:
    """Occlusion above, gradient × input below, each against zero; the asked position is named only."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.16,
                           subplot_titles=("Occlusion: fall of log P when the word is masked", "Gradient × input"))
    places = list(range(len(texts)))
    for row, values in ((1, found.occlusion), (2, found.gradient)):
        colours = [theme.ACCENT if value >= 0 else theme.SECOND for value in values]
        figure.add_bar(x=places, y=values, marker_color=colours, row=row, col=1, showlegend=False,
                       customdata=[theme.shown(text) for text in texts],
                       hovertemplate="%{customdata}: %{y:+.3f}<extra></extra>")
        figure.add_hline(y=0, line={"color": theme.MUTED, "width": 1}, row=row, col=1)
    figure.add_vline(x=asked, line={"color": theme.MUTED, "width": 2, "dash": "dot"})
    figure.update_xaxes(**theme.token_axis(list(texts)), tickangle=-45, row=2, col=1)
    figure.update_annotations(font={"size": 15})
    return theme.finished(figure, 460)


def sights(rows: Sequence[tuple[str, float]]) -> go.Figure:
    """(sight, probability of the word) -> bars in the order given."""
    figure = go.Figure(go.Bar(
        x=[share for _, share in rows], y=[name for name, _ in rows], orientation="h",
        marker_color=[theme.MUTED, theme.MUTED, theme.MUTED, theme.ACCENT], cliponaxis=False,
        text=[percent(share) for _, share in rows], textposition="outside", textfont={"size": 15},
        hovertemplate="%{y}: %{x:.2%}<extra></extra>"))
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(visible=False, range=[0, max(0.02, max(share for _, share in rows) * 1.25)])
    return theme.finished(figure, 220)
