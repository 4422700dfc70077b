"""What every page shares: its title, charts with their finding, a choice among models."""

import html
import re
from pathlib import Path

import streamlit as st

from app import session
from app.figures import theme
from app.figures.theme import Figure
from app.plotly_figure import UncheckedFigure
from model import CheckpointError

STYLE = Path(__file__).parent / "style.css"
DARK_STYLE = Path(__file__).parent / "style_dark.css"
ICON = Path(__file__).parent / "icon.svg"
NAMED = 12  # models listed in one sentence


def title(name: str, question: str) -> None:
    """The heading of a page and the question it answers, in one line."""
    st.html(f'<div class="page-title"><h1>{html.escape(name)}</h1><p>{html.escape(question)}</p></div>')


def chart(figure: Figure, finding: str, alt: str, key: str, help: str | None = None) -> None:
    """A figure below one line with its finding, how to read it behind a "?", and a description for the blind."""
    dark = st.context.theme.type == "dark"
    spec = theme.with_ink(theme.to_dark(figure) if dark else figure, theme.INK["dark" if dark else "light"])
    st.caption(finding, help=help)
    st.plotly_chart(UncheckedFigure(spec), key=key, alt=alt, config={"displaylogo": False, "displayModeBar": False})


def choice(label: str, names: list[str], key: str, default: str, free: bool = False, help: str | None = None) -> str:
    """A choice among models that stands in the address; one that is not there is said, never replaced by another."""
    address, now, unknown_key = st.query_params.get(key), st.session_state.get(key), f"{key} that is not there"
    for name in filter(None, (address, now)):
        if free and name not in names and session.offered(name):
            names = [*names, name]
    if now in names:
        st.session_state.pop(unknown_key, None)
    elif address and address not in names:
        st.session_state[unknown_key] = address  # Streamlit takes it out of the address
    unknown, first = st.session_state.get(unknown_key), default if default in names else names[0]
    chosen = st.selectbox(
        label,
        names,
        key=key,
        bind="query-params",
        accept_new_options=free,
        help=help,
        index=None if unknown else names.index(first),
        placeholder="Choose one that is here",
    )
    if unknown:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        raise CheckpointError(f"There is no model called {unknown} here. There are: {', '.join(names[:NAMED])}{more}.")
    return chosen or first


def escape(text: str) -> str:
    """Text that Markdown shows as it is, whatever signs it is made of."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$:~&^=])", r"\\\1", text.replace("\n", " "))


def input_note(sentence: str) -> None:
    """What was cut or not understood of the input, if anything."""
    if sentence:
        st.warning(escape(sentence), icon=":material/content_cut:")
