"""The handout in Chromium against Python's trace on one thread: the same input, and from nothing to the first answer."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from playwright.sync_api import Browser, Page, sync_playwright

import model
from app.browser import handout, weights
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig

LENGTHS = (16, 32, 64)
WITHIN = 0.25  # a browser has vectors of 128 bits and no libraries: a quarter of torch's speed is the aim
SIDES = "both: wordpieces, all attentions, all states, next sentence, one thread; Python with the same rounded weights"
FIRST = "import model\nmodel.load({name!r}).trace('The first sentence.', 'And the second.')"


def rows() -> Iterator[Row]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("BERTSCOPE_CHROMIUM") or shutil.which("chromium"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            yield from _rows(browser, Path(folder))
            browser.close()
    finally:
        torch.set_num_threads(threads)


def _rows(browser: Browser, folder: Path) -> Iterator[Row]:
    english = model.load("english")
    page = browser.new_page()
    page.goto(_written(english, folder / "english.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    rounded = weights.round_weights(english)
    for length in LENGTHS:
        yield _trace(page, rounded, length)
    page.close()
    tiny = Bert.random_init(BertConfig.preset("tiny"), english.tokenizer)
    tiny.save(folder / "tiny")
    for name, bert, source in (("english", english, "english"), ("tiny", tiny, str(folder / "tiny"))):
        yield _first(browser, _written(bert, folder / f"{name}.html"), name, source)


def _written(bert: Bert, path: Path) -> Path:
    path.write_text(handout.build(bert, handout.lesson_books()).html, encoding="utf-8")
    return path


def _trace(page: Page, bert: Bert, length: int) -> Row:
    words = [word for word in bert.tokenizer.vocabulary if word.isascii() and word.isalpha()]
    numbers = itertools.count()

    def fresh() -> str:
        """A text of this length that nobody has read yet: the page keeps its last answers."""
        start = next(numbers) * length % (len(words) - length)
        return " ".join(words[start : start + length - 2])

    def ours() -> None:
        page.evaluate("async (a) => { await page.client.ask('trace', { a, b: '' }) }", fresh())

    return compare(
        f"handout in Chromium, english, {length} tokens",
        ours,
        lambda: bert.trace(fresh()),
        "Python's trace, one thread",
        WITHIN,
        repeats=25,
        work=SAME,
        sides=SIDES,
    )


def _first(browser: Browser, file: Path, name: str, source: str) -> Row:
    def ours() -> None:
        page = browser.new_page()
        page.goto(f"{file.as_uri()}#tab=attention&a=The+first+sentence.&b=And+the+second.")
        page.wait_for_selector(".tab[aria-busy=false] canvas")
        page.close()

    def theirs() -> None:
        subprocess.run([sys.executable, "-c", FIRST.format(name=source)], check=True, cwd=Path(__file__).parent.parent)

    return compare(
        f"handout from file to first attention, {name} ({file.stat().st_size / 1e6:.1f} MB)",
        ours,
        theirs,
        "a new Python to its first trace",
        1.0,
        repeats=5,
        work=AS_USED,
        sides="ours: open the file, unpack, compute and draw the board; theirs: import, load, trace",
    )
