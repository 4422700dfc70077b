"""Points that move from layer to layer: one animated figure with a slider and a play button, in 2-D and 3-D."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from app.figures import label_placement as writing
from app.figures import theme
from probes.states.geometry import Paths

HEIGHT = 620
STEP = 700  # milliseconds from one layer to the next
NAMED = 60  # points that carry their text; of more, it is read by hovering


@dataclass(frozen=True)
class Group:
    """Points of one kind: a name for the legend, a colour, which points."""

    name: str
    colour: str
    members: Sequence[int]


def animated(paths: Paths, texts: Sequence[str], groups: Sequence[Group], followed: Sequence[int] = (),
             hover: Sequence[str] | None = None) -> go.Figure:
    """Every point at each layer in turn, beginning in the middle; a followed point draws its path behind it."""
    said = [theme.shown(text) for text in (hover or texts)]
    labels = np.array([theme.shown(text) for text in texts], dtype=object)
    mode = "markers+text" if len(texts) <= NAMED else "markers"
    frames = [_frame(paths, layer, labels, said, groups, followed, mode) for layer in range(len(paths.points))]
    first = len(frames) // 2
    figure = go.Figure(data=frames[first].data, frames=frames, layout=_still(paths))
    theme.finished(figure, HEIGHT).update_xaxes(showgrid=True).update_yaxes(showgrid=True)
    figure.update_layout(frames[first].layout)
    return figure.update_layout(margin={"b": 100, "l": 8, "r": 8, "t": 60}, legend={"y": 1.02, "yanchor": "bottom"},
                                updatemenus=[_buttons()], sliders=[_slider(len(frames), first)])


def _frame(paths: Paths, layer: int, labels, said, groups, followed, mode) -> go.Frame:
    solid = paths.points.shape[-1] == 3
    kind = go.Scatter3d if solid else go.Scatter
    sides = np.array(["top center"] * len(labels) if solid or mode == "markers" else
                     writing.sides(paths.points[layer], labels, *_corners(paths)))
    drawn = []
    for place, point in enumerate(followed):
        colour = theme.CATEGORIES[(place + 2) % len(theme.CATEGORIES)]
        drawn.append(kind(**_at(paths.points[: layer + 1, point]), mode="lines+markers", name=f"path of {labels[point]}",
                          line={"color": colour, "width": 5 if solid else 2.5}, marker={"size": 4, "color": colour},
                          hovertemplate="layer %{customdata}<extra></extra>", customdata=list(range(layer + 1))))
    for group in groups:
        members = list(group.members)
        drawn.append(kind(**_at(paths.points[layer, members]), mode=mode, name=group.name,
                          text=labels[members], textposition=sides[members], textfont={"size": 14},
                          marker={"size": 4 if solid else 11, "color": group.colour},
                          hovertext=[said[member] for member in members], hovertemplate="%{hovertext}<extra></extra>"))
    titles = [f"axis {axis + 1}: {share:.0%} of layer {layer}" for axis, share in enumerate(paths.explained[layer])]
    if solid:
        layout = {"scene": {f"{name}axis": {"title": {"text": title}} for name, title in zip("xyz", titles, strict=True)}}
    else:
        layout = {f"{name}axis": {"title": {"text": title}} for name, title in zip("xy", titles, strict=True)}
    return go.Frame(data=drawn, name=str(layer), layout=layout)


def _at(points: np.ndarray) -> dict:
    return dict(zip("xyz", np.round(points, 3).T, strict=False))


def _corners(paths: Paths) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest corner of a picture that holds every point at every layer."""
    low, high = paths.points.min(axis=(0, 1)), paths.points.max(axis=(0, 1))
    room = np.maximum((high - low) * 0.12, 0.5)
    return low - room, high + room


def _still(paths: Paths) -> dict:
    """Axes that stay where they are while points move."""
    ranges = [[float(a), float(b)] for a, b in zip(*_corners(paths), strict=True)]
    grid = {"showgrid": True, "gridcolor": "rgba(134,142,150,0.2)", "zeroline": False}
    if len(ranges) == 3:
        grid |= {"backgroundcolor": "rgba(0,0,0,0)", "nticks": 4, "tickfont": {"size": 12}, "title": {"font": {"size": 14}}}
        scene = {f"{name}axis": {"range": span, **grid} for name, span in zip("xyz", ranges, strict=True)}
        near = {"eye": {"x": 1.4, "y": 1.4, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.2}}
        return {"scene": scene | {"dragmode": "orbit", "camera": near}}
    return {f"{name}axis": {"range": span, **grid} for name, span in zip("xy", ranges, strict=True)}


def _buttons() -> dict:
    moving = {"frame": {"duration": STEP, "redraw": True}, "transition": {"duration": STEP // 2}, "fromcurrent": True}
    still = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {"type": "buttons", "direction": "left", "showactive": False, "x": 0, "y": -0.16, "xanchor": "left",
            "yanchor": "top", "pad": {"t": 0, "r": 8}, "font": {"size": 15, "color": "#ffffff"}, "bgcolor": "#0b7285",
            "bordercolor": "#0b7285",
            "buttons": [{"label": "▶ Play", "method": "animate", "args": [None, moving]},
                        {"label": "❚❚", "method": "animate", "args": [[None], still]}]}


def _slider(layers: int, first: int) -> dict:
    jump = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 200}}
    return {"active": first, "x": 0.0, "len": 1.0, "y": -0.16, "pad": {"l": 150, "t": -6}, "tickcolor": theme.MUTED,
            "font": {"size": 14}, "bgcolor": theme.MUTED, "activebgcolor": theme.ACCENT, "minorticklen": 0,
            "currentvalue": {"prefix": "Layer ", "font": {"size": 15}, "xanchor": "right", "offset": 4},
            "steps": [{"label": str(layer), "method": "animate", "args": [[str(layer)], jump]}
                      for layer in range(layers)]}
