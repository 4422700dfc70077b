"""A running app and a real Chromium that may talk to nobody else."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import serving

expect.set_options(timeout=120_000)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory) -> Path:
    """Where the app of the browser tests writes its log and its runs."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def server(tmp_path_factory, server_folder):
    """The address of the app, started once as a user starts it, with empty folders of models and of runs."""
    with serving(tmp_path_factory.mktemp("models"), server_folder) as address:
        yield address


@pytest.fixture
def open_page(server, chromium):
    """Open a path of the app; any request off this machine, page error or console error fails the test."""
    trouble: list[str] = []
    contexts = []

    def opened(path: str = "/", dark: bool = False, width: int = 1440, height: int = 1000, touch: bool = False) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            accept_downloads=True,
            color_scheme="dark" if dark else "light",
            has_touch=touch,
        )
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
        page.on(
            "console",
            lambda said: (
                said.type == "error"
                and "/_stcore/" not in said.location.get("url", "")
                and trouble.append(f"console: {said.text}")
            ),
        )
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
