"""A running app and a real Chromium that may talk to nobody else."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
expect.set_options(timeout=120_000)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of the app, started once as a user starts it, with empty folders of models and of runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    models = tmp_path_factory.mktemp("models")
    log = (tmp_path_factory.mktemp("server") / "log.txt").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "--port", str(port), "--no-browser", "--models", str(models)],
        cwd=ROOT, stdout=log, stderr=subprocess.STDOUT,
        env=os.environ | {"BERTSCOPE_RUNS": str(tmp_path_factory.mktemp("runs"))})
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
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
    found = os.environ.get("BERTSCOPE_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(server, chromium):
    """Open a path of the app; any request off this machine, page error or console error fails the test."""
    trouble: list[str] = []
    contexts = []

    def opened(path: str = "/", dark: bool = False, width: int = 1440, height: int = 1000, touch: bool = False) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height}, accept_downloads=True,
                                       color_scheme="dark" if dark else "light", has_touch=touch)
        contexts.append(context)

        def only_here(route):
            if re.match(rf"{re.escape(server)}/|data:|blob:", route.request.url):
                route.continue_()
            else:
                trouble.append(f"asked the network for {route.request.url}")
                route.abort()

        context.route("**/*", only_here)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(f"page error: {error}"))
        # Streamlit asks for its own address below the page's first, and takes the answer 404 as a hint
        page.on("console", lambda said: said.type == "error" and "/_stcore/" not in said.location.get("url", "")
                and trouble.append(f"console: {said.text}"))
        page.goto(f"{server}{path}")
        settled(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not trouble, trouble


def settled(page: Page) -> None:
    """Wait until the script has run and the page shows its heading or its one sentence of trouble."""
    page.wait_for_selector("h1, [data-testid=stAlert]", timeout=120_000)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=120_000)
