"""The list of lessons and how an answer is shown."""

from app import state
from app.figures import answers
from probes.lessons import Answer
from tests.conftest import ROOT

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_teachers_folder_adds_to_the_list_and_a_file_with_a_mistake_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTSCOPE_LESSONS", str(tmp_path))
    shipped = (ROOT / "app" / "lessons" / "2-cloze.toml").read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(shipped.replace("The hidden word", "My own"), encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(shipped.replace("[MASK]", "", 1), encoding="utf-8")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    found, trouble = state.lesson_list()
    assert [lesson.title for lesson in found.values()][-1] == "My own"
    assert len(found) == 8
    assert trouble == ["bytes.toml is not a text in UTF-8.", "Question 1 of wrong.toml: the text needs [MASK] in one place."]
    assert state.lesson_file("mine") == (tmp_path / "mine.toml").read_text(encoding="utf-8")


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
