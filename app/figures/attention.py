"""Figures about heads: grids of layers × heads, the steps inside one, what switching off does."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import theme


def grid(values: np.ndarray, name: str, chosen: tuple[int, int] | None = None, off: Sequence[tuple[int, int]] = (),
         words: Sequence[Sequence[str]] | None = None) -> go.Figure:
    """(layers, heads) as colours, layer 1 on top; values of both signs are drawn from orange to blue."""
    layers, heads = values.shape
    signed = bool((values < 0).any())
    top = float(np.abs(values).max()) or 1.0
    said = words if words is not None else [[""] * heads for _ in range(layers)]
    figure = go.Figure(go.Heatmap(
        z=values, x=list(range(1, heads + 1)), y=list(range(1, layers + 1)), zmin=-top if signed else 0, zmax=top,
        colorscale=theme.DIVERGING if signed else theme.SEQUENTIAL, xgap=2, ygap=2, customdata=said,
        hovertemplate=f"layer %{{y}}, head %{{x}}: {name} %{{z:.3f}}<br>%{{customdata}}<extra></extra>",
        colorbar={"title": {"text": name, "side": "top"}, "thickness": 14, "orientation": "h", "y": -0.02, "yanchor": "top",
                  "tickfont": {"size": 14}}))
    if chosen:
        figure.add_shape(type="rect", x0=chosen[1] + 0.5, x1=chosen[1] + 1.5, y0=chosen[0] + 0.5, y1=chosen[0] + 1.5,
                         line={"color": theme.SECOND, "width": 3})
    for layer, head in off:
        figure.add_annotation(x=head + 1, y=layer + 1, text="✕", showarrow=False,
                              font={"size": 20, "color": theme.SECOND})
    figure.update_xaxes(title="head", dtick=1, side="top")
    figure.update_yaxes(title="layer", dtick=1, autorange="reversed")
    return theme.finished(figure, 170 + 42 * layers).update_layout(margin={"t": 60, "b": 70})


def strips(rows: Mapping[str, np.ndarray]) -> go.Figure:
    """Vectors of one length as rows of colour, orange below and blue above zero, each row on its own scale."""
    return _strips(rows, np.abs(np.stack(list(rows.values()))).max(1, keepdims=True))


def mixture(values: np.ndarray, weights: np.ndarray, texts: Sequence[str], most: int = 4) -> go.Figure:
    """The heaviest of the weighted values, what the others bring, and their sum, all on one scale: (seq, head_size)."""
    heavy = np.argsort(-weights, kind="stable")[:most]
    rows = {f"{weights[at]:.2f} × value of {at + 1} · {texts[at]}": weights[at] * values[at] for at in heavy}
    rest = np.setdiff1d(np.arange(len(texts)), heavy)
    if len(rest):
        rows[f"all {len(rest)} others"] = weights[rest] @ values[rest]
    rows["the mix: their sum"] = weights @ values
    return _strips(rows, np.abs(np.stack(list(rows.values()))).max())


def split(state: np.ndarray, queries: np.ndarray, chosen: int) -> go.Figure:
    """The state of one token (hidden,) above its queries (heads, head_size) side by side, one head framed."""
    heads, size = queries.shape
    rows = {"state": state, "query": queries.ravel()}
    figure = _strips(rows, np.abs(np.stack(list(rows.values()))).max(1, keepdims=True))
    figure.update_traces(xgap=0)
    figure.add_shape(type="rect", x0=chosen * size + 0.5, x1=(chosen + 1) * size + 0.5, y0=0.5, y1=1.5,
                     line={"color": theme.SECOND, "width": 3})
    return figure.update_xaxes(tickmode="array", tickvals=[(head + 0.5) * size for head in range(heads)], tickangle=0,
                               ticktext=[str(head + 1) for head in range(heads)], title="head")


def _strips(rows: Mapping[str, np.ndarray], tops: np.ndarray) -> go.Figure:
    values = np.stack(list(rows.values()))
    named = [[(theme.shown(name), f"{value:.3f}") for value in vector] for name, vector in rows.items()]
    figure = go.Figure(go.Heatmap(
        z=values / np.where(tops > 0, tops, 1), y=list(range(len(rows))), x=list(range(1, values.shape[1] + 1)),
        zmin=-1, zmax=1, colorscale=theme.DIVERGING, ygap=6, xgap=1, customdata=named, showscale=False,
        hovertemplate="%{customdata[0]}, number %{x}: %{customdata[1]}<extra></extra>"))
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(rows))), ticktext=[theme.shown(n) for n in rows],
                        autorange="reversed")
    return theme.finished(figure, 60 + 44 * len(rows)).update_yaxes(tickfont={"size": 15}).update_layout(margin={"t": 6})


def softmax(scores: np.ndarray, weights: np.ndarray, texts: list[str], chosen: int) -> go.Figure:
    """Above the scores of one token against every key, below what the softmax makes of them."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.1,
                           subplot_titles=["score: query · key / √size", "weight: softmax of the scores"])
    colours = [theme.SECOND if place == chosen else theme.ACCENT for place in range(len(texts))]
    for row, values in enumerate((scores, weights), 1):
        figure.add_bar(y=values, x=list(range(len(texts))), marker_color=colours, row=row, col=1, showlegend=False,
                       hovertemplate="%{customdata}: %{y:.3f}<extra></extra>",
                       customdata=[theme.shown(text) for text in texts])
    # many tokens on a narrow screen have room only side by side
    figure.update_xaxes(**theme.token_axis(texts), tickangle=-60 if len(texts) <= 16 else -90)
    return theme.finished(figure, 430).update_annotations(font_size=15)


def written(lengths: np.ndarray, chosen: int) -> go.Figure:
    """How long a vector each head of a layer adds to the state of one token: (heads,)."""
    colours = [theme.SECOND if head == chosen else theme.ACCENT for head in range(len(lengths))]
    figure = go.Figure(go.Bar(x=list(range(1, len(lengths) + 1)), y=lengths, marker_color=colours,
                              hovertemplate="head %{x}: %{y:.3f}<extra></extra>"))
    figure.update_xaxes(title="head", dtick=1)
    figure.update_yaxes(title="length added")
    return theme.finished(figure, 280)


def head_map(points: np.ndarray, table: pd.DataFrame, colour: str, chosen: tuple[int, int]) -> go.Figure:
    """Every head as a point, near where attention is alike; coloured by "layer" or "label" of the table."""
    figure = go.Figure()
    names = table["label"].replace("", "no label") if colour == "label" else table["layer"] + 1
    for index, (name, rows) in enumerate(table.groupby(names, sort=True)):
        at = points[rows.index]
        shown = f"layer {name}" if colour == "layer" else str(name)
        figure.add_scatter(
            x=at[:, 0], y=at[:, 1], mode="markers", name=theme.shown(shown),
            marker={"size": 13, "color": theme.CATEGORIES[index % len(theme.CATEGORIES)],
                    "symbol": ("circle", "diamond", "square")[index % 3]},
            customdata=rows[["layer", "head", "label"]].assign(layer=rows["layer"] + 1, head=rows["head"] + 1),
            hovertemplate="layer %{customdata[0]}, head %{customdata[1]}<br>%{customdata[2]}<extra></extra>")
    place = table.index[(table["layer"] == chosen[0]) & (table["head"] == chosen[1])]
    figure.add_scatter(x=points[place, 0], y=points[place, 1], mode="markers", name="chosen", hoverinfo="skip",
                       marker={"size": 22, "color": "rgba(0,0,0,0)", "line": {"color": theme.SECOND, "width": 3}})
    figure.update_xaxes(showticklabels=False, showgrid=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, scaleanchor="x")
    return theme.finished(figure, 520).update_layout(legend={"orientation": "v", "x": 1.02, "y": 1})


def before_after(table: pd.DataFrame, answer: str) -> go.Figure:
    """Columns word, before, after -> two bars a word; the answer is marked by an arrow in its name."""
    names = [f"<b>{theme.shown(word)}</b>" if word == answer else theme.shown(word) for word in table["word"]]
    figure = go.Figure()
    for name, colour in (("before", theme.MUTED), ("after", theme.ACCENT)):
        figure.add_bar(y=list(range(len(table))), x=table[name], orientation="h", name=name, marker_color=colour,
                       text=[f"{share:.1%}" for share in table[name]], textposition="outside", cliponaxis=False,
                       textfont={"size": 14}, customdata=names,
                       hovertemplate=f"%{{customdata}} {name}: %{{x:.2%}}<extra></extra>")
    figure.update_yaxes(tickmode="array", tickvals=list(range(len(table))), ticktext=names, autorange="reversed")
    figure.update_xaxes(visible=False, range=[0, max(0.05, float(table[["before", "after"]].to_numpy().max()) * 1.25)])
    figure.update_layout(barmode="group", bargap=0.25)
    return theme.finished(figure, 70 + 44 * len(table)).update_yaxes(tickfont={"size": 16})


def two_rankings(effects: np.ndarray, gradients: np.ndarray, chosen: tuple[int, int]) -> go.Figure:
    """Each head by what switching it off costs (x, bits) and by the slope of the loss at its gate (y, bits)."""
    layers, heads = effects.shape
    place = np.indices((layers, heads)).reshape(2, -1).T + 1
    colours = [theme.SECOND if tuple(at - 1) == chosen else theme.ACCENT for at in place]
    figure = go.Figure(go.Scatter(
        x=effects.ravel(), y=gradients.ravel(), mode="markers", marker={"size": 11, "color": colours},
        customdata=place, hovertemplate="layer %{customdata[0]}, head %{customdata[1]}<br>off: %{x:+.3f} bits<br>"
                                        "gradient: %{y:.3f} bits<extra></extra>"))
    figure.update_xaxes(title="bits lost when switched off", zeroline=True)
    figure.update_yaxes(title="gradient importance (bits)")
    return theme.finished(figure, 420)


def pruning(curve: pd.DataFrame, heads: int) -> go.Figure:
    """Columns gone, greedy, gradient, low, middle, high (of the random orders) -> loss against heads switched off."""
    figure = go.Figure()
    figure.add_scatter(x=curve["gone"], y=curve["high"], mode="lines", line={"width": 0}, showlegend=False,
                       hoverinfo="skip")
    figure.add_scatter(x=curve["gone"], y=curve["low"], mode="lines", line={"width": 0}, fill="tonexty",
                       fillcolor="rgba(134,142,150,0.22)", showlegend=False, hoverinfo="skip")
    for name, column, colour, dash in (("random order (baseline)", "middle", theme.MUTED, "dot"),
                                       ("by gradient", "gradient", theme.SECOND, "solid"),
                                       ("greedy", "greedy", theme.ACCENT, "solid")):
        figure.add_scatter(x=curve["gone"], y=curve[column], mode="lines+markers", name=name,
                           line={"color": colour, "width": 3, "dash": dash}, marker={"size": 7},
                           hovertemplate=f"{name}: %{{x}} off, %{{y:.2f}} bits<extra></extra>")
    figure.update_xaxes(title=f"heads switched off, of {heads}")
    figure.update_yaxes(title="loss on the masked words (bits)")
    return theme.finished(figure, 430)
