"""Page config, navigation and the shared frame: model and sentences in the sidebar."""

import streamlit as st

from app import frame, state
from app.menu import PAGES
from model import Problem


def main() -> None:
    st.set_page_config(page_title="Bertscope", page_icon=str(frame.ICON), layout="wide")
    st.html(frame.STYLE)
    state.settle()
    chosen = st.navigation({group: [entry.page() for entry in listed] for group, listed in PAGES.items()}, expanded=True)
    try:
        frame.sidebar()
        chosen.run()
    except Problem as problem:
        st.error(frame.plain(str(problem)), icon=":material/error:")


main()
