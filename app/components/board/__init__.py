"""The attention board: every head of every layer in one canvas, with three views of the same numbers."""

import html
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path

import numpy as np
import streamlit as st

from app.components.board.payload import packed, tokens_of

HERE = Path(__file__).parent
PARTS = ("payload.js", "weights.js", "pens.js", "views.js", "controls.js", "saving.js", "board.js")
VIEWS, UNITS, EDGES, HIDE = ("model", "head", "heatmap"), ("pieces", "words"), ("AA", "AB", "BA", "BB"), (
    "special", "punctuation")

PAGE_STYLE = """:root { color-scheme: light dark; --st-background-color: #fcfcfa; --st-text-color: #17212b;
  --st-primary-color: #0b7285; }
@media (prefers-color-scheme: dark) { :root { --st-background-color: #11181d; --st-text-color: #e9eef0;
  --st-primary-color: #22b8cf; --st-border-color: #3a4952; --st-secondary-background-color: #1b252c; } }
body { margin: 24px; background: var(--st-background-color); color: var(--st-text-color); }
h1 { font: 600 22px system-ui, sans-serif; }"""


@dataclass(frozen=True)
class Choice:
    """What is looked at: view, layer, heads, filters, the pinned pair of tokens and the heads switched off."""

    view: str = "model"
    layer: int = 0
    heads: tuple[int, ...] = (0,)
    unit: str = "pieces"
    hide: tuple[str, ...] = ()
    edges: tuple[str, ...] = EDGES
    threshold: float = 0.0
    pin: tuple[int | None, int | None] | None = None  # positions of the token that looks and of the one looked at
    off: tuple[tuple[int, int], ...] = field(default=())

    def sent(self) -> dict:
        """As the browser keeps it."""
        pin = None if self.pin is None else {"query": self.pin[0], "key": self.pin[1]}
        return asdict(self) | {"pin": pin}

    @classmethod
    def received(cls, told: dict) -> "Choice":
        """From what the browser told."""
        known = {f.name: told[f.name] for f in fields(cls) if f.name in told}
        pin = known.get("pin")
        known["pin"] = None if not pin else (pin["query"], pin["key"])
        for name in ("heads", "hide", "edges"):
            known[name] = tuple(known.get(name, getattr(cls, name)))
        known["off"] = tuple((int(layer), int(head)) for layer, head in known.get("off", ()))
        return cls(**known)


@dataclass(frozen=True, eq=False)
class Picture:
    """Values (layers, heads, query, key) over tokens, and what can be said of them.

    Values that are negative anywhere are drawn as differences; rows that sum to one are renormalised when tokens
    are hidden.
    """

    values: np.ndarray
    tokens: Sequence[str]
    segments: Sequence[int] | None = None  # 0 is A, 1 is B: brings the filters between sentences
    words: Sequence[int | None] | None = None  # running number of each token's word, None for [CLS] and [SEP]
    layers: Sequence[int] | None = None  # which layers these are, when not all `every_layer` are given
    every_layer: int | None = None
    notes: Sequence[Sequence[str]] | None = None  # (layers, heads) a few words on each head
    quantity: str = "Attention"
    meaning: str = ""  # one sentence below the picture


def board(picture: Picture, *, choice: Choice | None = None, turn: int = 0, switchable: bool = False,
          key: str = "board") -> Choice:
    """Show a picture and return what the user has chosen.

    `choice` is where the board starts; it goes there again when `turn` changes. With `switchable` heads can be
    clicked off: which ones comes back in the choice, the values stay as given.
    """
    data = _packed(picture, choice or Choice(), turn, switchable)
    _component()(key=key, data=data, on_choice_change=_nothing)
    return chosen(key, choice or Choice(), turn)


def chosen(key: str, start: Choice, turn: int = 0) -> Choice:
    """What the user has chosen on the board with this key since `turn`, also before it is shown; else `start`."""
    told = (st.session_state.get(key) or {}).get("choice")
    return Choice.received(told) if told and told.get("turn") == turn else start


def document(picture: Picture, title: str, choice: Choice | None = None) -> str:
    """A page of its own with the board in it: one file, no server, no network."""
    data = b64encode(_packed(picture, choice or Choice(), 0, False)).decode()
    script = _script().replace("export default function", "function mount")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title>
<style>
{PAGE_STYLE}
{_source("board.css")}
</style></head><body><h1>{html.escape(title)}</h1><div id="board"></div>
<script type="module">
{script}
mount({{ data: "{data}", parentElement: document.getElementById("board"), setStateValue() {{}} }});
</script></body></html>
"""


def _packed(picture: Picture, choice: Choice, turn: int, switchable: bool) -> bytes:
    values = np.asarray(picture.values, np.float32)
    notes = None if picture.notes is None else [list(row) for row in picture.notes]
    return packed(values, tokens_of(picture.tokens, picture.segments, picture.words) | {
        "layers": list(range(len(values)) if picture.layers is None else picture.layers),
        "everyLayer": picture.every_layer or len(values), "notes": notes, "quantity": picture.quantity,
        "meaning": picture.meaning, "switchable": switchable, "choice": choice.sent(), "turn": turn})


def _nothing() -> None:
    """The browser's choice is read from the component's result; no callback is needed."""


@cache
def _component():
    return st.components.v2.component("attention_board", js=_script(), css=_source("board.css"))


@cache
def _script() -> str:
    return "\n".join(_source(name) for name in PARTS)


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
