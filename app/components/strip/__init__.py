"""The token strip: a sentence as chips; a click masks a word and the next one restores it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


@dataclass(frozen=True)
class StripToken:
    """One wordpiece: its text, its word (None for [CLS] and [SEP]) and its segment."""

    text: str
    word: int | None
    segment: int


@dataclass(frozen=True)
class StripSpan:
    """Wordpieces [start, stop) and what happens to them: "mask", "ask" (predicted, but unmasked) or "replace"."""

    start: int
    stop: int
    kind: str
    word: str = ""


def strip(chips: Sequence[StripToken], spans: Sequence[StripSpan], whole_words: bool, key: str) -> list[StripSpan]:
    """Show the chips with `spans` applied, and return the spans after the reader's clicks.

    `spans` is where a strip starts; from then on the browser's own state counts, as long as the key stays.
    """
    data = {"chips": [asdict(chip) for chip in chips], "spans": [asdict(span) for span in spans], "whole": whole_words}
    clicked = _component()(key=key, data=data, default={"spans": data["spans"]}, on_spans_change=_nothing)["spans"]
    return [StripSpan(int(span["start"]), int(span["stop"]), str(span["kind"]), str(span["word"])) for span in clicked or []]


def _nothing() -> None:
    """The spans are read from the component's result; no callback is needed."""


@cache
def _component():
    return st.components.v2.component(  # pyright: ignore[reportAttributeAccessIssue]  # a lazy module
        "token_strip",
        js=(HERE / "strip.js").read_text(encoding="utf-8"),
        css=(HERE / "strip.css").read_text(encoding="utf-8"),
    )
