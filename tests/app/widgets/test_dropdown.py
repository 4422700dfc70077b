"""A choice from a list: the slug stands in the address, the label on the screen."""

import pytest
from streamlit.testing.v1 import AppTest


def one_dropdown() -> None:
    import streamlit as st

    from app.widgets.dropdown import dropdown

    options = {"first": "The first one", "second": "Another"} | st.session_state.get("more", {})
    st.write(dropdown("Which", options, "which", default="second"))


@pytest.mark.parametrize(("linked", "opened"), [(None, "second"), ("first", "first"), ("The first one", "second")])
def test_a_link_opens_its_slug_and_nothing_else(linked, opened):
    app = AppTest.from_function(one_dropdown, default_timeout=60)
    if linked:
        app.query_params["which"] = linked
    app.run()
    assert app.markdown[0].value == opened
    assert app.query_params["which"] == opened
    assert app.selectbox(key="which").options == ["The first one", "Another"]


def test_an_option_that_is_gone_gives_way_to_the_default():
    app = AppTest.from_function(one_dropdown, default_timeout=60)
    app.session_state["more"] = {"third": "A deleted one"}
    app.run()
    app.selectbox(key="which").select("third").run()
    assert app.query_params["which"] == "third"
    app.session_state["more"] = {}
    app.run()
    assert not app.exception
    assert app.markdown[0].value == "second"
