"""Several charts in one figure: a layout whose axes share the picture, row by row from the top left."""

from collections.abc import Sequence
from typing import Any


def layout(
    rows: int,
    columns: int,
    vertical_spacing: float = 0.0,
    horizontal_spacing: float = 0.0,
    titles: Sequence[str] = (),
    title_size: int = 16,
    shared_x: bool = False,
    shared_y: bool = False,
) -> dict[str, Any]:
    """Axes with their domains, and a title above each; shared axes have numbers at the bottom and on the left only."""
    across, down = _domains(columns, horizontal_spacing), _domains(rows, vertical_spacing)[::-1]
    spec: dict[str, Any] = {}
    for index in range(rows * columns):
        row, column = divmod(index, columns)
        x: dict[str, Any] = {"anchor": f"y{_number(index)}", "domain": across[column]}
        y: dict[str, Any] = {"anchor": f"x{_number(index)}", "domain": down[row]}
        if shared_x and row < rows - 1:
            x |= {"matches": f"x{_number((rows - 1) * columns + column)}", "showticklabels": False}
        if shared_y and column > 0:
            y |= {"matches": f"y{_number(row * columns)}", "showticklabels": False}
        spec |= {f"xaxis{_number(index)}": x, f"yaxis{_number(index)}": y}
    places = [(sum(across[index % columns]) / 2, down[index // columns][1]) for index in range(len(titles))]
    return spec | {"annotations": [_title(text, x, y, title_size) for text, (x, y) in zip(titles, places, strict=True)]}


def axes(index: int) -> dict[str, str]:
    """What a trace says to be drawn in the chart with this index."""
    return {"xaxis": f"x{_number(index)}", "yaxis": f"y{_number(index)}"}


def _number(index: int) -> str:
    """Plotly's axes are called x, x2, x3."""
    return "" if index == 0 else str(index + 1)


def _domains(count: int, spacing: float) -> list[list[float]]:
    size = (1 - spacing * (count - 1)) / count
    return [[index * (size + spacing), index * (size + spacing) + size] for index in range(count)]


def _title(text: str, x: float, y: float, size: int) -> dict[str, Any]:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": size},
    }
