"""A page that is run again asks the model nothing again."""

import pytest
from streamlit.testing.v1 import AppTest

from model import Bert


def nextsentence_page() -> None:
    from app import layout
    from app.views import nextsentence
    layout.sidebar()
    nextsentence.page()


def states_page() -> None:
    from app import layout
    from app.views import states
    layout.sidebar()
    states.page()


def compare_page() -> None:
    from app import layout
    from app.views import compare
    layout.sidebar()
    compare.page()


@pytest.fixture
def readings(monkeypatch):
    """Every forward pass of any model, as it happens."""
    seen: list[str] = []

    def watch(name: str) -> None:
        compute = getattr(Bert, name)
        monkeypatch.setattr(Bert, name, lambda *given, **more: seen.append(name) or compute(*given, **more))

    watch("forward")
    watch("at")
    return seen


@pytest.mark.parametrize(("page", "query"), [
    (nextsentence_page, {"nsp": "Controls"}), (nextsentence_page, {"nsp": "Evidence"}),
    (nextsentence_page, {"nsp": "A document"}), (states_page, {"section": "Paths"}), (states_page, {"section": "Neurons"}),
    (states_page, {"section": "Word senses"}), (states_page, {"section": "Sentences"}),
    (states_page, {"section": "Neighbours"}), (compare_page, {"ask": "States"})],
    ids=["controls", "evidence", "document", "paths", "neurons", "senses", "sentences", "neighbours", "compared states"])
def test_a_page_that_is_run_again_asks_the_model_nothing_again(page, query, readings):
    app = AppTest.from_function(page, default_timeout=120)
    for name, value in (query | {"model": "smallworld", "left": "smallworld", "right": "smallworld, random weights",
                                 "a": f"Anna likes the {page.__name__}.", "b": f"{query} is there every Friday."}).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    assert readings
    readings.clear()
    app.run()
    assert not app.exception
    assert readings == []
