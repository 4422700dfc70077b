"""The list of lessons and how an answer is shown."""

import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.figures import lessons as answers
from model import Bert, BertConfig, tokenizer
from probes.lessons import QuizAnswer
from tests.conftest import ROOT

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_teachers_folder_adds_to_the_list_and_a_file_with_a_mistake_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    shipped = (ROOT / "app" / "lessons" / "2-cloze.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(shipped.replace("The hidden word", "My own"), encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(shipped.replace("[MASK]", "", 1), encoding="utf-8")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    books, trouble = session.lesson_list()
    assert [lesson.title for lesson in books.values()][-1] == "My own"
    assert len(books) == 8
    assert trouble == ["bytes.toml is not a text in UTF-8.", "Question 1 of wrong.toml: the text needs [MASK] in one place."]
    assert session.lesson_file("mine") == (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_options_and_texts_are_shown_as_text():
    html = answers.rows([HOSTILE, "b"], QuizAnswer((0.2, 0.8), "share"), 0) + answers.text(HOSTILE, "a [MASK]")
    assert "<img" not in html
    assert '<span class="blank">?</span>' in html


def test_the_answer_and_the_prediction_are_marked_and_bars_are_in_proportion():
    html = answers.rows("abc", QuizAnswer((0.2, 0.8, -0.4), "cosine"), 0, [3, 1, 0])
    first, second, third = html.split('<div role="listitem"')[1:]
    assert "your prediction · 3 of 4 here" in first
    assert "width:20.0%" in first
    assert "the model · 1 of 4 here" in second
    assert "0.800" in second
    assert "width:0.0%" in third


def _page():
    from app import input_bar, navigation
    from app.views import lessons

    input_bar.show(navigation.entry("attention"))
    lessons.page()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def lesson(title: str, text: str, options: str) -> str:
    return (
        f'title = "{title}"\nabout = "About."\n[[question]]\nkind = "word"\nprompt = "Which?"\ntext = "{text}"\n'
        f"options = [{options}]\n"
    )


def test_two_lessons_of_one_title_are_both_listed(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    for name, word in (("first", "tea"), ("second", "soup")):
        (tmp_path / f"{name}.toml").write_text(lesson("Mine", f"Hot [MASK] and {word}.", '"a", "b"'), encoding="utf-8")
    listed = opened().get("button_group")[0].options  # pyright: ignore[reportAttributeAccessIssue]  # get says Block
    assert [title for title in listed if "Mine" in str(title)] == ["Mine (first)", "Mine (second)"]
    for name, word in (("first", "tea"), ("second", "soup")):
        shown = " ".join(part.proto.body for part in opened(lesson=name).get("html"))
        assert word in shown


@pytest.mark.parametrize(
    "lowercase, words, options, own",
    [(False, "We saw Paris May paris .", '"Paris", "May"', "Paris"), (True, "we saw cafe may .", '"Café", "May"', "cafe")],
)
def test_the_models_first_choice_is_not_repeated_when_it_is_the_option_itself(
    monkeypatch, tmp_path, lowercase, words, options, own
):
    pieces = tokenizer.from_vocabulary(words.split(), lowercase)
    bert = Bert.random_init(BertConfig(pieces.vocab_size, 16, 1, 2, 32, 32), pieces).requires_grad_(False)
    assert bert.mlm is not None
    bert.mlm.bias[pieces.token_to_id(own)] = 9.0
    bert.save(tmp_path / "mine")
    (tmp_path / "a.toml").write_text(lesson("Mine", "We saw [MASK] .", options), encoding="utf-8")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    app = opened(model="mine", lesson="a")
    app.radio[0].set_value(app.radio[0].options[0]).run()
    next(button for button in app.button if button.label == "Ask the model").click().run()
    text = " ".join(part.value for part in app.markdown)
    assert "You predicted it." in text
    assert "first choice" not in text
