"""Every page runs, with any input, and says what is wrong in one sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from app.menu import PAGES
from tests.conftest import ROOT

ADDRESSES = [entry.address for listed in PAGES.values() for entry in listed]


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


@pytest.mark.parametrize("query", [{"a": ""}, {"a": "   ", "b": "x"}, {"a": "?!"}, {"a": "<script>alert(1)</script>"},
                                   {"a": "word " * 900}, {"model": "no-such-model"}, {"a": "\U0001f600"}],
                         ids=["empty", "spaces", "signs", "markup", "long", "model", "emoji"])
def test_the_start_page_takes_any_input(query):
    app = opened(**query)
    assert not app.exception
    assert len(app.error) <= 1


def test_the_start_page_predicts_and_shows_a_head_without_a_click():
    app = opened()
    assert len(app.get("plotly_chart")) == 2
    assert "coffee" in app.get("plotly_chart")[0].proto.spec


def test_an_empty_sentence_is_said_in_one_sentence():
    assert [error.value for error in opened(a="").error] == ["Sentence A is empty\\: type a few words\\."]


def test_what_was_cut_is_said():
    assert "were cut from the end of sentence A" in opened(a="word " * 700).warning[0].value.replace("\\", "")


def test_the_address_names_model_and_sentences():
    app = opened(a="My dog is cute.", b="He likes playing.")
    assert app.sidebar.text_area(key="a").value == "My dog is cute."
    assert app.sidebar.text_area(key="b").value == "He likes playing."


def test_the_address_cannot_reach_a_folder_of_this_machine(little, tmp_path):
    little.save(tmp_path / "secret")
    app = opened(model=str(tmp_path / "secret"))
    assert "There is no model called" in app.error[0].value
    assert not app.sidebar.caption
