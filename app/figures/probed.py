"""The same probe on two models: a line each over the layers, with their random twins and the majority below."""

from collections.abc import Sequence

import plotly.graph_objects as go

from app.figures import theme
from probes.results import Result, table


def beside(results: Sequence[Result], names: Sequence[str]) -> go.Figure:
    """Score by layer with its interval for each result; dotted lines are the baselines of the same colour."""
    figure = go.Figure()
    for place, (result, name) in enumerate(zip(results, names, strict=True)):
        colour, rows = (theme.ACCENT, theme.SECOND)[place % 2], table(result)
        score = "uuas" if result.kind == "tree" else "accuracy"
        figure.add_scatter(x=rows["layer"], y=rows[score], name=theme.shown(name), mode="lines+markers",
                           line={"color": colour, "width": 3},
                           error_y={"type": "data", "array": rows["high"] - rows[score], "symmetric": False,
                                    "arrayminus": rows[score] - rows["low"], "thickness": 1.5})
        figure.add_scatter(x=rows["layer"], y=rows["twin"], name=f"{theme.shown(name)}: its random twin", mode="lines",
                           line={"color": colour, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="layer (0 = embeddings)", dtick=1)
    figure.update_yaxes(title="score on held-out words", tickformat=".0%")
    figure = theme.finished(figure, 440).update_yaxes(showgrid=True, gridcolor="rgba(134,142,150,0.2)")
    return figure.update_layout(legend={"y": 1.02, "yanchor": "bottom"}, margin={"t": 90})
