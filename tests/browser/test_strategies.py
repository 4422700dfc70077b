"""The Masking strategies page in a real browser: sliders, draws, fates, and models trained from the page."""

import re

from playwright.sync_api import Page, expect

from probes import bundled
from tests.browser.conftest import settled


def slide(page: Page, name: str, key: str, times: int) -> None:
    knob = page.get_by_role("slider", name=name)
    knob.focus()
    for _ in range(times):
        knob.press(key)
    settled(page)


def test_sliders_change_the_mix(open_page):
    page = open_page("/strategies")
    expect(page.locator(".chips").first).to_contain_text("ferry")
    slide(page, "[MASK]", "ArrowLeft", 4)
    expect(page.get_by_text("In proportion: 75.0% [MASK], 12.5% unchanged")).to_be_visible()
    expect(page).to_have_url(re.compile("mask=60"))


def test_drawing_again_draws_another(open_page):
    page = open_page("/strategies?passage=story&rate=30")
    before = page.locator(".chips").first.inner_text()
    page.get_by_role("button", name="Draw again").click()
    expect(page.locator(".chips").first).not_to_have_text(before)


def test_a_mix_of_nothing_is_said(open_page):
    page = open_page("/strategies?mask=0&random=0&keep=0")
    expect(page.get_by_text("Move at least one of the three sliders above zero")).to_be_visible()


def test_the_three_fates_are_measured(open_page):
    page = open_page("/strategies?question=model&passage=story&averaged=20")
    expect(page.get_by_text("of the random words, drawn for each place anew")).to_be_visible()


def test_results_stand_beside_the_papers(open_page):
    page = open_page("/strategies?question=learning")
    means = bundled.results("strategies").groupby("condition")["probe"].mean()
    best = f"{means.idxmax()} is best with {means.max():.1%}, {means.idxmin()} worst with {means.min():.1%}"
    expect(page.get_by_text("Frozen features, linear probe")).to_be_visible()
    expect(page.get_by_text(best)).to_be_visible()
    expect(page.get_by_text("The paper's own numbers")).to_be_visible()
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_visible()


def test_models_are_trained_from_the_page_and_can_be_stopped(open_page):
    page = open_page("/strategies?question=learning")
    page.get_by_role("button", name="Train", exact=True).click()
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    stop.click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=60_000)
