"""The three embeddings and their sum as strips; positions against positions; the ledger of parameters."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.figures import theme
from model import Part


def token_strips(parts: np.ndarray, names: tuple[str, ...]) -> go.Figure:
    """One token: (parts, hidden) -> a row of colour a part, dimensions aligned."""
    figure = make_subplots(rows=len(names), shared_xaxes=True, vertical_spacing=0.04)
    for row, (values, name) in enumerate(zip(parts, names, strict=True), start=1):
        figure.add_heatmap(z=values[None], y=[name], zmid=0, zmin=-_reach(values), zmax=_reach(values), row=row, col=1,
                           colorscale=theme.DIVERGING, showscale=False,
                           hovertemplate=f"{name}, dimension %{{x}}: %{{z:.3f}}<extra></extra>")
    figure.update_xaxes(title="dimension", row=len(names), col=1)
    return theme.finished(figure, 60 + 62 * len(names))


def sequence_strips(parts: np.ndarray, names: tuple[str, ...], texts: list[str]) -> go.Figure:
    """All tokens: (parts, seq, hidden) -> a panel of colour a part, tokens down, dimensions across."""
    titles = [f"{name}" for name in names]
    figure = make_subplots(rows=2, cols=2, subplot_titles=titles, shared_xaxes=True, shared_yaxes=True,
                           horizontal_spacing=0.03, vertical_spacing=0.09)
    for index, (values, name) in enumerate(zip(parts, names, strict=True)):
        figure.add_heatmap(z=values, zmid=0, zmin=-_reach(values), zmax=_reach(values), showscale=False,
                           colorscale=theme.DIVERGING, row=index // 2 + 1, col=index % 2 + 1,
                           hovertemplate=f"{name}, position %{{y}}, dimension %{{x}}: %{{z:.3f}}<extra></extra>")
    theme.finished(figure, max(420, 130 + 40 * len(texts)))
    figure.update_yaxes(autorange="reversed", **theme.token_axis(texts))
    return figure.update_annotations(font={"size": 16})


def similarities(learned: np.ndarray, fixed: np.ndarray, learned_name: str) -> go.Figure:
    """Cosine of every two positions, learned and sinusoidal side by side: (positions, positions) each."""
    figure = make_subplots(cols=2, subplot_titles=[learned_name, "sinusoidal, nothing learned"], horizontal_spacing=0.1)
    for column, values in enumerate((learned, fixed), start=1):
        figure.add_heatmap(z=values, zmin=-1, zmax=1, colorscale=theme.DIVERGING, row=1, col=column,
                           showscale=column == 2, colorbar={"title": "cosine", "thickness": 12},
                           hovertemplate="positions %{y} and %{x}: %{z:.2f}<extra></extra>")
        figure.update_yaxes(autorange="reversed", title="position", row=1, col=column)
        figure.update_xaxes(title="position", row=1, col=column)
    return theme.finished(figure, 460).update_annotations(font={"size": 16})


def treemap(parts: list[Part], name: str) -> go.Figure:
    """The ledger as areas: every parameter of the model, by group and part."""
    held = [part for part in parts if part.count]
    totals: dict[str, int] = {}
    for part in held:
        totals[part.group] = totals.get(part.group, 0) + part.count
    colours = {"embeddings": theme.CATEGORIES[0], "masked-word head": theme.CATEGORIES[2],
               "next-sentence head": theme.CATEGORIES[1]}
    figure = go.Figure(go.Treemap(
        ids=["all", *totals, *(f"{part.group}/{part.name}" for part in held)], branchvalues="total",
        labels=[name, *totals, *(part.name for part in held)],
        parents=["", *["all"] * len(totals), *(part.group for part in held)],
        values=[sum(totals.values()), *totals.values(), *(part.count for part in held)],
        text=["", *[""] * len(totals), *(part.formula for part in held)],
        texttemplate="%{label}<br>%{value:,}", hovertemplate="%{label}: %{value:,}<br>%{text}<extra></extra>",
        marker={"colors": ["#4d5b63", *(colours.get(group, "#5c7a86") for group in totals),
                           *(colours.get(part.group, "#5c7a86") for part in held)],
                "line": {"width": 1, "color": "rgba(255,255,255,0.55)"}},
        tiling={"pad": 2}, textfont={"color": "white", "size": 15}))
    return theme.finished(figure, 480).update_layout(uniformtext={"minsize": 13, "mode": "hide"})


def ledger_table(ledgers: dict[str, list[Part]]) -> pd.DataFrame:
    """The parts of each model beside each other; the layers are all alike and stand together."""
    columns = {}
    for name, parts in ledgers.items():
        table = pd.DataFrame([vars(part) for part in parts])
        layers = table["group"].str.startswith("layer")
        table.loc[layers, "group"] = "all layers"
        columns[name] = table.groupby(["group", "name"], sort=False)["count"].sum()
    joined = pd.DataFrame(columns).fillna(0).astype(int)
    joined.loc[("total", ""), :] = joined.sum()
    return joined.astype(int).reset_index(names=["where", "part"])


def _reach(values: np.ndarray) -> float:
    """A colour range that single outlying dimensions do not flatten."""
    return float(np.quantile(np.abs(values), 0.98)) or 1.0
