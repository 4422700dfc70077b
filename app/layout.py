"""What every page shares: its title, the sidebar, charts with their explanation."""

import re
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from app import limits, session
from app.figures import theme
from model import CheckpointProblem, Problem

STYLE = Path(__file__).parent / "style.css"
ICON = Path(__file__).parent / "icon.svg"
NAMED = 12  # models listed in one sentence
INK = {"light": "#17212b", "dark": "#e9eef0"}  # textColor of the two themes


def title(name: str, answers: str) -> None:
    """The heading of a page and the one question it answers."""
    st.title(name, anchor=False)
    st.markdown(answers)


def chart(figure: go.Figure, looking: str, alt: str, key: str) -> None:
    """A figure with one line on what you are looking at, and its description for those who cannot see it."""
    ink = INK["light"]
    if st.context.theme.type == "dark":
        ink = INK["dark"]
        theme.for_the_dark(figure)
        figure.update_traces(insidetextfont={"color": ink}, selector={"type": "bar"})  # plotly thinks the page is white
    figure.update_layout(font={"color": ink})
    figure.update_xaxes(tickfont={"color": ink}, title={"font": {"color": ink}})
    figure.update_yaxes(tickfont={"color": ink}, title={"font": {"color": ink}})
    st.caption(looking)
    st.plotly_chart(figure, key=key, alt=alt, config={"displaylogo": False, "displayModeBar": False})


def sidebar() -> None:
    """The model and the sentences, bound to the URL so that a link reopens exactly this.

    An address that names a model which is not there is a problem, raised when the sidebar is drawn.
    """
    session.find_models()
    problem = None
    with st.sidebar:
        try:
            choice("Model", [found.name for found in session.models()], "model", session.DEFAULT_MODEL, free=session.hub(),
                   help="Shipped models and the checkpoints in the models folder; one that is called like a shipped model "
                        f"has its folder behind its name, such as english ({session.models_folder().name})."
                        + (" Or type a Hugging Face name." if session.hub() else ""))
            _card()
        except CheckpointProblem as unknown:
            problem = unknown
        st.text_area("Sentence A", session.DEFAULT_A, key="a", bind="query-params", height=110,
                     max_chars=limits.TEXT_CHARACTERS)
        st.text_area("Sentence B (optional)", session.DEFAULT_B, key="b", bind="query-params", height=90,
                     max_chars=limits.TEXT_CHARACTERS,
                     help="With a second sentence the input is a pair: [CLS] A [SEP] B [SEP].")
    if problem:
        raise problem


def choice(label: str, names: list[str], key: str, default: str, free: bool = False, help: str | None = None) -> str:
    """A choice among models that stands in the address; one that is not there is said, never replaced by another."""
    address, now, kept = st.query_params.get(key), st.session_state.get(key), f"{key} that is not there"
    for name in filter(None, (address, now)):
        if free and name not in names and session.offered(name):
            names = [*names, name]
    if now in names:
        st.session_state.pop(kept, None)
    elif address and address not in names:
        st.session_state[kept] = address  # Streamlit takes it out of the address
    unknown, first = st.session_state.get(kept), default if default in names else names[0]
    chosen = st.selectbox(label, names, key=key, bind="query-params", accept_new_options=free, help=help,
                          index=None if unknown else names.index(first), placeholder="Choose one that is here")
    if unknown:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        raise CheckpointProblem(f"There is no model called {unknown} here. There are: {', '.join(names[:NAMED])}{more}.")
    return chosen or first


def _card() -> None:
    try:
        bert = session.bert()
    except Problem as problem:
        st.error(plain(str(problem)))
        return
    config = bert.config
    total = sum(parameter.numel() for parameter in bert.parameters())
    st.caption(f"{config.num_hidden_layers} layers · hidden {config.hidden_size} · {config.num_attention_heads} heads · "
               f"{total / 1e6:.1f} M parameters")
    for note in bert.about.notes:
        st.caption(f":orange[{plain(note)}]")
    if bert.about.card:
        with st.popover("Model card", icon=":material/description:"):
            # a card may come from anywhere: its pictures would be fetched from the network
            st.markdown(bert.about.card.replace("![", "["))


def plain(text: str) -> str:
    """Text that Markdown shows as it is, whatever signs it is made of."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$:~&^=])", r"\\\1", text.replace("\n", " "))


def notes(said: str) -> None:
    """What was cut or not understood of the input, if anything."""
    if said:
        st.warning(plain(said), icon=":material/content_cut:")
