"""The attention page in a real browser: every interaction, every file it gives away, the hostile token."""

import csv
import io
import re
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model import Edits
from probes import heads
from tests.browser.conftest import settled

A, B = "My dog is cute, he likes playing.", "Unbelievably, nobody saw him."
HOSTILE = "</script><img src=x onerror=\"document.title='ran'\">"


def address(**parts: str) -> str:
    return "/attention?" + urlencode({"a": A, "b": B} | parts)


@pytest.fixture
def trace(english):
    return english.trace(A, B)


def board_of(page: Page) -> Locator:
    board = page.locator(".board").first
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"), timeout=90_000)
    settled(page)
    board.scroll_into_view_if_needed()
    return board


def point(board: Locator, **what) -> tuple[float, float]:
    return tuple(board.evaluate("(e, what) => e.board.pointOf(what)", what))


def act(board: Locator, name: str) -> None:
    """Press a control of the board; those that most readers do not need stand behind "More"."""
    if not board.locator(f"[data-act='{name}']").count():
        board.locator("[data-act=more]").click()
    board.locator(f"[data-act='{name}']").click()


def draw(page: Page, quantity: str) -> None:
    """Choose what the board draws."""
    page.get_by_role("combobox", name="On the board").click()
    page.get_by_role("option", name=quantity, exact=True).click()


def matrix(board: Locator, layer: int, head: int) -> np.ndarray:
    """What the board would draw for a head."""
    values = np.array(board.evaluate(f"e => Array.from(e.board.weights.matrix(e.board.weights.row({layer}), {head}))"))
    return values.reshape(2 * [round(len(values) ** 0.5)])


def until(page: Page, condition: str) -> None:
    """Wait until something is true of the board that the page was sent."""
    page.wait_for_function(
        """condition => {
        const roots = [...document.querySelectorAll(".stBidiComponent [data-testid]")].map((element) => element.shadowRoot);
        const { board } = roots.map((root) => root?.querySelector(".board")).find(Boolean);
        return new Function("board", `return ${condition}`)(board);
    }""",
        arg=condition,
    )


def saved(page: Page, board: Locator, name: str) -> bytes:
    with page.expect_download() as download:
        act(board, name)
    return Path(download.value.path()).read_bytes()


def test_all_heads_are_drawn_and_a_click_tells_the_rest_of_the_page(open_page, trace):
    page = open_page(address())
    board = board_of(page)
    np.testing.assert_allclose(matrix(board, 3, 7), trace.attention[3, 7], atol=2e-4)
    page.mouse.click(*point(board, layer=3, head=7))
    expect(board.locator(".caption")).to_contain_text("Layer 4, head 8")
    expect(page).to_have_url(re.compile("layer=4&heads=8"))
    expect(page.get_by_text("Head 8 works with its 32")).to_be_visible()
    page.get_by_test_id("stTopNavLink").filter(has_text="Input").click()
    expect(page.get_by_role("heading", name="Input")).to_be_visible()
    page.get_by_test_id("stTopNavLink").filter(has_text="Attention").click()
    expect(board.locator(".caption")).to_contain_text("Layer 4, head 8")


def test_a_token_shows_its_row_and_its_column_and_a_click_pins_it(open_page, trace):
    page = open_page(address(view="head", layer="2", heads="5"))
    board = board_of(page)
    dog = trace.wordpieces.index("dog")
    page.mouse.move(*point(board, query=dog, key=None))
    row, column = board.locator("[data-side=row]"), board.locator("[data-side=column]")
    expect(row.locator("h2")).to_have_text("dog attends to")
    weights = trace.attention[1, 4]
    expect(row.locator(".name").first).to_have_text(trace.wordpieces[weights[dog].argmax()])
    expect(row.locator(".number").first).to_have_text(f"{weights[dog].max():.3f}")
    expect(column.locator(".number").first).to_have_text(f"{weights[:, dog].max():.3f}")
    page.mouse.click(*point(board, query=dog, key=None))
    page.mouse.move(5, 5)
    expect(row.locator("h2")).to_have_text("dog attends to")
    expect(page).to_have_url(re.compile(f"pin={dog}"))
    board.locator(".stage").press("Escape")
    expect(row).to_have_count(0)


def test_the_heatmap_says_the_value_under_the_pointer(open_page, trace):
    page = open_page(address(view="heatmap", layer="2", heads="5"))
    board = board_of(page)
    page.mouse.move(*point(board, query=2, key=1))
    expect(board.locator(".caption")).to_contain_text(f"dog → my {trace.attention[1, 4, 2, 1]:.3f}")


def test_the_arrows_walk_through_heads_and_layers_without_waiting_for_python(open_page):
    page = open_page(address(layer="1", heads="12"))
    board = board_of(page)
    stage = board.locator(".stage")
    for key, title in (
        ("ArrowRight", "Layer 1, head 1"),
        ("ArrowDown", "Layer 2, head 1"),
        ("ArrowUp", "Layer 1, head 1"),
        ("ArrowUp", "Layer 6, head 1"),
        ("ArrowLeft", "Layer 6, head 12"),
    ):
        stage.press(key)
        assert board.evaluate("e => e.board.title.textContent").startswith(title)
    stage.press("Enter")
    assert board.get_attribute("data-view") == "head"
    stage.press("3")
    assert board.get_attribute("data-view") == "heatmap"
    expect(page).to_have_url(re.compile("view=heatmap"))


def test_filters_leave_out_what_they_say_and_what_is_hidden_is_rescaled_and_said(open_page, trace):
    page = open_page(address(view="heatmap", layer="3", heads="2"))
    board = board_of(page)
    act(board, "AB")
    first = np.array([token.segment == 0 for token in trace.tokens])
    shown, raw = matrix(board, 2, 1), trace.attention[2, 1]
    assert not shown[np.ix_(first, ~first)].any()
    np.testing.assert_allclose(shown[np.ix_(~first, first)], raw[np.ix_(~first, first)], atol=2e-4)
    act(board, "AB")
    act(board, "special")
    left = [token.position for token in trace.tokens if not token.is_special]
    np.testing.assert_allclose(matrix(board, 2, 1), heads.renormalise(trace.attention, left)[2, 1], atol=2e-3)
    expect(board.locator(".note")).to_contain_text("the remaining weights of each row are rescaled to sum to one")
    act(board, "punctuation")
    assert board.evaluate("e => e.board.weights.visible.some(unit => unit.label === ',')") is False
    act(board, "special")
    act(board, "punctuation")
    act(board, "words")
    spans = heads.word_spans(trace.encoding)
    words, texts = heads.merge_wordpieces(trace.attention, spans), heads.word_texts(trace.encoding, spans)
    assert board.evaluate("e => e.board.weights.visible.map(unit => unit.label)") == texts
    np.testing.assert_allclose(matrix(board, 2, 1), words[2, 1], atol=1e-3)
    slider = board.locator("input[type=range]")
    slider.fill("0.3")
    act(board, "more")
    expect(board.locator("[data-act=more]")).to_contain_text("at least 30 %")
    expect(board.locator(".note")).to_contain_text("Weaker than 30 % is not drawn")
    expect(page).to_have_url(re.compile("least=30"))


def test_what_is_drawn_can_be_other_weights_and_differences(open_page, english, trace):
    page = open_page(address(layer="3", heads="2"))
    board = board_of(page)
    weighed = heads.norms(english, trace)
    for name, value in (("Attention × value length (norm-based)", weighed), ("Rollout", heads.rollout(trace))):
        draw(page, name)
        until(page, f"board.data.quantity === '{name}'")
        head = min(1, value.shape[1] - 1)
        np.testing.assert_allclose(matrix(board, 2, head), value[2, head], atol=0.01 * value.max())
    expect(board.locator(".note")).to_contain_text("Abnar & Zuidema")
    draw(page, "Against a sentence")
    until(page, "board.data.quantity === 'Against a sentence' && board.data.tokens.some(token => token.includes('→'))")
    page.get_by_role("textbox", name="Compare sentence A with").fill(A.replace("dog", "cat"))
    page.get_by_role("textbox", name="Compare sentence A with").press("Enter")
    other = english.trace(A.replace("dog", "cat"), B)
    until(page, "board.data.tokens.includes('dog→cat')")
    np.testing.assert_allclose(matrix(board, 2, 1), (other.attention - trace.attention)[2, 1], atol=0.01)


def test_a_head_clicked_off_changes_the_prediction_and_the_attention_above(open_page, english, trace):
    page = open_page(address(panel="ablation"))
    board = board_of(page)
    expect(page.get_by_text("Switched off (layer.head):")).to_be_visible()  # the one that the longest word needs most
    act(board, "allon")
    expect(page).to_have_url(re.compile("off=0"))
    act(board, "switch")
    page.mouse.click(*point(board, layer=1, head=8))
    expect(page.get_by_text("Switched off (layer.head): 2.9")).to_be_visible()
    settled(page)
    changed = english.trace(A, B, Edits(heads_off=frozenset({(1, 8)})))
    np.testing.assert_allclose(matrix(board, 4, 3), changed.attention[4, 3], atol=2e-4)
    expect(page.get_by_test_id("stMetric")).to_contain_text(f"{changed.nsp:.1%}")
    expect(page.get_by_test_id("stMetric")).to_contain_text(f"{trace.nsp:.1%}")
    expect(page).to_have_url(re.compile("off=2.9"))
    act(board, "allbut")
    layer, (head,) = board.evaluate("e => [e.board.choice.layer, e.board.choice.heads]")
    off = {tuple(pair) for pair in board.evaluate("e => e.board.choice.off")}
    assert {index for at, index in off if at == layer} == set(range(12)) - {head}
    act(board, "allon")
    expect(page.get_by_text("and no head is switched off")).to_be_visible()
    settled(page)
    page.mouse.click(*point(board, layer=2, head=-0.7))  # the number of the layer, left of its heads
    expect(page.get_by_text("Switched off (layer.head): " + ", ".join(f"3.{head}" for head in range(1, 13)))).to_be_visible()
    draw(page, "Against heads off")
    until(page, "board.data.quantity === 'Against heads off'")
    without = english.trace(A, B, Edits(heads_off=frozenset((2, head) for head in range(12))))
    np.testing.assert_allclose(matrix(board, 4, 3), (without.attention - trace.attention)[4, 3], atol=0.01)
    settled(page)
    expect(page.get_by_text("Most needed here")).to_be_visible()
    expect(page.get_by_text("Spearman")).to_be_visible()


def test_the_address_reopens_sentence_layer_heads_filters_and_view(open_page):
    page = open_page(
        address(view="head", layer="4", heads="2-9", unit="words", hide="special", least="10", off="1.3", panel="export")
    )
    board = board_of(page)
    assert board.evaluate("e => e.board.choice") == {
        "view": "head",
        "layer": 3,
        "heads": [1, 8],
        "unit": "words",
        "hide": ["special"],
        "threshold": 0.1,
        "pin": None,
        "edges": ["AA", "AB", "BA", "BB"],
        "off": [[0, 2]],
    }
    expect(page.get_by_text("Python for this view")).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_contain_text("attention = weights[3, [1, 8]]")


def test_pictures_and_numbers_can_be_saved(open_page, trace):
    page = open_page(address(view="heatmap", layer="2", heads="5"))
    board = board_of(page)
    assert saved(page, board, "PNG").startswith(b"\x89PNG")
    picture = ElementTree.fromstring(saved(page, board, "SVG"))
    assert [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")].count("dog") == 2
    rows = list(csv.DictReader(io.StringIO(saved(page, board, "CSV").decode())))
    assert len(rows) == len(trace.tokens) ** 2
    assert (rows[0]["layer"], rows[0]["head"]) == ("2", "5")
    np.testing.assert_allclose([float(row["value"]) for row in rows], trace.attention[1, 4].ravel(), atol=2e-4)
    for view in ("head", "model"):
        act(board, view)
        assert ElementTree.fromstring(saved(page, board, "SVG")).tag.endswith("svg")


def test_the_board_in_one_file_works_with_all_network_blocked(open_page, chromium, tmp_path):
    page = open_page("/attention?" + urlencode({"a": HOSTILE + " dog", "view": "heatmap", "panel": "export"}))
    board_of(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="The board as one HTML file").click()
    file = tmp_path / "board.html"
    download.value.save_as(file)
    context = chromium.new_context(offline=True)
    requests = []
    alone = context.new_page()
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(file.as_uri())
    expect(alone.locator(".board")).to_have_attribute("data-view", "heatmap")
    act(alone.locator(".board"), "head")
    expect(alone.locator(".board")).to_have_attribute("data-view", "head")
    assert requests == [file.as_uri()]
    assert "ran" not in alone.title()[:4]
    assert alone.locator("img").count() == 0
    context.close()


def test_bertviz_draws_offline_and_a_hostile_token_is_shown_not_run(open_page):
    page = open_page("/attention?" + urlencode({"a": HOSTILE, "b": "", "panel": "bertviz"}))
    frame = page.frame_locator("iframe").first
    expect(frame.locator("svg").get_by_text("<", exact=True).first).to_be_attached()
    page.get_by_text("model view", exact=True).click()
    expect(frame.locator("svg g").first).to_be_attached()
    expect(page.get_by_text("BertViz's model view (Vig, 2019)")).to_be_visible()
    assert frame.locator("svg").first.evaluate("e => e.getBoundingClientRect().right <= innerWidth")
    assert frame.locator("img").count() == 0
    assert page.title() != "ran"


def test_a_long_input_goes_layer_by_layer_and_bertviz_is_refused_in_words(open_page):
    page = open_page(
        "/attention?" + urlencode({"a": "word " * 505, "b": "", "view": "head", "layer": "2", "panel": "bertviz"})
    )
    board = board_of(page)
    assert board.evaluate("e => [e.board.data.size, e.board.data.layers.length]") == [507, 1]
    board.locator(".stage").press("ArrowDown")
    until(page, "board.data.layers[0] === 2")
    expect(board.locator(".caption")).to_contain_text("Layer 3")
    expect(page.get_by_text("The board above shows the same attention")).to_be_visible()


def test_a_finger_on_a_phone_chooses_heads_and_tokens_in_the_dark(open_page, trace):
    page = open_page(address(), dark=True, width=390, height=800, touch=True)
    board = board_of(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert board.evaluate("e => e.board.ink.dark") is True
    page.touchscreen.tap(*point(board, layer=3, head=7))
    expect(board.locator(".caption")).to_contain_text("Layer 4, head 8")
    expect(page.get_by_text("Head 8 works with its 32")).to_be_attached()
    settled(page)
    board.locator("[data-act=head]").tap()
    board.locator(".stage").evaluate("stage => stage.scrollIntoView()")
    page.touchscreen.tap(*point(board, query=2, key=None))
    expect(board.locator("[data-side=row] h2")).to_have_text("dog attends to")
    expect(page).to_have_url(re.compile("view=head.*pin=2"))
    settled(page)
    board.locator("[data-act=heatmap]").tap()
    board.locator(".stage").evaluate("stage => stage.scrollIntoView()")
    page.touchscreen.tap(*point(board, query=2, key=1))
    expect(board.locator(".caption")).to_contain_text(f"dog → my {trace.attention[3, 7, 2, 1]:.3f}")
