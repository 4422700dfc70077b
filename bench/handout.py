"""The handout in Chromium against Python's trace on one thread; its address, with a class asking for it at once."""

import gzip
import itertools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import psutil
import torch
from playwright.sync_api import Browser, Page, sync_playwright

import model
from app.browser import handout, weights
from bench.timing import AS_USED, SAME, Row, compare
from model import Bert, BertConfig

LENGTHS = (16, 32, 64)
WITHIN = 0.25  # a browser has vectors of 128 bits and no libraries: a quarter of torch's speed is the aim
SIDES = "both: wordpieces, all attentions, all states, next sentence, one thread; Python with the same rounded weights"
ROOT = Path(__file__).parent.parent
READERS = 30  # a class, all at once
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
            yield _downloads(Path(folder))
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
        subprocess.run([sys.executable, "-c", FIRST.format(name=source)], check=True, cwd=ROOT)

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


def _downloads(folder: Path) -> Row:
    """A class that fetches the file from the app at once, and the same bytes from Python's own file server."""
    page = folder / "english.html"
    packed = page.with_suffix(".html.gz")
    packed.write_bytes(gzip.compress(page.read_bytes(), 1))
    app = [sys.executable, "-m", "app", "--no-browser", "--models", str(folder), "--port"]
    plain = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder)]
    with _serving(app, "/handout/english.html") as ours, _serving(plain, f"/{packed.name}") as theirs:
        cpu = {server.address: server.cpu_seconds() for server in (ours, theirs)}
        row = compare(
            f"{READERS} readers fetch the handout at once",
            lambda: ours.send_to(READERS),
            lambda: theirs.send_to(READERS),
            "python -m http.server",
            0.5,
            repeats=3,
            work=SAME,
            sides="both: the same compressed file over loopback to as many threads",
        )
        sent = READERS * (row.repeats + 1)
        each = [1000 * (server.cpu_seconds() - cpu[server.address]) / sent for server in (ours, theirs)]
        before = ours.cpu_seconds()
        again = sum(ours.has_changed() for _ in range(READERS))
        asking = 1000 * (ours.cpu_seconds() - before) / READERS
    note = (
        f"{READERS / row.ours:.0f} downloads a second of {packed.stat().st_size / 1e6:.1f} MB; processor time of the server "
        f"{each[0]:.0f} ms a download against {each[1]:.0f} ms; asked again, {READERS - again} of {READERS} readers "
        f"keep what they have, {asking:.1f} ms each"
    )
    return replace(row, note=note)


@dataclass(frozen=True)
class FileServer:
    """A process that serves one file at an address."""

    address: str
    process: psutil.Process

    def cpu_seconds(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def send_to(self, readers: int) -> None:
        with ThreadPoolExecutor(readers) as pool:
            sizes = set(pool.map(lambda _: self._size(), range(readers)))
        assert len(sizes) == 1 and sizes.pop() > 1e6, "some readers have another file"

    def has_changed(self) -> bool:
        """Whether a browser that has the file is sent it again."""
        with urlopen(self._request("HEAD")) as answer:
            etag = answer.headers["ETag"]
        try:
            urlopen(self._request("GET", {"If-None-Match": etag})).close()
        except HTTPError as error:
            return error.code != 304
        return True

    def _size(self) -> int:
        with urlopen(self._request("GET")) as answer:
            return sum(map(len, iter(lambda: answer.read(1 << 20), b"")))

    def _request(self, method: str, headers: dict[str, str] | None = None) -> Request:
        return Request(self.address, method=method, headers={"Accept-Encoding": "gzip", **(headers or {})})


@contextmanager
def _serving(command: list[str], path: str) -> Iterator[FileServer]:
    """A server on a free port of this machine, once it has sent the file for the first time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as runs:
        process = subprocess.Popen(
            [*command, str(port)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"BERTSCOPE_RUNS": runs},
        )
        server = FileServer(f"http://127.0.0.1:{port}{path}", psutil.Process(process.pid))
        try:
            while True:
                try:
                    server.send_to(1)
                    break
                except (URLError, OSError):
                    assert process.poll() is None, f"{command[2]} did not start"
                    time.sleep(0.1)
            yield server
        finally:
            process.terminate()
            process.wait()
