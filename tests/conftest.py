"""Fixtures for all tests."""

import copy
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import torch

import model
from model import Bert, BertConfig, tokenizer
from tests.second_device import Elsewhere, TwoDevices

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]

# one thread: the tests are many small computations, and two threads would only wait for each other
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def english() -> Bert:
    """The shipped English model: the real case."""
    return model.load("english")


@pytest.fixture(scope="session")
def tiny_bert() -> Bert:
    """A random BERT of two layers over a vocabulary of a few dozen words: fast, and no two weights alike."""
    words = "the a cat dog sat ran on mat my is cute he likes play ##ing ##s new york . , ! ?".split()
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = tokenizer.from_vocabulary([*words, *letters, *(f"##{letter}" for letter in letters)])
    config = BertConfig(pieces.vocab_size, 32, 2, 4, 64, 64, initializer_range=0.2)
    return Bert.random_init(config, pieces, seed=1).requires_grad_(False)


@pytest.fixture
def away(tiny_bert: Bert) -> Iterator[Bert]:
    """The tiny model on the other device; whatever is computed meanwhile knows both devices."""
    bert = copy.deepcopy(tiny_bert)
    for module in bert.modules():
        for name, parameter in module.named_parameters(recurse=False):
            setattr(module, name, torch.nn.Parameter(parameter.data.as_subclass(Elsewhere), requires_grad=False))
    with TwoDevices():
        yield bert


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Corpora and a treebank that do not come with the project: tests that need them skip where they are absent."""
    folder = Path(os.environ.get("BERTSCOPE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the corpora and the treebank at {folder} (or named in BERTSCOPE_DATA)")
    return folder


def in_a_thread(function: Callable[[], T]) -> T:
    """What a function returns that needs an event loop of its own: in this thread Playwright's may be running."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function).result()


@contextmanager
def serving(models: Path, folder: Path) -> Iterator[str]:
    """The address of an app started as a user starts it, with a folder of models; its log and its runs go into `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log.txt").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "--port", str(port), "--no-browser", "--models", str(models)],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | {"BERTSCOPE_RUNS": str(folder / "runs")},
        )
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(1200):
                try:
                    urlopen(f"{address}/_stcore/health", timeout=1).close()
                    break
                except (URLError, OSError):
                    assert process.poll() is None, f"the app stopped:\n{Path(log.name).read_text()}"
                    time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def chromium():
    """A real browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("BERTSCOPE_CHROMIUM") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()
