"""Published numbers and those of the model at hand, on one axis."""

import pandas as pd

from app.figures import theme
from app.figures.theme import Figure
from probes import papers

MARKS = {
    papers.PUBLISHED: {"symbol": "circle", "color": theme.CATEGORIES[2], "size": 13},
    papers.PUBLISHED_BASELINE: {"symbol": "circle-open", "color": theme.CATEGORIES[2], "size": 12, "line": {"width": 2}},
    papers.OURS: {"symbol": "diamond", "color": theme.ACCENT, "size": 14},
    papers.OUR_BASELINE: {"symbol": "diamond-open", "color": theme.ACCENT, "size": 12, "line": {"width": 2}},
}


def same_axis(rows: pd.DataFrame, axis: str) -> Figure:
    """label, value, kind -> a line a label, a mark a kind; open marks are baselines."""
    labels = list(dict.fromkeys(rows["label"]))
    is_share = bool(rows["value"].between(-1, 1).all())
    number = ".1%" if is_share else ".2f"
    traces = [
        {
            "type": "scatter",
            "x": group["value"].tolist(),
            "y": [theme.escape(label) for label in group["label"]],
            "mode": "markers",
            "name": kind,
            "marker": mark,
            "hovertemplate": f"%{{y}}: %{{x:{number}}}<extra>{kind}</extra>",
        }
        for kind, mark in MARKS.items()
        if not (group := rows[rows["kind"] == kind]).empty
    ]
    layout = {
        "xaxis": {
            "title": {"text": axis},
            "tickformat": ".0%" if is_share else ".1f",
            "nticks": 6,
            "showgrid": True,
            "gridcolor": theme.GRID,
        },
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [theme.escape(label) for label in labels],
            "autorange": "reversed",
        },
        "legend": {"y": 1.0, "yanchor": "bottom"},
    }
    return theme.apply({"data": traces, "layout": layout}, 32 * len(labels) + 130)
