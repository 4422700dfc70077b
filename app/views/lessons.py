"""Lessons: predict first, then let the model answer."""

from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st

from app import layout, ownership, room, session
from app.figures import lessons as figures
from app.widgets.choice import choice
from model import BertscopeError
from probes import cloze
from probes.lessons import Lesson, QuizAnswer, QuizItem


def page() -> None:
    layout.title("Lessons", "Predict first; then the model answers, and you look for yourself why.")
    books, trouble = session.lesson_list()
    for sentence in trouble:
        st.warning(layout.escape(sentence), icon=":material/error:")
    name = choice("Lesson", _titles(books), key="lesson", on_change=_begin)
    lesson = books[name]
    source = f" After {lesson.source}." if lesson.source else ""
    st.caption(layout.escape(f"{lesson.about} About {lesson.minutes} minutes.{source}"))
    numbers = [str(number) for number in range(1, len(lesson.questions) + 1)]
    index = numbers.index(choice("Question", dict(zip(numbers, numbers, strict=True)), key="number"))
    predictions = _predictions(name, lesson)
    with st.container(border=True, key="question"):
        _question(name, lesson, index, predictions)
    _score(lesson, predictions)
    _own_lesson(name)


def _titles(books: dict[str, Lesson]) -> dict[str, str]:
    """The lessons as they are listed: name -> title; two of one title are distinguished by the names of their files."""
    titles = [lesson.title for lesson in books.values()]
    return {
        name: lesson.title if titles.count(lesson.title) == 1 else f"{lesson.title} ({name})"
        for name, lesson in books.items()
    }


def _begin() -> None:
    st.session_state["number"] = "1"


def _question(name: str, lesson: Lesson, index: int, predictions: list[int | None]) -> None:
    """One question: its text, and the options to predict from or the answer."""
    item, predicted = lesson.questions[index], predictions[index]
    if item.introduction:
        st.markdown(layout.escape(item.introduction))
    if item.text and item.kind not in ("pieces", "sentence", "known"):
        st.html(figures.text(item.text, item.second))
    st.header(layout.escape(item.prompt), anchor=False)
    if predicted is None:
        _options(name, index, item)
        return
    _answer(name, index, item, predicted)
    with st.container(horizontal=True):
        if index + 1 < len(predictions):
            st.button("Next question", type="primary", icon=":material/arrow_forward:", on_click=_go, args=(index + 1,))
        if item.page:
            st.link_button("Look for yourself", _address(item), icon=":material/open_in_new:")
        st.button("Predict again", icon=":material/undo:", on_click=_predict, args=(name, index, None))


def _options(name: str, index: int, item: QuizItem) -> None:
    option = st.radio("Your prediction", item.options, index=None, format_func=layout.escape, key=f"option-{name}-{index}")
    st.button(
        "Show the answer" if item.kind == "known" else "Ask the model",
        type="primary",
        icon=":material/lightbulb:",
        disabled=option is None,
        on_click=_predict,
        args=(name, index, item.options.index(option) if option else None),
    )


def _answer(name: str, index: int, item: QuizItem, predicted: int) -> None:
    try:
        answer = session.lesson_answer(item)
    except BertscopeError as problem:
        st.error(layout.escape(str(problem)), icon=":material/error:")
        return
    st.html(figures.rows(item.options, answer, predicted, _votes(name, index, len(item.options))))
    st.markdown(_verdict(item, answer, predicted))
    if item.after:
        st.markdown(layout.escape(item.after))


def _verdict(item: QuizItem, answer: QuizAnswer, predicted: int) -> str:
    best = layout.escape(item.options[answer.best])
    if item.kind == "known":
        return ":green[**Right.**]" if predicted == answer.best else f":orange[**Not quite:**] {best}."
    agreement = ":green[**You predicted it.**]" if predicted == answer.best else ":orange[**The model disagrees.**]"
    value = {
        "share": f"{answer.values[answer.best]:.1%}",
        "number": f"{answer.values[answer.best]:.0f} pieces",
        "cosine": f"cosine {answer.values[answer.best]:.3f}",
    }[answer.unit]
    own = ""
    if answer.own and answer.own != cloze.vocabulary_word(session.bert(), item.options[answer.best]):
        own = f" Of all words, its first choice is **{layout.escape(answer.own)}**."
    return f"{agreement} Of these it prefers **{best}** ({value}).{own}"


def _score(lesson: Lesson, predictions: list[int | None]) -> None:
    """How many of the predictions so far the model agreed with."""
    agreed = []
    for item, predicted in zip(lesson.questions, predictions, strict=True):
        if predicted is not None:
            with suppress(BertscopeError):  # it stands where the question is shown
                agreed.append(session.lesson_answer(item).best == predicted)
    if len(agreed) > 1:
        last = " That was the last question." if len(agreed) == len(predictions) else ""
        st.caption(f"You predicted {sum(agreed)} of {len(agreed)} answers of this lesson.{last}")


def _own_lesson(name: str) -> None:
    with st.expander("Write a lesson of your own", icon=":material/edit:"):
        st.markdown(
            "A lesson is a small text file: a title, and questions with options; what the model answers is measured "
            "when somebody asks. Save this one, change it, put it into a folder, and start the app with "
            "`--lessons FOLDER`: everyone who opens the page finds it in the list."
        )
        st.download_button(
            "This lesson as a file", session.lesson_file(name), file_name=f"{name}.toml", icon=":material/download:"
        )


def _predictions(name: str, lesson: Lesson) -> list[int | None]:
    """What this browser predicted in a lesson, as the room counts it: a link says nothing of it and begins unanswered."""
    options = room.votes_of(name, ownership.mark(), len(lesson.questions))
    return [
        option if option is not None and option < len(item.options) else None  # the file may have changed since
        for option, item in zip(options, lesson.questions, strict=True)
    ]


def _predict(name: str, index: int, option: int | None) -> None:
    """Record a prediction, or take it back."""
    room.vote(name, index, ownership.mark(), option)


def _votes(name: str, index: int, options: int) -> list[int]:
    """How many browsers predicted each option, when there are several of them."""
    votes = room.counts(name, index, options)
    return votes if sum(votes) > 1 else []


def _go(index: int) -> None:
    st.session_state["number"] = str(index + 1)


def _address(item: QuizItem) -> str:
    """The page to look for oneself, at what the question is about, with the model chosen above."""
    model = {"model": st.session_state.get("model", session.DEFAULT_MODEL)}
    texts = {"a": item.text, "b": item.second} if item.text else {}
    return f"{item.page}?{urlencode(model | texts | dict(item.link))}"
