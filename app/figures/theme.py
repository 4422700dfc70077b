"""One look for every figure, in light and in dark: see-through backgrounds, large type, few colours."""

import plotly.graph_objects as go

ACCENT = "#1098ad"
SECOND = "#f08c00"
MUTED = "rgba(134,142,150,0.75)"
CATEGORIES = ["#1098ad", "#f08c00", "#7048e8", "#2f9e44", "#e03131", "#c2255c", "#868e96", "#a17800"]
# from nothing to the accent: the page shows through where the value is low; what is strong is dark on white, bright on black
SEQUENTIAL = [[0.0, "rgba(16,152,173,0.03)"], [0.25, "rgba(16,152,173,0.35)"], [0.6, "rgba(16,130,160,0.8)"],
              [1.0, "rgba(11,90,120,1)"]]
DIVERGING = [[0.0, "rgba(224,100,0,1)"], [0.5, "rgba(134,142,150,0.06)"], [1.0, "rgba(16,120,160,1)"]]
ON_STRONG = "#ffffff"  # type on a strongly coloured cell
BRIGHT_SEQUENTIAL = [[0.0, "rgba(34,184,207,0.03)"], [0.25, "rgba(34,184,207,0.3)"], [0.6, "rgba(34,184,207,0.75)"],
                     [1.0, "rgba(197,246,250,1)"]]
BRIGHT_DIVERGING = [[0.0, "rgba(255,146,43,1)"], [0.5, "rgba(134,142,150,0.06)"], [1.0, "rgba(77,195,247,1)"]]
ON_BRIGHT = "#0b1115"


def finished(figure: go.Figure, height: int) -> go.Figure:
    """The figure with the house's type, margins and background."""
    figure.update_layout(
        height=height, margin={"l": 8, "r": 8, "t": 24, "b": 8}, font={"size": 15},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", dragmode=False,
        hoverlabel={"font": {"size": 15}}, legend={"orientation": "h", "y": 1.12, "x": 0, "font": {"size": 14}})
    figure.update_xaxes(tickfont={"size": 14}, automargin=True, zeroline=False, showgrid=False)
    figure.update_yaxes(tickfont={"size": 14}, automargin=True, zeroline=False, showgrid=False)
    return figure


def for_the_dark(figure: go.Figure) -> None:
    """Give heatmaps scales that grow brighter where those for a white page grow darker, and dark type on them."""
    for trace in figure.select_traces(selector={"type": "heatmap"}):
        for scale, bright in ((SEQUENTIAL, BRIGHT_SEQUENTIAL), (DIVERGING, BRIGHT_DIVERGING)):
            if [list(step) for step in trace.colorscale or ()] == scale:
                trace.colorscale = bright
    figure.for_each_annotation(lambda said: said.update(font={"color": ON_BRIGHT}), {"font.color": ON_STRONG})


def colour_bar(what: str) -> dict:
    """The scale of a map, above it: beside it on a phone it would take the room of the columns."""
    return {"title": {"text": what, "side": "top"}, "orientation": "h", "thickness": 12, "x": 0, "xanchor": "left",
            "y": 1.0, "yanchor": "bottom", "len": 0.6, "tickfont": {"size": 14}, "nticks": 5}


def token_axis(texts: list[str]) -> dict:
    """An axis with a tick a token: by position, so that a word that stands twice keeps two places."""
    return {"tickmode": "array", "tickvals": list(range(len(texts))), "ticktext": [shown(text) for text in texts]}


def shown(text: str) -> str:
    """A token as Plotly may show it: its markup characters disarmed."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
