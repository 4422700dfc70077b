"""The board's choice in the address of the page: layers, heads and positions count from 1 there, as on screen."""

from dataclasses import replace

import streamlit as st

from app.components.board import EDGES, HIDE, UNITS, VIEWS, Choice


def read(start: Choice, layers: int, heads: int, length: int) -> Choice:
    """The choice the address names, from `start` where it names nothing this model and input have."""
    def listed(name: str, known: tuple[str, ...]) -> tuple[str, ...] | None:
        return tuple(word for word in known if word in st.query_params[name].split("-")) if name in asked else None

    def numbers(text: str, below: int) -> list[int]:
        return [int(word) - 1 for word in text.split("-") if word.isdecimal() and 0 < int(word) <= below]

    asked = st.query_params
    found: dict = {"view": asked["view"] if asked.get("view") in VIEWS else None,
                   "unit": asked["unit"] if asked.get("unit") in UNITS else None,
                   "hide": listed("hide", HIDE), "edges": listed("edges", EDGES),
                   "layer": next(iter(numbers(asked.get("layer", ""), layers)), None),
                   "heads": tuple(numbers(asked.get("heads", ""), heads)) or None}
    if asked.get("least", "").isdecimal():
        found["threshold"] = min(90, int(asked["least"])) / 100
    ends = [next(iter(numbers(word, length)), None) for word in asked.get("pin", "").split("~")]
    if len(ends) == 2 and ends != [None, None]:
        found["pin"] = (ends[0], ends[1])
    pairs = [numbers(pair.replace(".", "-"), max(layers, heads)) for pair in asked.get("off", "").split("-") if pair]
    off = tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and pair[0] < layers and pair[1] < heads)
    found["off"] = off if "off" in asked else None
    return replace(start, **{name: value for name, value in found.items() if value is not None})


def write(choice: Choice) -> None:
    """Put the choice into the address; what is as it was at the start is left out."""
    plain = Choice()
    ends = [] if choice.pin is None else ["" if end is None else str(end + 1) for end in choice.pin]
    said = {
        "view": choice.view if choice.view != plain.view else None,
        "layer": str(choice.layer + 1),
        "heads": "-".join(str(head + 1) for head in choice.heads),
        "unit": choice.unit if choice.unit != plain.unit else None,
        "hide": "-".join(choice.hide) or None,
        "edges": "-".join(choice.edges) if choice.edges != plain.edges else None,
        "least": f"{choice.threshold:.0%}".rstrip("%") if choice.threshold else None,
        "pin": "~".join(ends) or None,
        "off": "-".join(f"{layer + 1}.{head + 1}" for layer, head in choice.off) or None,
    }
    for name, value in said.items():
        if value is None and name in st.query_params:
            del st.query_params[name]
        elif value is not None and st.query_params.get(name) != value:
            st.query_params[name] = value
