"""The line to the server: a page that was cut off says so, and comes back where another process answers."""

from functools import cache
from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


def show(door: int | None) -> None:
    """Watch the line of this page; `door` is the port at which another process can be had, where there are several."""
    with st.container(key="connection"):
        _component()(key="line", data={"door": door})


@cache
def _component():
    return st.components.v2.component(  # pyright: ignore[reportAttributeAccessIssue]  # a lazy module
        "connection",
        js=(HERE / "connection.js").read_text(encoding="utf-8"),
        css=(HERE / "connection.css").read_text(encoding="utf-8"),
    )
