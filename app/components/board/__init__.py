"""The attention board: every head of every layer in one canvas, with three views of the same numbers."""

import html
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path

import numpy as np
import streamlit as st

from app.components.board.payload import describe_tokens, pack

HERE = Path(__file__).parent
PARTS = ("payload.js", "weights.js", "pens.js", "views.js", "controls.js", "saving.js", "board.js")
VIEWS, UNITS, EDGES, HIDE = (
    ("model", "head", "heatmap"),
    ("pieces", "words"),
    ("AA", "AB", "BA", "BB"),
    ("special", "punctuation"),
)

PAGE_STYLE = """:root { color-scheme: light dark; --st-background-color: #fcfcfa; --st-text-color: #17212b;
  --st-primary-color: #0b7285; }
@media (prefers-color-scheme: dark) { :root { --st-background-color: #11181d; --st-text-color: #e9eef0;
  --st-primary-color: #22b8cf; --st-border-color: #3a4952; --st-secondary-background-color: #1b252c; } }
body { margin: 24px; background: var(--st-background-color); color: var(--st-text-color); }
h1 { font: 600 22px system-ui, sans-serif; }"""


@dataclass(frozen=True)
class BoardState:
    """What is selected: view, layer, heads, filters, the pinned pair of tokens and the heads switched off."""

    view: str = "model"
    layer: int = 0
    heads: tuple[int, ...] = (0,)
    unit: str = "pieces"
    hide: tuple[str, ...] = ()
    edges: tuple[str, ...] = EDGES
    threshold: float = 0.0
    pin: tuple[int | None, int | None] | None = None  # positions of the query and of the key
    off: tuple[tuple[int, int], ...] = field(default=())

    def to_message(self) -> dict:
        """As the browser holds it."""
        pin = None if self.pin is None else {"query": self.pin[0], "key": self.pin[1]}
        return asdict(self) | {"pin": pin}

    @classmethod
    def from_message(cls, message: dict) -> "BoardState":
        """From what the browser sent; fields it left out are as at the start."""
        values = {f.name: message[f.name] for f in fields(cls) if f.name in message}
        pin = values.get("pin")
        values["pin"] = None if not pin else (pin["query"], pin["key"])
        for name in ("heads", "hide", "edges"):
            values[name] = tuple(values.get(name, getattr(cls, name)))
        values["off"] = tuple((int(layer), int(head)) for layer, head in values.get("off", ()))
        return cls(**values)


@dataclass(frozen=True, eq=False)
class BoardData:
    """Values (layers, heads, query, key) over tokens, with the words that describe them.

    Values that are negative anywhere are drawn as differences; rows that sum to one are renormalised when tokens
    are hidden.
    """

    values: np.ndarray
    tokens: Sequence[str]
    segments: Sequence[int] | None = None  # 0 is A, 1 is B: brings the filters between sentences
    words: Sequence[int | None] | None = None  # running number of each token's word, None for [CLS] and [SEP]
    layers: Sequence[int] | None = None  # which layers these are, when not all `every_layer` are here
    every_layer: int | None = None
    notes: Sequence[Sequence[str]] | None = None  # (layers, heads) a few words on each head
    quantity: str = "Attention"
    meaning: str = ""  # one sentence below the picture


def board(
    data: BoardData, *, choice: BoardState | None = None, turn: int = 0, switchable: bool = False, key: str = "board"
) -> BoardState:
    """Show the values and return what the user has chosen.

    `choice` is where the board starts; it goes there again when `turn` changes. With `switchable` heads can be
    clicked off: which ones comes back in the choice, the values stay as they are.
    """
    payload = _pack(data, choice or BoardState(), turn, switchable)
    _component()(key=key, data=payload, on_choice_change=_nothing)
    return state(key, choice or BoardState(), turn)


def state(key: str, start: BoardState, turn: int = 0) -> BoardState:
    """What the user has chosen on the board with this key since `turn`, also before it is shown; else `start`."""
    message = (st.session_state.get(key) or {}).get("choice")
    return BoardState.from_message(message) if message and message.get("turn") == turn else start


def document(data: BoardData, title: str, choice: BoardState | None = None, generator: str = "Bertscope") -> str:
    """A page of its own with the board in it, and what made it: one file, no server, no network."""
    payload = b64encode(_pack(data, choice or BoardState(), 0, False)).decode()
    script = _script().replace("export default function", "function mount")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="generator" content="{html.escape(generator)}">
<title>{html.escape(title)}</title>
<style>
{PAGE_STYLE}
{_source("board.css")}
</style></head><body><h1>{html.escape(title)}</h1><div id="board"></div>
<script type="module">
{script}
mount({{ data: "{payload}", parentElement: document.getElementById("board"), setStateValue() {{}} }});
</script></body></html>
"""


def _pack(data: BoardData, choice: BoardState, turn: int, switchable: bool) -> bytes:
    values = np.asarray(data.values, np.float32)
    notes = None if data.notes is None else [list(row) for row in data.notes]
    return pack(
        values,
        describe_tokens(data.tokens, data.segments, data.words)
        | {
            "layers": list(range(len(values)) if data.layers is None else data.layers),
            "everyLayer": data.every_layer or len(values),
            "notes": notes,
            "quantity": data.quantity,
            "meaning": data.meaning,
            "switchable": switchable,
            "choice": choice.to_message(),
            "turn": turn,
        },
    )


def _nothing() -> None:
    """The browser's choice is read from the component's result; no callback is needed."""


@cache
def _component():
    return st.components.v2.component("attention_board", js=_script(), css=_source("board.css"))  # pyright: ignore[reportAttributeAccessIssue]  # a lazy module


@cache
def _script() -> str:
    return "\n".join(_source(name) for name in PARTS)


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
