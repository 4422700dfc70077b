"""Dependency trees as arcs: the gold one above the words, the predicted one below them."""

from collections.abc import Sequence
from typing import Any

from app.figures import theme
from app.figures.shapes import Shape
from app.figures.theme import Figure

Edges = set[tuple[int, int]]


def against(words: list[str], predicted: Edges, gold: Edges | None) -> Figure:
    """Arcs above for gold edges, below for predicted ones; a predicted edge that is gold is in the accent colour."""
    longest = max([abs(a - b) for a, b in predicted | (gold or set())], default=1)
    arcs = [_arc(edge, 1, theme.MUTED, longest) for edge in gold or ()]
    for edge in predicted:
        correct = gold is None or edge in gold
        arcs.append(_arc(edge, -1, theme.ACCENT if correct else theme.HIGHLIGHT, longest))
    layout = {
        "shapes": arcs,
        "xaxis": {"visible": False, "range": [-0.7, len(words) - 0.3]},
        "yaxis": {"visible": False, "range": [-1.45, 1.45 if gold is not None else 0.3]},
    }
    return theme.apply({"data": [_words(words)], "layout": layout}, 320 if gold is not None else 200)


def gold(words: Sequence[str], heads: Sequence[int], relations: Sequence[str], highlight: int) -> Figure:
    """The tree over a sentence: an arc from each word to its head with the relation's name, one word's arc highlighted."""
    edges = [(word, head) for word, head in enumerate(heads) if head >= 0 and relations[word] != "punct"]
    longest = max((abs(word - head) for word, head in edges), default=1)
    colours = [theme.HIGHLIGHT if word == highlight else theme.MUTED for word, _ in edges]
    names = [
        {
            "x": (word + head) / 2,
            "y": 0.08 + _height(word, head, longest),
            "text": theme.escape(relations[word]),
            "showarrow": False,
            "yanchor": "bottom",
            "font": {"size": 14 if word == highlight else 12} | ({"color": theme.HIGHLIGHT} if word == highlight else {}),
        }
        for word, head in edges
    ]
    layout = {
        "shapes": [_arc(edge, 1, colour, longest) for edge, colour in zip(edges, colours, strict=True)],
        "annotations": names,
        "xaxis": {"visible": False, "range": [-0.7, len(words) - 0.3]},
        "yaxis": {"visible": False, "range": [-0.3, 1.6]},
    }
    return theme.apply({"data": [_words(words)], "layout": layout}, 280)


def _words(words: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": list(range(len(words))),
        "y": [0] * len(words),
        "mode": "text",
        "text": [theme.escape(word) for word in words],
        "textfont": {"size": 15},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }


def _height(a: int, b: int, longest: int) -> float:
    """How high the arc between two words rises."""
    return 0.35 + 0.9 * abs(a - b) / longest


def _arc(edge: tuple[int, int], side: int, colour: str, longest: int) -> Shape:
    """A curve from word to word, above (1) or below (-1) them, the higher the longer the edge."""
    a, b = edge
    height = side * _height(a, b, longest)
    path = f"M {a},{side * 0.16} Q {(a + b) / 2},{2 * height} {b},{side * 0.16}"
    return {"type": "path", "path": path, "line": {"width": 3, "color": colour}}
