"""The three embeddings and their sum as strips; positions against positions; the ledger of parameters."""

from typing import Any

import numpy as np
import pandas as pd

from app.figures import subplots, theme
from app.figures.theme import Figure
from model import ParameterCount


def token_strips(parts: np.ndarray, names: tuple[str, ...]) -> Figure:
    """One token: (parts, hidden) -> a row of colour a part, dimensions aligned."""
    strips = [
        _strip(values[None], index, f"{name}, dimension %{{x}}: %{{z:.3f}}<extra></extra>") | {"y": [name]}
        for index, (values, name) in enumerate(zip(parts, names, strict=True))
    ]
    rows = subplots.layout(len(names), 1, vertical_spacing=0.04, shared_x=True)
    layout = theme.merge(rows, {f"xaxis{len(names)}": {"title": {"text": "dimension"}}})
    return theme.apply({"data": strips, "layout": layout}, 60 + 62 * len(names))


def sequence_strips(parts: np.ndarray, names: tuple[str, ...], texts: list[str]) -> Figure:
    """All tokens: (parts, seq, hidden) -> a panel of colour a part, tokens down, dimensions across."""
    panels = [
        _strip(values, index, f"{name}, position %{{y}}, dimension %{{x}}: %{{z:.3f}}<extra></extra>")
        for index, (values, name) in enumerate(zip(parts, names, strict=True))
    ]
    layout = subplots.layout(2, 2, 0.09, 0.03, titles=names, shared_x=True, shared_y=True)
    tokens = {"autorange": "reversed"} | theme.token_axis(texts)
    layout = theme.merge(layout, dict.fromkeys(("yaxis", "yaxis2", "yaxis3", "yaxis4"), tokens))
    return theme.apply({"data": panels, "layout": layout}, max(420, 130 + 40 * len(texts)))


def _strip(values: np.ndarray, index: int, hover: str) -> dict[str, Any]:
    """Numbers of both signs as colour, in the chart with this index: (tokens, hidden)."""
    top = _robust_maximum(values)
    return {
        "type": "heatmap",
        "z": values,
        "zmid": 0,
        "zmin": -top,
        "zmax": top,
        "colorscale": theme.DIVERGING,
        "showscale": False,
        "hovertemplate": hover,
        **subplots.axes(index),
    }


def similarities(learned: np.ndarray, fixed: np.ndarray, learned_name: str) -> Figure:
    """Cosine of every two positions, learned and sinusoidal side by side: (positions, positions) each."""
    maps = [
        {
            "type": "heatmap",
            "z": values,
            "zmin": -1,
            "zmax": 1,
            "colorscale": theme.DIVERGING,
            "showscale": index == 1,
            "colorbar": {"title": {"text": "cosine"}, "thickness": 12},
            "hovertemplate": "positions %{y} and %{x}: %{z:.2f}<extra></extra>",
            **subplots.axes(index),
        }
        for index, values in enumerate((learned, fixed))
    ]
    titles = [learned_name, "sinusoidal, nothing learned"]
    across, down = {"title": {"text": "position"}}, {"title": {"text": "position"}, "autorange": "reversed"}
    layout = theme.merge(
        subplots.layout(1, 2, horizontal_spacing=0.1, titles=titles),
        {"xaxis": across, "xaxis2": across, "yaxis": down, "yaxis2": down},
    )
    return theme.apply({"data": maps, "layout": layout}, 460)


def treemap(parts: list[ParameterCount], name: str) -> Figure:
    """The ledger as areas: every parameter of the model, by group and part."""
    parts = [part for part in parts if part.count]
    totals = _totals(parts)
    colours = {
        "embeddings": theme.CATEGORIES[0],
        "masked-word head": theme.CATEGORIES[2],
        "next-sentence head": theme.CATEGORIES[1],
    }
    areas = {
        "type": "treemap",
        "ids": ["all", *totals, *(f"{part.group}/{part.name}" for part in parts)],
        "branchvalues": "total",
        "labels": [name, *totals, *(part.name for part in parts)],
        "parents": ["", *["all"] * len(totals), *(part.group for part in parts)],
        "values": [sum(totals.values()), *totals.values(), *(part.count for part in parts)],
        "text": ["", *[""] * len(totals), *(part.formula for part in parts)],
        "texttemplate": "%{label}<br>%{value:,}",
        "hovertemplate": "%{label}: %{value:,}<br>%{text}<extra></extra>",
        "marker": {
            "colors": [
                "#4d5b63",
                *(colours.get(group, "#5c7a86") for group in totals),
                *(colours.get(part.group, "#5c7a86") for part in parts),
            ],
            "line": {"width": 1, "color": "rgba(255,255,255,0.55)"},
        },
        "sort": False,  # layers in their order
        "tiling": {"pad": 2, "packing": "binary"},
        "textfont": {"color": "white", "size": 15},
    }
    return theme.apply({"data": [areas], "layout": {"uniformtext": {"minsize": 13, "mode": "hide"}}}, 480)


def _totals(parts: list[ParameterCount]) -> dict[str, int]:
    """Parameters of each group, in the order of the parts."""
    totals: dict[str, int] = {}
    for part in parts:
        totals[part.group] = totals.get(part.group, 0) + part.count
    return totals


def ledger_table(ledgers: dict[str, list[ParameterCount]]) -> pd.DataFrame:
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


def _robust_maximum(values: np.ndarray) -> float:
    """The 98 % quantile of the sizes: single outlying dimensions do not flatten the colours of the others."""
    return float(np.quantile(np.abs(values), 0.98)) or 1.0
