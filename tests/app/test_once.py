"""A page that is run again asks the model nothing again."""

import pytest
from streamlit.testing.v1 import AppTest

from model import Bert


def nextsentence_page() -> None:
    from app import input_bar, navigation
    from app.views import nextsentence

    input_bar.show(navigation.entry("attention"))
    nextsentence.page()


def states_page() -> None:
    from app import input_bar, navigation
    from app.views import states

    input_bar.show(navigation.entry("attention"))
    states.page()


def compare_page() -> None:
    from app import input_bar, navigation
    from app.views import compare

    input_bar.show(navigation.entry("attention"))
    compare.page()


def mask_page() -> None:
    from app import input_bar, navigation
    from app.views import mask

    input_bar.show(navigation.entry("attention"))
    mask.page()


def strategies_page() -> None:
    from app import input_bar, navigation
    from app.views import strategies

    input_bar.show(navigation.entry("attention"))
    strategies.page()


def probes_page() -> None:
    from app import input_bar, navigation
    from app.views import probes

    input_bar.show(navigation.entry("attention"))
    probes.page()


@pytest.fixture
def readings(monkeypatch):
    """Every forward pass of any model, as it happens."""
    passes: list[str] = []

    def count(name: str) -> None:
        compute = getattr(Bert, name)
        monkeypatch.setattr(Bert, name, lambda *args, **kwargs: passes.append(name) or compute(*args, **kwargs))

    count("forward")
    count("states_at")
    return passes


@pytest.mark.parametrize(
    ("page", "query"),
    [
        (nextsentence_page, {"nsp": "perturbations"}),
        (nextsentence_page, {"nsp": "evidence"}),
        (nextsentence_page, {"nsp": "document"}),
        (states_page, {"section": "paths"}),
        (states_page, {"section": "neurons"}),
        (states_page, {"section": "senses"}),
        (states_page, {"section": "sentences"}),
        (states_page, {"section": "neighbours"}),
        (compare_page, {"ask": "states"}),
        (mask_page, {"look": "likelihood"}),
        (strategies_page, {"question": "model", "passage": "story"}),
        (probes_page, {"result": "smallworld", "side": "live", "typed": "Anna likes the live probe."}),
    ],
    ids=[
        "perturbations",
        "evidence",
        "document",
        "paths",
        "neurons",
        "senses",
        "sentences",
        "neighbours",
        "compared states",
        "likelihood",
        "strategies",
        "live probe",
    ],
)
def test_a_page_that_is_run_again_asks_the_model_nothing_again(page, query, readings):
    app = AppTest.from_function(page, default_timeout=120)
    for name, value in (
        query
        | {
            "model": "smallworld",
            "left": "smallworld",
            "right": "smallworld~random",
            "a": f"Anna likes the {page.__name__}.",
            "b": f"{query} is there every Friday.",
        }
    ).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    assert readings
    readings.clear()
    app.run()
    assert not app.exception
    assert readings == []
