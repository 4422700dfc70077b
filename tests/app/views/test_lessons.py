"""The list of lessons and how an answer is shown."""

import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.figures import lessons as answers
from model import Bert, BertConfig, tokenizer
from probes.lessons import Answer
from tests.conftest import ROOT

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_teachers_folder_adds_to_the_list_and_a_file_with_a_mistake_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    shipped = (ROOT / "app" / "lessons" / "2-cloze.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(shipped.replace("The hidden word", "My own"), encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(shipped.replace("[MASK]", "", 1), encoding="utf-8")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    found, trouble = session.lesson_list()
    assert [lesson.title for lesson in found.values()][-1] == "My own"
    assert len(found) == 8
    assert trouble == ["bytes.toml is not a text in UTF-8.", "Question 1 of wrong.toml: the text needs [MASK] in one place."]
    assert session.lesson_file("mine") == (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_options_and_texts_are_shown_as_text():
    drawn = answers.rows([HOSTILE, "b"], Answer((0.2, 0.8), "share"), 0) + answers.text(HOSTILE, "a [MASK]")
    assert "<img" not in drawn
    assert '<span class="blank">?</span>' in drawn


def test_the_answer_and_the_prediction_are_marked_and_bars_are_in_proportion():
    drawn = answers.rows("abc", Answer((0.2, 0.8, -0.4), "cosine"), 0, [3, 1, 0])
    first, second, third = drawn.split('<div role="listitem"')[1:]
    assert "your prediction · 3 of 4 here" in first
    assert "width:25.0%" in first
    assert "the model · 1 of 4 here" in second
    assert "0.800" in second
    assert "width:0.0%" in third


def _page():
    from app import layout
    from app.views import lessons
    layout.sidebar()
    lessons.page()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def lesson(title: str, text: str, options: str) -> str:
    return (f'title = "{title}"\nabout = "About."\n[[question]]\nkind = "word"\nask = "Which?"\ntext = "{text}"\n'
            f"options = [{options}]\n")


def test_two_lessons_of_one_title_are_both_listed(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    for name, word in (("first", "tea"), ("second", "soup")):
        (tmp_path / f"{name}.toml").write_text(lesson("Mine", f"Hot [MASK] and {word}.", '"a", "b"'), encoding="utf-8")
    listed = opened().get("button_group")[0].options
    assert [one for one in listed if "Mine" in str(one)] == ["Mine (first)", "Mine (second)"]
    for name, word in (("first", "tea"), ("second", "soup")):
        shown = " ".join(part.proto.body for part in opened(lesson=f"Mine ({name})").get("html"))
        assert word in shown


@pytest.mark.parametrize("lowercase, words, options, own", [
    (False, "We saw Paris May paris .", '"Paris", "May"', "Paris"),
    (True, "we saw cafe may .", '"Café", "May"', "cafe")])
def test_the_models_first_guess_is_not_told_again_when_it_is_the_option_itself(
        monkeypatch, tmp_path, lowercase, words, options, own):
    pieces = tokenizer.from_words(words.split(), lowercase)
    bert = Bert.random(BertConfig(pieces.size, 16, 1, 2, 32, 32), pieces).requires_grad_(False)
    assert bert.mlm is not None
    bert.mlm.bias[pieces.id(own)] = 9.0
    bert.save(tmp_path / "mine")
    (tmp_path / "a.toml").write_text(lesson("Mine", "We saw [MASK] .", options), encoding="utf-8")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    told = " ".join(part.value for part in opened(model="mine", lesson="Mine", predicted="0").markdown)
    assert "You foresaw it." in told
    assert "first guess" not in told
