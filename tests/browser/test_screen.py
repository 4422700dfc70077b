"""What a reader needs is in sight without scrolling, and everybody can reach it."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FloatRect, Page, expect

from app.navigation import PAGES
from tests.browser.conftest import settled

SIZES = {"laptop": (1366, 768), "projector": (1024, 768), "phone": (390, 844)}
ENTRIES = [entry for group in PAGES.values() for entry in group]
# the main answer of a page, and how many pixels of it must be in sight
ANSWERS = {
    "/": ((".js-plotly-plot", 150),),
    "/mask": ((".strip", 40), (".js-plotly-plot", 150)),
    "/attention": ((".board canvas", 350),),
    "/next-sentence": (("h2", 20), (".js-plotly-plot", 100)),
    "/probes": ((".js-plotly-plot", 200),),
    "/strategies": ((".chips", 200),),
}


def path(entry) -> str:
    return "/" if entry.address == "start" else f"/{entry.address}"


def box(page: Page, selector: str) -> FloatRect:
    place = page.locator(selector).first
    expect(place).to_be_visible()
    bounds = place.bounding_box()
    assert bounds
    return bounds


@pytest.mark.parametrize("size", SIZES)
def test_the_inputs_of_a_page_are_in_sight_and_pages_without_them_show_none(open_page, size):
    width, height = SIZES[size]
    page = open_page("/", width=width, height=height)
    for entry in ENTRIES:
        page.goto(page.url.split("?")[0].rsplit("/", 1)[0] + path(entry))
        settled(page)
        for name, label in (("model", "Model"), ("a", "Sentence A"), ("b", "Sentence B")):
            field = page.locator(".st-key-bar").get_by_label(label, exact=True)
            if name not in entry.reads:
                expect(field).to_have_count(0)
                continue
            expect(field.first).to_be_visible()
            bounds = field.first.bounding_box()
            assert bounds and bounds["y"] + bounds["height"] <= height / 2, (entry.title, label)


@pytest.mark.parametrize("size", ["laptop", "projector"])
def test_the_main_answer_is_above_the_fold(open_page, size):
    width, height = SIZES[size]
    page = open_page("/", width=width, height=height)
    for address, parts in ANSWERS.items():
        page.goto(page.url.split("?")[0].rsplit("/", 1)[0] + address)
        settled(page)
        for selector, pixels in parts:
            bounds = box(page, f"[data-testid=stMain] {selector}")
            seen = min(bounds["y"] + bounds["height"], height) - bounds["y"]
            assert seen >= pixels, (address, selector, bounds)


def test_the_content_is_wide_and_all_pages_stand_in_one_line_on_a_projector(open_page):
    page = open_page("/", width=1024, height=768)
    assert box(page, ".page-title")["width"] >= 900
    links = page.locator("[data-testid=stTopNavLink]")
    expect(links).to_have_count(len(ENTRIES))
    assert len({round(link.bounding_box()["y"]) for link in links.all()}) == 1


def test_an_example_can_be_taken_and_undone_and_everything_reset(open_page):
    page = open_page("/?a=Mine%20is%20here.&b=")
    field = page.get_by_label("Sentence A", exact=True)
    expect(field).to_have_value("Mine is here.")
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("button", name="Two banks").click()
    expect(field).to_have_value("He sat on the bank of the river and fished.")
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(field).to_have_value("Mine is here.")
    expect(page.get_by_label("Sentence B", exact=True)).to_have_value("")
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("link", name="Back to the start").click()
    expect(field).to_have_value("She poured a cup of hot coffee and sat down.")


def test_sentences_stay_while_pages_without_them_are_visited(open_page):
    page = open_page("/mask?a=My%20cat%20sleeps.&b=")
    page.get_by_test_id("stTopNav").get_by_role("link", name="Train", exact=True).click()
    expect(page.locator(".page-title h1")).to_have_text("Train")
    settled(page)
    expect(page.get_by_label("Sentence A", exact=True)).to_have_count(0)
    page.get_by_test_id("stTopNav").get_by_role("link", name="Attention", exact=True).click()
    expect(page.locator(".page-title h1")).to_have_text("Attention")
    expect(page.get_by_label("Sentence A", exact=True)).to_have_value("My cat sleeps.")


def test_the_theme_can_be_switched_and_stays_on_every_page(open_page):
    page = open_page("/")
    page.get_by_role("button", name="Switch to dark colours").click()
    expect(page.get_by_role("button", name="Switch to light colours")).to_be_visible()
    page.get_by_test_id("stTopNav").get_by_role("link", name="Lessons", exact=True).click()
    expect(page.locator(".page-title h1")).to_have_text("Lessons")
    page.reload()
    expect(page.get_by_role("button", name="Switch to light colours")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.address)
def test_no_page_breaks_a_rule_of_axe(open_page, entry, dark):
    page = open_page(path(entry), dark=dark, width=1366, height=768)
    # what is still fading in has too little contrast for a moment
    page.wait_for_function("document.getAnimations().every((animation) => animation.playState !== 'running')")
    broken = Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in broken] == []
