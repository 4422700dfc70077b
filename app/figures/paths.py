"""Points that move from layer to layer: one animated figure with a slider and a play button, in 2-D and 3-D."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.figures import label_placement, theme
from app.figures.theme import Figure
from probes.states.geometry import TokenPaths

HEIGHT = 620
STEP = 700  # milliseconds from one layer to the next
NAMED = 60  # points that carry their text; of more, it is read by hovering


@dataclass(frozen=True)
class PointGroup:
    """Points of one kind: a name for the legend, a colour, which points."""

    name: str
    colour: str
    members: Sequence[int]


def animated(
    paths: TokenPaths,
    texts: Sequence[str],
    groups: Sequence[PointGroup],
    followed: Sequence[int] = (),
    hover: Sequence[str] | None = None,
) -> Figure:
    """Every point at each layer in turn, beginning in the middle; a followed point draws its path behind it."""
    hovertexts = [theme.escape(text) for text in (hover or texts)]
    labels = [theme.escape(text) for text in texts]
    frames = []
    for layer in range(len(paths.points)):
        sides = _sides(paths, layer, labels)
        traces = [_path(paths, layer, point, index, labels) for index, point in enumerate(followed)]
        traces += [_points(paths, layer, group, labels, sides, hovertexts) for group in groups]
        frames.append({"data": traces, "name": str(layer), "layout": _axis_titles(paths, layer)})
    first = len(frames) // 2
    layout = {
        "margin": {"b": 100, "t": 60},
        "legend": {"y": 1.02, "yanchor": "bottom"},
        "updatemenus": [_buttons()],
        "sliders": [_slider(len(frames), first)],
    }
    if not _is_solid(paths):
        layout |= {"xaxis": {"showgrid": True}, "yaxis": {"showgrid": True}}
    layout = theme.merge(theme.merge(_still(paths), layout), frames[first]["layout"])
    return theme.apply({"data": frames[first]["data"], "layout": layout, "frames": frames}, HEIGHT)


def _is_solid(paths: TokenPaths) -> bool:
    return paths.points.shape[-1] == 3


def _sides(paths: TokenPaths, layer: int, labels: Sequence[str]) -> list[str]:
    """Where each label stands beside its point; in 3-D it is always above."""
    if _is_solid(paths) or len(labels) > NAMED:
        return ["top center"] * len(labels)
    return label_placement.sides(paths.points[layer], labels, *_corners(paths))


def _path(paths: TokenPaths, layer: int, point: int, index: int, labels: Sequence[str]) -> dict[str, Any]:
    colour = theme.CATEGORIES[(index + 2) % len(theme.CATEGORIES)]
    return {
        "type": "scatter3d" if _is_solid(paths) else "scatter",
        **_coordinates(paths.points[: layer + 1, point]),
        "mode": "lines+markers",
        "name": f"path of {labels[point]}",
        "line": {"color": colour, "width": 5 if _is_solid(paths) else 2.5},
        "marker": {"size": 4, "color": colour},
        "hovertemplate": "layer %{customdata}<extra></extra>",
        "customdata": list(range(layer + 1)),
    }


def _points(
    paths: TokenPaths,
    layer: int,
    group: PointGroup,
    labels: Sequence[str],
    sides: Sequence[str],
    hovertexts: Sequence[str],
) -> dict[str, Any]:
    members = list(group.members)
    return {
        "type": "scatter3d" if _is_solid(paths) else "scatter",
        **_coordinates(paths.points[layer, members]),
        "mode": "markers+text" if len(labels) <= NAMED else "markers",
        "name": group.name,
        "text": [labels[member] for member in members],
        "textposition": [sides[member] for member in members],
        "textfont": {"size": 14},
        "marker": {"size": 4 if _is_solid(paths) else 11, "color": group.colour},
        "hovertext": [hovertexts[member] for member in members],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _axis_titles(paths: TokenPaths, layer: int) -> dict[str, Any]:
    """What the axes show of this layer."""
    titles = {
        f"{name}axis": {"title": {"text": f"axis {axis + 1}: {fraction:.0%} of layer {layer}"}}
        for axis, (name, fraction) in enumerate(zip("xyz", paths.explained[layer], strict=False))
    }
    return {"scene": titles} if _is_solid(paths) else titles


def _coordinates(points: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip("xyz", np.round(points, 3).T, strict=False))


def _corners(paths: TokenPaths) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest corner of a picture that holds every point at every layer."""
    low, high = paths.points.min(axis=(0, 1)), paths.points.max(axis=(0, 1))
    margin = np.maximum((high - low) * 0.12, 0.5)
    return low - margin, high + margin


def _still(paths: TokenPaths) -> dict[str, Any]:
    """Axes that stay where they are while points move."""
    ranges = [[float(a), float(b)] for a, b in zip(*_corners(paths), strict=True)]
    grid = {"showgrid": True, "gridcolor": "rgba(134,142,150,0.2)", "zeroline": False}
    if len(ranges) == 3:
        grid |= {"backgroundcolor": "rgba(0,0,0,0)", "nticks": 4, "tickfont": {"size": 12}, "title": {"font": {"size": 14}}}
        scene = {f"{name}axis": {"range": span, **grid} for name, span in zip("xyz", ranges, strict=True)}
        near = {"eye": {"x": 1.4, "y": 1.4, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.2}}
        return {"scene": scene | {"dragmode": "orbit", "camera": near}}
    return {f"{name}axis": {"range": span, **grid} for name, span in zip("xy", ranges, strict=True)}


def _buttons() -> dict[str, Any]:
    moving = {"frame": {"duration": STEP, "redraw": True}, "transition": {"duration": STEP // 2}, "fromcurrent": True}
    still = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "y": -0.16,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"t": 0, "r": 8},
        "font": {"size": 15, "color": "#ffffff"},
        "bgcolor": "#0b7285",
        "bordercolor": "#0b7285",
        "buttons": [
            {"label": "▶ Play", "method": "animate", "args": [None, moving]},
            {"label": "❚❚", "method": "animate", "args": [[None], still]},
        ],
    }


def _slider(layers: int, first: int) -> dict[str, Any]:
    jump = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 200}}
    return {
        "active": first,
        "x": 0.0,
        "len": 1.0,
        "y": -0.16,
        "pad": {"l": 150, "t": -6},
        "tickcolor": theme.MUTED,
        "font": {"size": 14},
        "bgcolor": theme.MUTED,
        "activebgcolor": theme.ACCENT,
        "minorticklen": 0,
        "currentvalue": {"prefix": "Layer ", "font": {"size": 15}, "xanchor": "right", "offset": 4},
        "steps": [{"label": str(layer), "method": "animate", "args": [[str(layer)], jump]} for layer in range(layers)],
    }
