"""How a fine-tuning went, drawn beside what it must beat; and the labels of a text, as chips."""

from html import escape

import pandas as pd
import plotly.graph_objects as go

from app.figures import theme
from probes.finetuning.experiment import ARMS, BESIDE, Result

LINES = {"tuned": (theme.ACCENT, "solid", 4), "random": (theme.SECOND, "solid", 3),
         "alone": (theme.CATEGORIES[4], "solid", 3)}
LEVELS = {"frozen": (theme.CATEGORIES[2], "dot", 3), "word_type": (theme.CATEGORIES[3], "dashdot", 2),
          "majority": (theme.MUTED, "dash", 2)}


def course(result: Result) -> go.Figure:
    """Accuracy on the test by training step: what learns as lines, what does not as levels."""
    figure = go.Figure()
    last = max((row[0] for rows in result.courses.values() for row in rows), default=1)
    for arm, (colour, dash, width) in LINES.items():
        rows = result.courses.get(arm, [])
        if arm == "alone" and not result.pairs:
            continue
        figure.add_scatter(x=[row[0] for row in rows], y=[row[1] for row in rows], name=ARMS[arm], mode="lines+markers",
                           line={"color": colour, "dash": dash, "width": width}, marker={"size": 8},
                           hovertemplate="%{y:.1%} after step %{x:,}<extra>%{fullData.name}</extra>")
        if arm in result.scores:
            accuracy, low, high = result.scores[arm]
            figure.add_scatter(x=[last], y=[accuracy], mode="markers", marker={"size": 8, "color": colour}, showlegend=False,
                               error_y={"array": [high - accuracy], "arrayminus": [accuracy - low], "color": colour},
                               hovertemplate=f"{accuracy:.1%}, 95 % interval {low:.0%} to {high:.0%}<extra></extra>")
    for name, (colour, dash, width) in LEVELS.items():
        if name in result.scores and (name != "word_type" or result.unit == "token"):
            figure.add_scatter(x=[0, last], y=[result.scores[name][0]] * 2, name=BESIDE[name], mode="lines",
                               line={"color": colour, "dash": dash, "width": width},
                               hovertemplate="%{y:.1%}<extra>%{fullData.name}</extra>")
    figure.update_xaxes(title="training step", range=[0, last * 1.02])
    figure.update_yaxes(title="right on the test", tickformat=".0%", range=[0, 1.03])
    made = theme.finished(figure, 440).update_yaxes(showgrid=True, gridcolor="rgba(134,142,150,0.25)")
    # below the picture: four names above it would cover it on a phone
    return made.update_layout(legend={"orientation": "h", "y": -0.2, "x": 0, "yanchor": "top", "font": {"size": 14}})


def labelled(rows: pd.DataFrame) -> str:
    """Columns word, label and probability -> a chip a word, as HTML."""
    chips = (f'<span class="chip plain"><b>{escape(str(row.word))}</b><small>{escape(str(row.label))}</small>'
             f"<small>{row.probability:.0%}</small></span>" for row in rows.itertuples())
    return f'<div class="chips">{"".join(chips)}</div>'
