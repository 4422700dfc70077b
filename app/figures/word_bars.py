"""Predicted words as bars, best first."""

import pandas as pd
import plotly.graph_objects as go

from app.figures import theme


def bars(words: pd.DataFrame, original: str | None = None) -> go.Figure:
    """Columns word and probability -> one bar a word; `original`, as the vocabulary spells it, is in the second colour."""
    colours = [theme.SECOND if word == original else theme.ACCENT for word in words["word"]]
    figure = go.Figure(go.Bar(
        x=words["probability"], y=[theme.shown(word) for word in words["word"]], orientation="h", marker_color=colours,
        text=[f"{share:.1%}" for share in words["probability"]], textposition="outside", cliponaxis=False,
        textfont={"size": 15}, hovertemplate="%{y}: %{x:.2%}<extra></extra>"))
    figure.update_yaxes(autorange="reversed", tickfont={"size": 17}, type="category")
    figure.update_xaxes(visible=False, range=[0, max(0.05, float(words["probability"].max()) * 1.25)])
    return theme.finished(figure, 40 + 36 * len(words)).update_yaxes(tickfont={"size": 17})
