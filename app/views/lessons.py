"""Lessons: predict first, then let the model answer."""

from contextlib import suppress
from urllib.parse import urlencode
from uuid import uuid4

import streamlit as st

from app import layout, limits, session
from app.figures import lessons as figures
from model import Problem
from probes import cloze
from probes.lessons import Answer, Lesson, Question

UNASKED = "_"  # in the address, for a question without a prediction


def page() -> None:
    layout.title("Lessons", "Predict first; then the model answers, and you look for yourself why.")
    books, trouble = session.lesson_list()
    for said in trouble:
        st.warning(layout.plain(said), icon=":material/error:")
    titles = _titles(books)
    first = next(iter(titles))
    title = st.pills("Lesson", list(titles), default=first, required=True, key="lesson", bind="query-params",
                     on_change=_begin, label_visibility="collapsed")
    name = titles[title or first]
    lesson = books[name]
    numbers = [str(number) for number in range(1, len(lesson.questions) + 1)]
    st.caption(layout.plain(f"{lesson.about} About {lesson.minutes} minutes."
                           + (f" After {lesson.source}." if lesson.source else "")))
    number = st.segmented_control("Question", numbers, default="1", required=True, key="number", bind="query-params")
    place = numbers.index(number) if number in numbers else 0
    said = _predictions(name, lesson)
    with st.container(border=True, key="asked"):
        _asked(name, lesson, place, said)
    _course(lesson, said)
    _own(name)


def _titles(books: dict[str, Lesson]) -> dict[str, str]:
    """The lessons as they are listed: title -> name; two of one title are told apart by the names of their files."""
    listed = [lesson.title for lesson in books.values()]
    return {title if listed.count(title) == 1 else f"{title} ({name})": name
            for (name, _), title in zip(books.items(), listed, strict=True)}


def _begin() -> None:
    st.session_state["number"] = "1"


def _asked(name: str, lesson: Lesson, place: int, said: list[int | None]) -> None:
    """One question: its text, and the options to predict from or the answer."""
    question = lesson.questions[place]
    if question.read:
        st.markdown(layout.plain(question.read))
    if question.text and question.kind not in ("pieces", "sentence", "known"):
        st.html(figures.text(question.text, question.second))
    st.subheader(layout.plain(question.ask), anchor=False)
    predicted = said[place]
    if predicted is None:
        picked = st.radio("Your prediction", question.options, index=None, format_func=layout.plain,
                          key=f"option-{name}-{place}")
        asks = "Show the answer" if question.kind == "known" else "Ask the model"
        st.button(asks, type="primary", icon=":material/lightbulb:", disabled=picked is None, on_click=_predict,
                  args=(name, place, question.options.index(picked) if picked else None))
        return
    try:
        answer = session.lesson_answer(question)
    except Problem as problem:
        st.error(layout.plain(str(problem)), icon=":material/error:")
    else:
        st.html(figures.rows(question.options, answer, predicted, _room(name, place, len(question.options))))
        st.markdown(_verdict(question, answer, predicted))
        if question.after:
            st.markdown(layout.plain(question.after))
    with st.container(horizontal=True):
        if place + 1 < len(said):
            st.button("Next question", type="primary", icon=":material/arrow_forward:", on_click=_go, args=(place + 1,))
        if question.page:
            st.link_button("Look for yourself", _address(question), icon=":material/open_in_new:")
        st.button("Predict again", icon=":material/undo:", on_click=_predict, args=(name, place, None))


def _verdict(question: Question, answer: Answer, predicted: int) -> str:
    best = layout.plain(question.options[answer.best])
    if question.kind == "known":
        return ":green[**Right.**]" if predicted == answer.best else f":orange[**Not quite:**] {best}."
    met = ":green[**You foresaw it.**]" if predicted == answer.best else ":orange[**The model says otherwise.**]"
    what = {"share": f"{answer.values[answer.best]:.1%}", "number": f"{answer.values[answer.best]:.0f} pieces",
            "cosine": f"cosine {answer.values[answer.best]:.3f}"}[answer.unit]
    own = ""
    if answer.own and answer.own != cloze.vocabulary_word(session.bert(), question.options[answer.best]):
        own = f" Of all words, its first guess is **{layout.plain(answer.own)}**."
    return f"{met} Of these it prefers **{best}** ({what}).{own}"


def _course(lesson: Lesson, said: list[int | None]) -> None:
    """How many of the predictions so far the model agreed with."""
    met = []
    for question, predicted in zip(lesson.questions, said, strict=True):
        if predicted is not None:
            with suppress(Problem):  # said where the question is shown
                met.append(session.lesson_answer(question).best == predicted)
    if len(met) > 1:
        done = " That was the last question." if len(met) == len(said) else ""
        st.caption(f"You foresaw {sum(met)} of {len(met)} answers of this lesson.{done}")


def _own(name: str) -> None:
    with st.expander("Write a lesson of your own", icon=":material/edit:"):
        st.markdown("A lesson is a small text file: a title, and questions with options; what the model answers is measured "
                    "when somebody asks. Save this one, change it, put it into a folder, and start the app with "
                    "`--lessons FOLDER`: everyone who opens the page finds it in the list.")
        st.download_button("This lesson as a file", session.lesson_file(name), file_name=f"{name}.toml",
                           icon=":material/download:")


def _predictions(name: str, lesson: Lesson) -> list[int | None]:
    """What this reader predicted in a lesson: kept over visits to other pages, and in the address over a reload."""
    kept = st.session_state.setdefault("predicted", {})
    signs = "" if kept else st.query_params.get("predicted", "")  # later the address may still be about another lesson
    given = kept.get(name) or [int(sign) if sign.isdecimal() else None for sign in signs]
    given += [None] * len(lesson.questions)  # the file may have grown since, and the address may say anything
    kept[name] = [option if option is not None and option < len(question.options) else None
                  for option, question in zip(given, lesson.questions, strict=False)]
    st.query_params["predicted"] = "".join(UNASKED if option is None else str(option) for option in kept[name])
    return kept[name]


def _predict(name: str, place: int, option: int | None) -> None:
    """Keep a prediction, or take it back; the room's count follows."""
    st.session_state["predicted"][name][place] = option
    voters = session.votes().setdefault((name, place), {})
    voter = st.session_state.setdefault("voter", uuid4().hex)
    voters.pop(voter, None)
    if option is not None:
        voters[voter] = option
        while len(voters) > limits.VOTES_KEPT:
            voters.pop(next(iter(voters)), None)


def _room(name: str, place: int, options: int) -> list[int]:
    """How many of those who use this server now predicted each option, when there are several of them."""
    cast = list(session.votes().get((name, place), {}).values())
    return [cast.count(option) for option in range(options)] if len(cast) > 1 else []


def _go(place: int) -> None:
    st.session_state["number"] = str(place + 1)


def _address(question: Question) -> str:
    """The page to look for oneself, at what the question is about, with the model of the sidebar."""
    named = {"model": st.session_state.get("model", session.DEFAULT_MODEL)}
    texts = {"a": question.text, "b": question.second} if question.text else {}
    return f"{question.page}?{urlencode(named | texts | dict(question.look))}"
