"""One look for every figure, in light and in dark: see-through backgrounds, large type, few colours."""

import math
from collections.abc import Sequence
from typing import Any

Figure = dict[
    str, Any
]  # a Plotly specification: "data", "layout", sometimes "frames"; traces may hold NumPy arrays of numbers

ACCENT = "#1098ad"
HIGHLIGHT = "#f08c00"
MUTED = "rgba(134,142,150,0.75)"
CATEGORIES = ["#1098ad", "#f08c00", "#7048e8", "#2f9e44", "#e03131", "#c2255c", "#868e96", "#a17800"]
# from nothing to the accent: the page shows through where the value is low; what is strong is dark on white, bright on black
SEQUENTIAL = [
    [0.0, "rgba(16,152,173,0.03)"],
    [0.25, "rgba(16,152,173,0.35)"],
    [0.6, "rgba(16,130,160,0.8)"],
    [1.0, "rgba(11,90,120,1)"],
]
DIVERGING = [[0.0, "rgba(224,100,0,1)"], [0.5, "rgba(134,142,150,0.06)"], [1.0, "rgba(16,120,160,1)"]]
ON_STRONG = "#ffffff"  # type on a strongly coloured cell
BRIGHT_SEQUENTIAL = [
    [0.0, "rgba(34,184,207,0.03)"],
    [0.25, "rgba(34,184,207,0.3)"],
    [0.6, "rgba(34,184,207,0.75)"],
    [1.0, "rgba(197,246,250,1)"],
]
BRIGHT_DIVERGING = [[0.0, "rgba(255,146,43,1)"], [0.5, "rgba(134,142,150,0.06)"], [1.0, "rgba(77,195,247,1)"]]
ON_BRIGHT = "#0b1115"
INK = {"light": "#17212b", "dark": "#e9eef0"}  # textColor of the two themes
GRID = "rgba(134,142,150,0.25)"
LAYOUT = {
    "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
    "font": {"size": 15},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "dragmode": False,
    "hoverlabel": {"font": {"size": 15}},
    "legend": {"orientation": "h", "y": 1.12, "x": 0, "font": {"size": 14}},
}
AXIS = {"tickfont": {"size": 14}, "automargin": True, "zeroline": False, "showgrid": False}


def apply(spec: Figure, height: int) -> Figure:
    """The figure in the house's type, margins and background; what its own layout says goes before."""
    layout = spec.get("layout", {})
    house = LAYOUT | {"height": height} | dict.fromkeys(("xaxis", "yaxis", *_axes(layout)), AXIS)
    return spec | {"layout": merge(house, layout)}


def to_dark(spec: Figure) -> Figure:
    """The figure for a dark page: heatmaps grow brighter where on a white page they grow darker, with dark type on them."""
    layout = spec["layout"]
    if "annotations" in layout:
        layout = layout | {"annotations": [_on_bright(annotation) for annotation in layout["annotations"]]}
    return spec | {"data": [_bright(trace) for trace in spec["data"]], "layout": layout}


def with_ink(spec: Figure, ink: str) -> Figure:
    """The figure with type in the page's own colour."""
    axis = {"tickfont": {"color": ink}, "title": {"font": {"color": ink}}}
    layout = spec["layout"]
    return spec | {"layout": merge(layout, {"font": {"color": ink}} | dict.fromkeys(_axes(layout), axis))}


def merge(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Both dictionaries as one, at every depth; where they differ the second counts. Neither is changed."""
    both = first | second
    for name in first.keys() & second.keys():
        if isinstance(first[name], dict) and isinstance(second[name], dict):
            both[name] = merge(first[name], second[name])
    return both


def _axes(layout: dict[str, Any]) -> list[str]:
    return [name for name in layout if name.startswith(("xaxis", "yaxis"))]


def _bright(trace: dict[str, Any]) -> dict[str, Any]:
    if trace["type"] == "bar":  # Plotly takes the page for white
        return merge(trace, {"insidetextfont": {"color": INK["dark"]}})
    if trace["type"] == "heatmap":
        for scale, bright in ((SEQUENTIAL, BRIGHT_SEQUENTIAL), (DIVERGING, BRIGHT_DIVERGING)):
            if trace["colorscale"] == scale:
                return trace | {"colorscale": bright}
    return trace


def _on_bright(annotation: dict[str, Any]) -> dict[str, Any]:
    strong = annotation.get("font", {}).get("color") == ON_STRONG
    return merge(annotation, {"font": {"color": ON_BRIGHT}}) if strong else annotation


def colour_bar(title: str) -> dict[str, Any]:
    """The scale of a map, above it: beside it on a phone it would take the room of the columns."""
    return {
        "title": {"text": title, "side": "top"},
        "orientation": "h",
        "thickness": 12,
        "x": 0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "len": 0.6,
        "tickfont": {"size": 14},
        "nticks": 5,
    }


def share_axis(largest: float, least: float = 0.05) -> dict[str, Any]:
    """An axis of shares from 0, with room for the number behind the longest bar; its ticks say how long a bar is."""
    return {"range": [0, max(least, largest * 1.25)], "tickformat": "~%", "nticks": 5, "rangemode": "tozero"}


def percent(share: float) -> str:
    """A share as people read it: 12.4 %, 1.4 %, 0.03 %, 0.0000004 %."""
    if share >= 0.001 or share <= 0:
        return f"{100 * share:.1f} %"
    return f"{100 * share:.{min(12, 1 - math.floor(math.log10(100 * share)) - 1)}f} %"


def token_axis(texts: Sequence[str]) -> dict[str, Any]:
    """An axis with a tick a token: by position, so that a word that stands twice keeps two places."""
    return {"tickmode": "array", "tickvals": list(range(len(texts))), "ticktext": [escape(text) for text in texts]}


def escape(text: str) -> str:
    """A token as Plotly may show it: its markup characters disarmed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
