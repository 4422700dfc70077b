"""The attention page without a browser: the Python it shows runs, and it takes any address."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.views.attention import python_source
from model import Edits
from probes import heads

A, B = "my dog is cute", "he likes playing."


@pytest.mark.parametrize(
    ("quantity", "unit", "hide", "off"),
    [
        ("attention", "pieces", (), ()),
        ("attention", "words", ("special", "punctuation"), ((0, 1),)),
        ("norms", "words", (), ()),
        ("norms", "pieces", (), ((1, 2),)),
        ("rollout", "pieces", ("special",), ()),
        ("rollout", "pieces", (), ((0, 1), (0, 2))),
        ("sentence", "pieces", (), ()),
        ("off", "pieces", (), ((0, 1),)),
    ],
)
def test_the_python_for_a_view_runs_and_gives_what_is_shown(tiny_bert, tmp_path, quantity, unit, hide, off):
    folder = str(tiny_bert.save(tmp_path / "little"))
    code = python_source.python_source(folder, A, B, quantity, "my cat is cute", 1, [2, 3], unit, hide, off)
    namespace: dict = {}
    exec(code, namespace)
    whole = tiny_bert.trace(A, B)
    trace = tiny_bert.trace(A, B, Edits(heads_off=frozenset(off)))
    expected = {
        "attention": trace.attention,
        "norms": heads.norms(tiny_bert, trace),
        "rollout": heads.rollout(trace),
        "off": trace.attention - whole.attention,
        "sentence": tiny_bert.trace("my cat is cute", B).attention - whole.attention,
    }[quantity]
    if unit == "words":
        spans = heads.word_spans(trace.encoding)
        expected, texts = heads.merge_wordpieces(expected, spans), heads.word_texts(trace.encoding, spans)
    else:
        texts = trace.wordpieces
    if hide:
        visible = [
            index
            for index, text in enumerate(texts)
            if text not in ("[CLS]", "[SEP]") and ("punctuation" not in hide or text != ".")
        ]
        expected = heads.renormalise(expected, visible)
    np.testing.assert_allclose(namespace["attention"], expected[1, [0] if quantity == "rollout" else [2, 3]], atol=1e-5)


@pytest.mark.parametrize(
    ("query", "state", "sentence"),
    [
        (
            {"panel": "anatomy", "pin": "99~x", "layer": "77", "heads": "x-3-40"},
            {"panel": "anatomy", "heads": (2,), "pin": None},
            "the state of *",
        ),
        (
            {"panel": "anatomy", "pin": "1~2", "layer": "4", "heads": "2-3", "view": "head"},
            {"panel": "anatomy", "layer": 3, "heads": (1, 2), "pin": (1, 2), "view": "head"},
            "the state of *she*",
        ),
        ({"panel": "patterns", "a": "?!", "b": ""}, {"panel": "patterns", "off": ()}, "of all heads on this input"),
        (
            {"panel": "relations", "view": "nonsense", "off": "9.9-1.2-q"},
            {"panel": "relations", "view": "model", "off": ((0, 1),)},
            "",
        ),
        (
            {"panel": "ablation", "a": "The [MASK] sat.", "off": "1.2-3.4"},
            {"panel": "ablation", "off": ((0, 1), (2, 3))},
            "in the masked place is",
        ),
        ({"panel": "bertviz", "a": "word " * 300}, {"panel": "bertviz"}, "BertViz would send about"),
        (
            {"panel": "export", "quantity": "sentence", "second": "Another one"},
            {"panel": "export", "quantity": "sentence"},
            "Another one",
        ),
        ({"quantity": "off", "off": "0"}, {"panel": "anatomy", "quantity": "off"}, "No head is switched off"),
        ({"quantity": "rollout", "a": "</script>"}, {"quantity": "rollout"}, "the state of */*"),
        ({"panel": "no such panel", "quantity": "nothing"}, {"panel": "anatomy", "quantity": "attention"}, "the state of *"),
    ],
    ids=[
        "numbers that are none",
        "a pinned pair",
        "two signs",
        "one head of three",
        "two heads off",
        "too much for BertViz",
        "against a sentence",
        "against nothing",
        "markup",
        "names that are none",
    ],
)
def test_the_page_takes_any_address(query, state, sentence, tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))
    app = opened(**query)
    board = app.session_state["attention_choice"]
    chosen = {name: app.session_state[name] for name in ("panel", "quantity")}
    assert {name: chosen[name] if name in chosen else getattr(board, name) for name in state} == state
    parts = [*app.main.caption, *app.main.info, *app.main.warning, *app.main.code]
    assert any(sentence in part.value for part in parts) or not sentence
    assert not app.main.error


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_every_panel_is_about_the_model_with_the_heads_off_that_the_board_shows(english):
    app = opened(panel="patterns", off="1.2-3.4", a=A, b=B)
    table = app.dataframe[0].value
    expected = heads.summary(english.trace(A, B, Edits(heads_off={(0, 1), (2, 3)})))
    assert table["label"].tolist() == expected["label"].tolist()
    assert table["label"].tolist().count(heads.OFF) == 2
    np.testing.assert_allclose(table["entropy"], expected["entropy"], atol=1e-5)
    dissected = opened(panel="anatomy", off="3.4", layer="3", heads="4", a=A, b=B)
    assert any("is switched off: it still attends" in info.value for info in dissected.info)


def test_a_measure_that_an_input_cannot_show_is_said_and_not_shown_as_zero():
    app = opened(panel="patterns", measure="same-word", a="He ran home", b="")
    assert any("Nothing here can be measured" in info.value for info in app.info)


def test_where_we_differ_from_the_papers_own_program_is_said_beside_the_names():
    notes = [caption.proto.help for caption in opened(panel="patterns", a=A, b=B).caption if "Clark et al." in caption.value]
    assert len(notes) == 1
    assert all(words in notes[0] for words in ("n − 1", "every sign and symbol", "every token counts alike"))


def _page():
    from app import input_bar, navigation
    from app.views import attention

    input_bar.show(navigation.entry("attention"))
    attention.page()
