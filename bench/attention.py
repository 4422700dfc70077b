"""Attention in a real Chromium, 12 layers × 12 heads: our board against BertViz's views, both as one offline file.

The time runs from asking for the view (making the page in Python) to its being on screen.
"""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Error, sync_playwright

from app.components import bertviz
from app.components.board import BoardData, BoardState, document
from bench import timing
from bench.timing import AS_USED, Row

LENGTHS = (16, 32, 64)
PATIENCE = 30  # seconds after which a page counts as not loading
# two frames after the drawing is in the document it is on the screen
ON_SCREEN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
VIEWS = {"model_view": "model", "head_view": "head"}


def rows() -> Iterator[Row]:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("BERTSCOPE_CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        file = Path(folder) / "page.html"
        for theirs, ours in VIEWS.items():
            for length in LENGTHS:
                usual = 5 if length < 64 else 3
                yield _compare_views(browser, file, theirs, ours, length, min(usual, timing.at_most or usual))
        yield _compare_views(browser, file, "model_view", "model", 128, repeats=1)
        yield _one_layer(browser, file)
        yield from _switching(browser, file)
        browser.close()


def _attention(length: int, layers: int = 12) -> tuple[np.ndarray, list[str]]:
    attention = np.random.default_rng(length).dirichlet(np.full(length, 0.2), (layers, 12, length)).astype(np.float32)
    return attention, ["[CLS]", *(f"word{i}" for i in range(length - 2)), "[SEP]"]


def _compare_views(browser: Browser, file: Path, theirs: str, ours: str, length: int, repeats: int) -> Row:
    weights, tokens = _attention(length)
    board = BoardData(weights, tokens)
    documents = {
        "ours": lambda: document(board, "Attention", BoardState(view=ours)),
        "theirs": lambda: bertviz.document(theirs, weights, tokens, None, dark=False),
    }
    selectors = {"ours": ".board[data-drawn]", "theirs": "svg"}
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    sizes = {}
    for turn in range(repeats + (repeats > 1)):  # the first turn warms up
        for name in ("ours", "theirs") if turn % 2 else ("theirs", "ours"):
            spent, sizes[name] = _time_on_screen(browser, file, documents[name], selectors[name])
            if turn or repeats == 1:
                times[name].append(spent)
    smaller = sizes["theirs"] / sizes["ours"]
    note = f"{sizes['ours'] / 1e6:.2f} MB against {sizes['theirs'] / 1e6:.1f} MB: {smaller:.0f}× smaller"
    if max(times["theirs"]) >= PATIENCE:
        note += f"; BertViz not on screen in {PATIENCE} s"
    return Row(
        f"{ours} view, 12×12 heads, {length} tokens",
        f"BertViz {theirs}",
        statistics.median(times["ours"]),
        statistics.median(times["theirs"]),
        5.0 if length >= 64 else None,
        note,
        AS_USED,
        "both: from the weights to one offline page on the screen of the same Chromium",
        len(times["ours"]),
    )


def _time_on_screen(browser: Browser, file: Path, document: Callable[[], str], selector: str) -> tuple[float, int]:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(PATIENCE * 1000)
    started = time.perf_counter()
    size = file.write_bytes(document().encode())
    try:
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_selector(selector, state="attached")
        page.evaluate(ON_SCREEN)
        return time.perf_counter() - started, size
    except Error:
        return float(PATIENCE), size
    finally:
        page.close()


def _one_layer(browser: Browser, file: Path) -> Row:
    weights, tokens = _attention(512, layers=1)
    board = BoardData(weights, tokens, layers=[5], every_layer=12)
    times, size = [], 0
    for _ in range(3):
        spent, size = _time_on_screen(
            browser, file, lambda: document(board, "Attention", BoardState("head", 5)), ".board[data-drawn]"
        )
        times.append(spent)
    return Row(
        "lines, one layer of 12 heads, 512 tokens",
        "5 s of patience",
        statistics.median(times),
        5.0,
        1.0,
        f"{size / 1e6:.1f} MB",
        sides="ours only: from the weights to the screen",
        repeats=len(times),
    )


def _switching(browser: Browser, file: Path) -> Iterator[Row]:
    """A key pressed on the board until the new picture is drawn; the budget is 50 ms."""
    for length in (64, 128):
        weights, tokens = _attention(length)
        file.write_text(document(BoardData(weights, tokens), "Attention", BoardState(view="head")), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(file.as_uri())
        stage = page.locator(".stage")
        for name, keys in (("head", ["ArrowRight"] * 12), ("view", ["3", "1", "2"] * 4)):
            spent = [
                stage.evaluate(
                    """(stage, key) => {
                const began = performance.now();
                stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
                stage.getBoundingClientRect();
                return (performance.now() - began) / 1000;
            }""",
                    key,
                )
                for key in keys
            ]
            yield Row(
                f"switching {name}, 12×12 heads, {length} tokens",
                "50 ms",
                statistics.median(spent),
                0.05,
                1.0,
                sides="ours only: from a key pressed to the new picture",
                repeats=len(spent),
            )
        page.close()
