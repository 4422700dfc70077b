"""The board's state in the address of the page, counted as on screen: layers and heads from 1, positions from 0."""

from dataclasses import replace

import streamlit as st

from app.components.board import EDGES, HIDE, UNITS, VIEWS, BoardState


def decode(start: BoardState, layers: int, heads: int, length: int) -> BoardState:
    """The state the address names, from `start` where it names nothing this model and input have."""
    params = st.query_params

    def listed(name: str, known: tuple[str, ...]) -> tuple[str, ...] | None:
        return tuple(word for word in known if word in params[name].split("-")) if name in params else None

    def numbers(text: str, below: int) -> list[int]:
        return [int(word) - 1 for word in text.split("-") if word.isdecimal() and 0 < int(word) <= below]

    fields: dict = {
        "view": params["view"] if params.get("view") in VIEWS else None,
        "unit": params["unit"] if params.get("unit") in UNITS else None,
        "hide": listed("hide", HIDE),
        "edges": listed("edges", EDGES),
        "layer": next(iter(numbers(params.get("layer", ""), layers)), None),
        "heads": tuple(numbers(params.get("heads", ""), heads)) or None,
    }
    if params.get("least", "").isdecimal():
        fields["threshold"] = min(90, int(params["least"])) / 100
    ends = [int(word) if word.isdecimal() and int(word) < length else None for word in params.get("pin", "").split("~")]
    if len(ends) == 2 and ends != [None, None]:
        fields["pin"] = (ends[0], ends[1])
    pairs = [numbers(pair.replace(".", "-"), max(layers, heads)) for pair in params.get("off", "").split("-") if pair]
    off = tuple((pair[0], pair[1]) for pair in pairs if len(pair) == 2 and pair[0] < layers and pair[1] < heads)
    fields["off"] = off if "off" in params else None
    return replace(start, **{name: value for name, value in fields.items() if value is not None})


def encode(state: BoardState, ablated: bool) -> None:
    """Put the state into the address; what is as it was at the start is left out.

    Where heads are switched off to begin with (`ablated`), that none is off any more is said by a 0.
    """
    plain = BoardState()
    ends = [] if state.pin is None else ["" if end is None else str(end) for end in state.pin]
    params = {
        "view": state.view if state.view != plain.view else None,
        "layer": str(state.layer + 1),
        "heads": "-".join(str(head + 1) for head in state.heads),
        "unit": state.unit if state.unit != plain.unit else None,
        "hide": "-".join(state.hide) or None,
        "edges": "-".join(state.edges) if state.edges != plain.edges else None,
        "least": f"{state.threshold:.0%}".rstrip("%") if state.threshold else None,
        "pin": "~".join(ends) or None,
        "off": "-".join(f"{layer + 1}.{head + 1}" for layer, head in state.off) or ("0" if ablated else None),
    }
    for name, value in params.items():
        if value is None and name in st.query_params:
            del st.query_params[name]
        elif value is not None and st.query_params.get(name) != value:
            st.query_params[name] = value
