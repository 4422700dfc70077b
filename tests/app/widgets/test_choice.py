"""A choice stands in the address by its slug, and whatever the address says, one of the options is chosen."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from app.widgets.choice import choice, choices, select, slider

    options = {"first": "The first one", "second": "The second one (term)", "third": "The third one"}
    st.session_state["chosen"] = [
        choice("Show", options, key="panel"),
        select("Measure", options, key="measure"),
        slider("Token", options, key="token", default="second"),
        choices("Follow", options, key="followed", default=["second"], max_selections=2),
    ]


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_without_an_address_the_defaults_are_chosen_and_the_address_stays_empty():
    app = opened()
    assert app.session_state["chosen"] == ["first", "first", "second", ["second"]]
    assert dict(app.query_params) == {}


def test_slugs_in_the_address_are_chosen_and_stay_there():
    query = {"panel": "second", "measure": "third", "token": "first", "followed": "first-third"}
    app = opened(**query)
    assert app.session_state["chosen"] == ["second", "third", "first", ["first", "third"]]
    assert dict(app.query_params) == query


def test_labels_and_nonsense_in_the_address_choose_the_default():
    app = opened(panel="The second one (term)", measure="<b>", token="99", followed="none-of-these")
    assert app.session_state["chosen"] == ["first", "first", "second", ["second"]]
    assert dict(app.query_params) == {}


def test_more_slugs_than_may_be_chosen_are_cut():
    assert opened(followed="first-second-third").session_state["chosen"][3] == ["first", "second"]


def test_a_choice_moves_the_address():
    app = opened(panel="second")
    app.selectbox(key="measure").set_value("third").run()
    assert app.query_params["measure"] == "third"
    app.selectbox(key="measure").set_value("first").run()
    assert "measure" not in app.query_params
    assert app.query_params["panel"] == "second"
