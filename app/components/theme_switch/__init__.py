"""Light or dark: a button in the corner that sets the theme Streamlit keeps in the browser."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


def show(addresses: Sequence[str]) -> None:
    """The button; Streamlit keeps a theme for each address, so it is set for all of them."""
    with st.container(key="theme-switch"):
        _component()(key="theme", data={"addresses": list(addresses), "dark": st.context.theme.type == "dark"})


@cache
def _component():
    return st.components.v2.component(  # pyright: ignore[reportAttributeAccessIssue]  # a lazy module
        "theme_switch",
        js=(HERE / "theme_switch.js").read_text(encoding="utf-8"),
        css=(HERE / "theme_switch.css").read_text(encoding="utf-8"),
    )
