"""Page config, navigation and the shared frame: model and sentences in the sidebar."""

import streamlit as st

from app import layout, session
from app.navigation import PAGES
from model import Problem


def main() -> None:
    st.set_page_config(page_title="Bertscope", page_icon=str(layout.ICON), layout="wide")
    st.html(layout.STYLE)
    session.settle()
    chosen = st.navigation({group: [entry.page() for entry in listed] for group, listed in PAGES.items()}, expanded=True)
    try:
        layout.sidebar()
        chosen.run()
    except Problem as problem:
        st.error(layout.plain(str(problem)), icon=":material/error:")


main()
