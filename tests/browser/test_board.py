"""The board by itself, as the browser mounts it: what it says of hidden tokens, and that an old mount takes nothing away."""

import re
from base64 import b64encode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from app.components.board import BoardData, BoardState, _pack, _script, _source

TEXT = "My dog is cute, he likes playing."


@pytest.fixture
def alone(chromium):
    """An empty page with the board's script loaded as a module; `mount(data)` puts a board of that data into it."""
    context = chromium.new_context(viewport={"width": 900, "height": 900}, offline=True)
    page = context.new_page()
    page.set_content(f"<style>{_source('board.css')}</style><div id='place' style='width: 800px'></div>")
    page.evaluate(
        """async code => {
        const { default: mount } = await import(`data:text/javascript;base64,${code}`);
        const parentElement = document.querySelector("#place");
        window.mount = data => mount({ data, parentElement, setStateValue() {} });
        window.board = () => parentElement.board;
    }""",
        b64encode(_script().encode()).decode(),
    )
    yield page
    context.close()


def data(trace, **choice) -> str:
    values = BoardData(trace.attention, trace.wordpieces, words=[token.word for token in trace.tokens])
    return b64encode(_pack(values, BoardState(**choice), 0, False)).decode()


def share_told(page: Page) -> float:
    share = re.search(r"On average (\d+(?:\.\d+)?)\s?% of the weight", page.locator(".note").inner_text())
    assert share
    return float(share[1])


def test_the_weight_of_hidden_tokens_is_that_of_the_heads_shown_whatever_was_drawn_before(alone, english):
    trace = english.trace(TEXT)
    special = [token.position for token in trace.tokens if token.is_special]
    words = [token.position for token in trace.tokens if not token.is_special]
    hidden = trace.attention[:, :, words][..., special].sum(-1).mean(-1) * 100  # (layers, heads)
    assert np.ptp(hidden) > 50
    alone.evaluate("data => { mount(data) }", data(trace, view="head", layer=1, heads=(4,), hide=("special",)))
    for layer, heads in ((1, [4]), (3, [0, 7]), (1, [4]), (5, [2])):
        alone.evaluate("([layer, heads]) => board().preview({ layer, heads })", [layer, heads])
        assert share_told(alone) == pytest.approx(hidden[layer, heads].mean(), abs=0.6)
    alone.evaluate("() => board().preview({ view: 'model' })")
    assert share_told(alone) == pytest.approx(hidden.mean(), abs=0.6)
    alone.evaluate("() => board().preview({ view: 'heatmap' })")
    assert share_told(alone) == pytest.approx(hidden[5, 2], abs=0.6)


def test_an_old_mount_that_is_discarded_leaves_the_newer_one_watching_its_size(alone, english):
    trace = english.trace(TEXT)
    alone.evaluate(
        "data => { const stale = mount(data); window.fresh = mount(data); stale(); }", data(trace, view="heatmap")
    )
    expect(alone.locator("canvas")).to_be_visible()
    before = alone.evaluate("() => document.querySelector('.stage').clientWidth")
    alone.evaluate("() => { document.querySelector('#place').style.width = '500px' }")
    expect(alone.locator("canvas")).not_to_have_css("width", f"{before}px", timeout=10_000)
    alone.wait_for_function("() => board().lastWidth === document.querySelector('.stage').clientWidth", timeout=10_000)
    alone.evaluate("() => fresh()")
    count = alone.locator(".board").get_attribute("data-drawn")
    alone.evaluate("() => { document.querySelector('#place').style.width = '700px' }")
    alone.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert alone.locator(".board").get_attribute("data-drawn") == count
