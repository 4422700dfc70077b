"""The next-sentence page without a browser: its lessons hold, and a model without the head is said to have none."""

import numpy as np
from streamlit.testing.v1 import AppTest

from app.figures import nextsentence, sentence_order
from app.samples.pairs import DOCUMENTS, LESSONS
from model import Bert
from model.pretraining import corpus
from probes import nextsentence as asked
from probes.nextsentence import evidence, perturbations
from probes.nextsentence import sentence_order as order


def shown() -> None:
    import streamlit as st

    from app import layout
    from app.views import nextsentence
    from model import Problem
    layout.sidebar()
    try:
        nextsentence.page()
    except Problem as problem:
        st.error(str(problem))


def test_there_are_ten_lessons_and_each_text_serves_its_pair():
    assert len(LESSONS) == len({(lesson.a, lesson.b) for lesson in LESSONS}) == 10
    for lesson in LESSONS:
        if lesson.text and lesson.a in lesson.text:
            assert perturbations.nearby(lesson.a, lesson.b, lesson.text)


def test_every_document_can_be_put_in_order():
    for text in DOCUMENTS.values():
        order.check(corpus.sentences(text))


def test_a_checkpoint_without_the_head_gets_one_sentence_and_no_number(little, tmp_path, monkeypatch):
    Bert.random(little.config, little.tokenizer, nsp=False).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    app = AppTest.from_function(shown, default_timeout=60)
    app.query_params["model"] = "headless"
    app.run()
    assert not app.exception
    assert [error.value for error in app.error] == ["headless has no next-sentence head, so it cannot judge pairs."]
    assert not app.metric


def test_choosing_a_lesson_writes_both_sentences():
    app = AppTest.from_function(shown, default_timeout=60).run()
    app.selectbox(key="start_pair").select(LESSONS[7].title).run()
    assert not app.exception
    assert (app.text_area(key="a").value, app.text_area(key="b").value) == (LESSONS[7].a, LESSONS[7].b)
    assert len(app.metric) == 4


def test_the_tokens_of_the_evidence_are_escaped_and_numbered_by_their_weight(little):
    pair = asked.packed(little, "the cat < a dog", "he likes <b> new york")
    found = evidence.of(little, pair)
    drawn = nextsentence.tokens(found)
    assert "<b><</b>" not in drawn
    assert drawn.count("chip") == len(pair) + 1
    assert f"{found.occlusion[1]:+.2f}" in drawn


def test_the_matrix_frames_every_true_next_sentence():
    scores = np.full((5, 5), 0.5)
    frames = sentence_order.matrix(scores, list("abcde")).layout["shapes"]
    assert [(frame.x0 + 0.5, frame.y0 + 0.5) for frame in frames] == [(2, 1), (3, 2), (4, 3), (5, 4)]
