"""Page config, navigation and the shared frame: model and sentences in the sidebar."""

import gc

import streamlit as st

from app import frame
from app.menu import PAGES
from model import Problem


@st.cache_resource
def _settle() -> None:
    """Take what is imported out of the garbage collector's rounds: it stays for good, and there is much of it."""
    gc.collect()
    gc.freeze()


def main() -> None:
    st.set_page_config(page_title="Bertscope", page_icon=":material/biotech:", layout="wide")
    st.html(frame.STYLE)
    _settle()
    chosen = st.navigation({group: [entry.page() for entry in listed] for group, listed in PAGES.items()}, expanded=True)
    frame.sidebar()
    try:
        chosen.run()
    except Problem as problem:
        st.error(frame.plain(str(problem)), icon=":material/error:")


main()
