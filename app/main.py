"""Page config, navigation and the frame of every page: its inputs above, then the page itself."""

import streamlit as st

from app import input_bar, layout, processes
from app.components import connection, theme_switch
from app.navigation import PAGES
from model import BertscopeError


def main() -> None:
    st.set_page_config(page_title="Bertscope", page_icon=str(layout.ICON), layout="wide")
    st.html(layout.STYLE)
    if st.context.theme.type == "dark":
        st.html(layout.DARK_STYLE)
    entries = [entry for group in PAGES.values() for entry in group]
    pages = [entry.page() for entry in entries]
    current = st.navigation(pages, position="top")
    connection.show(processes.door())
    theme_switch.show([entry.address for entry in entries])
    try:
        input_bar.show(entries[pages.index(current)])
        current.run()
    except BertscopeError as error:
        st.error(layout.escape(str(error)), icon=":material/error:")


main()
