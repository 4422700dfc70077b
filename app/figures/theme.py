"""One look for every figure, in light and in dark: see-through backgrounds, large type, few colours."""

import plotly.graph_objects as go

ACCENT = "#1098ad"
SECOND = "#f08c00"
MUTED = "rgba(134,142,150,0.75)"
CATEGORIES = ["#1098ad", "#f08c00", "#7048e8", "#2f9e44", "#e03131", "#c2255c", "#868e96", "#a17800"]
# from nothing to the accent: the page shows through where the value is low, so it works on white and on black
SEQUENTIAL = [[0.0, "rgba(16,152,173,0.03)"], [0.25, "rgba(16,152,173,0.35)"], [0.6, "rgba(16,130,160,0.8)"],
              [1.0, "rgba(11,90,120,1)"]]
DIVERGING = [[0.0, "rgba(224,100,0,1)"], [0.5, "rgba(134,142,150,0.06)"], [1.0, "rgba(16,120,160,1)"]]


def finished(figure: go.Figure, height: int) -> go.Figure:
    """The figure with the house's type, margins and background."""
    figure.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 24, "b": 8}, font={"size": 15},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", dragmode=False,
        hoverlabel={"font": {"size": 15}}, legend={"orientation": "h", "y": 1.12, "x": 0, "font": {"size": 14}})
    figure.update_xaxes(tickfont={"size": 14}, automargin=True, zeroline=False, showgrid=False)
    figure.update_yaxes(tickfont={"size": 14}, automargin=True, zeroline=False, showgrid=False)
    return figure


def token_axis(texts: list[str]) -> dict:
    """An axis with a tick a token: by position, so that a word that stands twice keeps two places."""
    return {"tickmode": "array", "tickvals": list(range(len(texts))), "ticktext": [shown(text) for text in texts]}


def shown(text: str) -> str:
    """A token as Plotly may show it: its markup characters disarmed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
