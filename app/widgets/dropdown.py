"""One of many options in a list; what stands in the address is a short slug, never the label."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def dropdown(
    label: str,
    options: dict[str, str],
    key: str,
    default: str | None = None,
    help: str | None = None,
    column: DeltaGenerator | None = None,
) -> str:
    """A select box over {slug: label}, in a column of the page where one is named; the slug stands in the address.

    An option that is gone, or that a link names and that is not there, gives way to `default`, or else to the first.
    """
    linked = st.session_state.get(key, st.query_params.get(key, ""))
    st.session_state[key] = linked if linked in options else default or next(iter(options))
    slug = (column or st).selectbox(
        label, list(options), format_func=options.__getitem__, key=key, help=help, required=True, persist_state="session"
    )
    st.query_params[key] = slug
    return slug
