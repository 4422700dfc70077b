"""Lines, bands and frames over a chart, as shapes of its layout."""

from typing import Any

Shape = dict[str, Any]


def vertical_line(x: float, line: dict[str, Any], subplot: str = "") -> Shape:
    """A line from the bottom to the top at `x`; `subplot` is the number of its axes, none for the first."""
    return {
        "type": "line",
        "x0": x,
        "x1": x,
        "xref": f"x{subplot}",
        "y0": 0,
        "y1": 1,
        "yref": f"y{subplot} domain",
        "line": line,
    }


def horizontal_line(y: float, line: dict[str, Any], subplot: str = "") -> Shape:
    """A line from the left to the right at `y`; `subplot` is the number of its axes, none for the first."""
    return {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "xref": f"x{subplot} domain",
        "y0": y,
        "y1": y,
        "yref": f"y{subplot}",
        "line": line,
    }


def band(x0: float, x1: float, style: dict[str, Any]) -> Shape:
    """A field from the bottom to the top between `x0` and `x1`, without a border."""
    field = {"type": "rect", "x0": x0, "x1": x1, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain", "line": {"width": 0}}
    return field | style


def frame(x: tuple[float, float], y: tuple[float, float], line: dict[str, Any]) -> Shape:
    """The border of the cells from `x` to `x` and `y` to `y`."""
    return {"type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line}
