"""A Plotly specification on its way to the browser, past Plotly's checks: a test has them check every figure once."""

import base64
from functools import cache
from typing import Any

import numpy as np
import plotly.io
from plotly.basedatatypes import BaseFigure

TYPED = {"i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"}  # numbers of NumPy that a browser has arrays of


class UncheckedFigure(BaseFigure):
    """What Streamlit takes for a figure of Plotly and asks only for its dictionary.

    It checks a plain dictionary property by property: 40 ms for six bars, during which every other reader waits.
    """

    def __init__(self, spec: dict[str, Any]):
        kinds = {trace["type"] for trace in spec["data"]}
        self._spec = _encoded(spec | {"layout": spec["layout"] | {"template": _template(frozenset(kinds))}})

    def to_dict(self) -> dict[str, Any]:
        return self._spec


@cache
def _template(kinds: frozenset[str]) -> dict[str, Any]:
    """The part of Streamlit's own template that says something about these kinds of traces."""
    template = plotly.io.templates[plotly.io.templates.default].to_plotly_json()
    return template | {"data": {kind: traces for kind, traces in template["data"].items() if kind in kinds}}


def _encoded(value: Any) -> Any:
    """Arrays as Plotly's typed arrays: thousands of numbers as text would take twenty times as long."""
    if isinstance(value, dict):
        return {name: _encoded(part) for name, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_encoded(part) for part in value]
    return _typed(value) if isinstance(value, np.ndarray) else value


def _typed(values: np.ndarray) -> Any:
    if values.dtype == np.int64:
        values = values.astype(np.int32)
    kind = values.dtype.newbyteorder("<")
    if kind.str[1:] not in TYPED or not values.size:
        return values.tolist()
    data = base64.b64encode(np.ascontiguousarray(values, kind).data).decode("ascii")
    shape = {"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {}
    return {"dtype": kind.str[1:], "bdata": data} | shape
