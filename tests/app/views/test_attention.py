"""What the attention page packs, says and gives away, without a browser."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.components import bertviz
from app.components.board import Choice, Picture, _packed, document
from app.components.board.payload import packed
from app.views.attention import python_source
from model import Edits
from probes import heads

A, B = "my dog is cute", "he likes playing."


def unpacked(data: bytes) -> tuple[dict, np.ndarray]:
    """What the browser reads, by the rule of payload.js."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4:4 + length])
    codes = np.frombuffer(data[4 + length:], "<u2" if header["bits"] == 16 else "u1").astype(float)
    last = 2 ** header["bits"] - 1
    zero = (last - 1) / 2 if header["signed"] else 0
    roots = (codes - zero) / (zero or last)
    return header, (np.sign(roots) * roots**2 * header["scale"]).reshape(*header["shape"][:3], -1)


def test_weights_arrive_as_they_were_sent(little):
    trace = little.trace(A, B)
    header, values = unpacked(packed(trace.attention, {}))
    assert header["normalised"]
    np.testing.assert_allclose(values, trace.attention, atol=2e-5)


def test_differences_and_large_values_arrive_too():
    values = np.random.default_rng(0).normal(0, 3, (2, 3, 5, 5))
    values[0, 0, 0, 0] = 0
    header, found = unpacked(packed(values, {}))
    assert header["signed"]
    assert not header["normalised"]
    np.testing.assert_allclose(found, values, atol=1e-3)
    assert found[0, 0, 0, 0] == 0


def test_many_weights_take_one_byte_each_and_stay_within_half_a_percent():
    weights = np.random.default_rng(0).dirichlet(np.full(64, 0.1), (12, 12, 64))
    data = packed(weights, {})
    header, values = unpacked(data)
    assert header["bits"] == 8
    assert len(data) < weights.size + 1000
    assert np.abs(values - weights).max() < 0.005


def test_the_choice_comes_back_from_the_browser_as_it_went():
    choice = Choice("head", 3, (1, 4), "words", ("special",), ("AB",), 0.25, (2, None), ((0, 1), (5, 3)))
    assert Choice.received(json.loads(json.dumps(choice.sent()))) == choice


def test_the_document_fetches_nothing_and_holds_no_foreign_markup(little):
    trace = little.trace(A, B)
    page = document(Picture(trace.attention, ["</script><b>"] * len(trace.tokens)), "</title><script>alert(1)</script>")
    assert page.count("<script") == 1
    assert "</script><b>" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


@pytest.mark.parametrize("view", ["head_view", "model_view"])
def test_bertviz_is_disarmed_and_its_size_is_foretold(little, view):
    trace = little.trace(A, B)
    texts = ["</script><img src=x>" if text == "dog" else text for text in trace.texts]
    page = bertviz.document(view, trace.attention, texts, None, dark=False)
    assert "<img" not in page
    assert "\\u003c/script>" in page
    assert 'src="http' not in page
    longer = bertviz.document(view, np.repeat(trace.attention, 4, 0), texts, None, dark=False)
    added = 3 * trace.attention.size
    assert (len(longer) - len(page)) / added == pytest.approx(bertviz.BYTES_A_WEIGHT, rel=0.15)


@pytest.mark.parametrize(("drawn", "unit", "hide", "off"), [
    ("attention", "pieces", (), ()), ("attention", "words", ("special", "punctuation"), ((0, 1),)),
    ("norms", "words", (), ()), ("norms", "pieces", (), ((1, 2),)), ("rollout", "pieces", ("special",), ()),
    ("rollout", "pieces", (), ((0, 1), (0, 2))), ("sentence", "pieces", (), ()),
    ("off", "pieces", (), ((0, 1),))])
def test_the_python_for_a_view_runs_and_gives_what_is_shown(little, tmp_path, drawn, unit, hide, off):
    folder = str(little.save(tmp_path / "little"))
    code = python_source.recipe(folder, A, B, drawn, "my cat is cute", 1, [2, 3], unit, hide, off)
    found: dict = {}
    exec(code, found)
    whole = little.trace(A, B)
    trace = little.trace(A, B, Edits(heads_off=frozenset(off)))
    expected = {"attention": trace.attention, "norms": heads.norms(little, trace),
                "rollout": heads.rollout(trace), "off": trace.attention - whole.attention,
                "sentence": little.trace("my cat is cute", B).attention - whole.attention}[drawn]
    if unit == "words":
        expected, texts = heads.words(expected, trace.encoding)
    else:
        texts = trace.texts
    if hide:
        left = [i for i, text in enumerate(texts) if text not in ("[CLS]", "[SEP]")
                and ("punctuation" not in hide or text != ".")]
        expected = heads.kept(expected, left)
    np.testing.assert_allclose(found["shown"], expected[1, [0] if drawn == "rollout" else [2, 3]], atol=1e-5)


def test_a_picture_of_one_layer_says_which_layer_it_is(little):
    trace = little.trace(A, B)
    header, _ = unpacked(_packed(Picture(trace.attention[1:], trace.texts, layers=[1], every_layer=2), Choice(), 0, False))
    assert (header["layers"], header["everyLayer"]) == ([1], 2)


@pytest.mark.parametrize(("query", "shown", "said"), [
    ({"panel": "Anatomy of a head", "pin": "99~0", "layer": "77", "heads": "x-3-40"},
     {"panel": "anatomy", "heads": (2,), "pin": None}, "the state of *"),
    ({"panel": "Anatomy of a head", "pin": "2~3", "layer": "4", "heads": "2-3", "view": "head"},
     {"panel": "anatomy", "layer": 3, "heads": (1, 2), "pin": (1, 2), "view": "head"}, "the state of *she*"),
    ({"panel": "What heads do", "a": "?!", "b": ""}, {"panel": "behaviour", "off": ()}, "of every head, on this input"),
    ({"panel": "Grammar", "view": "nonsense", "off": "9.9-1.2-q"},
     {"panel": "grammar", "view": "model", "off": ((0, 1),)}, ""),
    ({"panel": "Without a head", "a": "The [MASK] sat.", "off": "1.2-3.4"}, {"panel": "without", "off": ((0, 1), (2, 3))},
     "the likeliest words at the masked place"),
    ({"panel": "BertViz", "a": "word " * 300}, {"panel": "bertviz"}, "BertViz would send about"),
    ({"panel": "Take it away", "drawn": "Against a sentence", "second": "Another one"},
     {"panel": "share", "drawn": "sentence"}, "Another one"),
    ({"drawn": "Against heads off"}, {"panel": "anatomy", "drawn": "off"}, "No head is switched off"),
    ({"drawn": "Rollout", "a": "</script>"}, {"drawn": "rollout"}, "the state of */*"),
    ({"panel": "no such panel", "drawn": "nothing"}, {"panel": "anatomy", "drawn": "attention"}, "the state of *")],
    ids=["numbers that are none", "a pinned pair", "two signs", "one head of three", "two heads off", "too much for BertViz",
         "against a sentence", "against nothing", "markup", "names that are none"])
def test_the_page_takes_any_address(query, shown, said, tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))
    app = opened(**query)
    state = app.session_state
    choice = state["attention_choice"]
    assert {name: state[name] if name in ("panel", "drawn") else getattr(choice, name) for name in shown} == shown
    parts = [*app.main.caption, *app.main.info, *app.main.warning, *app.main.code]
    assert any(said in part.value for part in parts) or not said
    assert not app.main.error


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_every_panel_is_about_the_model_with_the_heads_off_that_the_board_shows(english):
    app = opened(panel="What heads do", off="1.2-3.4", a=A, b=B)
    table = app.dataframe[0].value
    expected = heads.summary(english.trace(A, B, Edits(heads_off={(0, 1), (2, 3)})))
    assert table["label"].tolist() == expected["label"].tolist()
    assert table["label"].tolist().count(heads.OFF) == 2
    np.testing.assert_allclose(table["entropy"], expected["entropy"], atol=1e-5)
    taken = opened(panel="Anatomy of a head", off="3.4", layer="3", heads="4", a=A, b=B)
    assert any("is switched off: it still looks" in said.value for said in taken.info)


def test_a_measure_that_an_input_cannot_show_is_said_and_not_shown_as_zero():
    app = opened(panel="What heads do", measure="share on same word", a="He ran home", b="")
    assert any("Nothing here can be measured" in said.value for said in app.info)


def _page():
    from app import layout
    from app.views import attention
    layout.sidebar()
    attention.page()
