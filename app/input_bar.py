"""The bar above a page: model, sentence A, sentence B and examples; what is chosen there stands in the address."""

from pathlib import Path

import streamlit as st

from app import layout, limits, ownership, session
from app.navigation import PageEntry
from app.samples.examples import EXAMPLES, Example
from app.widgets import inputs
from model import Bert, BertscopeError, CheckpointError


def show(entry: PageEntry) -> None:
    """The inputs that this page reads, and no others.

    An address that names a model which is not there is an error, raised when the bar is drawn.
    """
    session.find_models()
    error = None
    if not entry.reads:
        return
    with st.container(key="bar", horizontal=True, vertical_alignment="bottom", gap="small"):
        if "model" in entry.reads:
            try:
                _model()
            except CheckpointError as unknown:
                error = unknown
        if "a" in entry.reads:
            _text("Sentence A", session.DEFAULT_A, "a")
        if "b" in entry.reads:
            _text("Sentence B", session.DEFAULT_B, "b", placeholder="none: one sentence is the input")
        if EXAMPLES.get(entry.address):
            _examples(EXAMPLES[entry.address])
    if error:
        raise error
    if "model" in entry.reads:
        _notes()


def _model() -> None:
    with st.container(key="bar-model", horizontal=True, vertical_alignment="bottom", gap="xxsmall"):
        layout.choice(
            "Model",
            [checkpoint.name for checkpoint in session.models()],
            "model",
            session.DEFAULT_MODEL,
            free=session.hub(),
        )
        with st.popover("", icon=":material/info:", help="About this model"):
            try:
                _card(session.bert())
            except BertscopeError as error:
                st.error(layout.escape(str(error)))


def _notes() -> None:
    """What the checkpoint lacks, where everyone sees it."""
    notes = session.bert().info.notes
    if notes:
        st.caption(f":orange[{layout.escape(' '.join(notes))}]")


def _card(bert: Bert) -> None:
    config = bert.config
    count = sum(parameter.numel() for parameter in bert.parameters())
    st.caption(
        f"{config.num_hidden_layers} layers (L) · hidden size {config.hidden_size} (H) · "
        f"{config.num_attention_heads} heads (A) · {count / 1e6:.1f} M parameters"
    )
    _delete(bert)
    # a card may come from anywhere: its pictures would be fetched from the network
    st.markdown(bert.info.card.replace("![", "["))


def _delete(bert: Bert) -> None:
    """A model that was made in this browser can be deleted here, after a question."""
    folder = session.folder(bert.info.name)
    if ownership.model_owner(folder) != ownership.mark():
        return
    if st.checkbox("Delete this model? It cannot be brought back.", key=f"delete {folder.name}"):
        st.button("Delete it", type="primary", icon=":material/delete:", on_click=_delete_model, args=(folder,))


def _delete_model(folder: Path) -> None:
    ownership.delete_model(folder)
    st.session_state["model"] = session.DEFAULT_MODEL


def _text(label: str, default: str, key: str, placeholder: str | None = None) -> None:
    with st.container(key=f"bar-{key}"):
        st.text_area(
            label,
            default,
            key=key,
            bind="query-params",
            persist_state="session",
            height="content",
            max_chars=limits.TEXT_CHARACTERS,
            placeholder=placeholder,
        )


def _examples(examples: tuple[Example, ...]) -> None:
    with st.container(key="bar-examples", horizontal=True, gap="xxsmall"):
        with st.popover("Examples", icon=":material/lightbulb:"):
            for number, example in enumerate(examples):
                st.button(
                    example.title,
                    key=f"example {number}",
                    on_click=inputs.take,
                    args=(example.inputs,),
                    help=example.shows,
                    type="tertiary",
                )
            # a page loaded anew without an address of its own is a first visit
            st.html('<a class="reset" href="?" target="_self">Back to the start</a>')
        if inputs.PREVIOUS in st.session_state:
            st.button("Undo", key="undo", on_click=inputs.undo)
