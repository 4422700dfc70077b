"""What a reader needs is in sight without scrolling, and everybody can reach it."""

import re
from urllib.parse import parse_qs, urlparse

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
    "/attention": ((".board canvas", 330),),
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


def test_back_goes_to_the_page_before_with_one_press(open_page):
    page = open_page("/attention")
    board = page.locator(".board").first
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"))
    visit(page, "Mask")
    page.locator(".strip button").nth(2).click()
    expect(page).to_have_url(re.compile("marks="))
    settled(page)
    visit(page, "Attention")
    for key in ("ArrowRight", "ArrowDown", "3"):
        board.locator(".stage").press(key)
        settled(page)
    expect(page).to_have_url(re.compile("view=heatmap"))
    page.go_back()
    expect(page.locator(".page-title h1")).to_have_text("Mask")


def test_mask_and_attention_work_by_keyboard_alone(open_page):
    page = open_page("/mask?a=My+dog+is+cute.&b=")
    step_to(page, "dog")
    page.keyboard.press("Enter")
    expect(page.locator(".strip .mask")).to_have_count(2)
    settled(page)
    expect(page.get_by_text("dog stood here")).to_be_visible()
    page = open_page("/attention?a=My+dog+is+cute.&b=")
    board = page.locator(".board").first
    step_to(page, "Heatmap")
    page.keyboard.press("Enter")
    expect(board).to_have_attribute("data-view", "heatmap")
    settled(page)
    for _ in range(30):  # the numbers of all heads stand between the controls and the picture
        page.keyboard.press("Tab")
        if focused(page).startswith("Attention:"):
            break
    page.keyboard.press("o")
    expect(board.locator("[data-act=more]")).to_contain_text("1 head off")
    expect(page).to_have_url(re.compile("off="))


def focused(page: Page) -> str:
    """The name of what has the keyboard, also inside a component."""
    return page.evaluate(
        """() => {
        let element = document.activeElement;
        while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
        return element?.getAttribute("aria-label") || element?.textContent || "";
    }"""
    )


def step_to(page: Page, name: str) -> None:
    """Press Tab until a control of this name has the keyboard."""
    page.locator("h1").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        if focused(page) == name:
            return
    raise AssertionError(f"Tab never reaches {name}")


def visit(page: Page, title: str) -> None:
    page.get_by_test_id("stTopNav").get_by_role("link", name=title, exact=True).click()
    expect(page.locator(".page-title h1")).to_have_text(title)
    settled(page)


# every section of every page, with something chosen on it that is not its default
LINKS = (
    "/?hide=3",
    "/lessons?lesson=2-cloze&number=2",
    "/input",
    "/input?tab=embeddings&token=4",
    "/input?tab=positions",
    "/input?tab=parameters&ledger=base",
    "/attention?view=heatmap&layer=4&heads=2&pin=3~&from=5&to=2",
    "/attention?panel=patterns&measure=distance&quantity=norms",
    "/attention?panel=relations&quantity=rollout",
    "/attention?panel=ablation&off=3.2&predicted_position=4",
    "/attention?panel=bertviz&quantity=sentence",
    "/attention?panel=export&unit=words&hide=special",
    "/states?dimensions=3&followed=4",
    "/states?section=similarity&compare=layers&cka=plain",
    "/states?section=senses&preset=mouse",
    "/states?section=neighbours&near_token=4",
    "/states?section=neurons&neuron_token=4&neuron_layer=2",
    "/states?section=sentences&pooling=cls",
    "/mask?marks=3-4m",
    "/mask?look=joint&marks=3-4m.5-6m",
    "/mask?look=likelihood&variant=alone",
    "/mask?look=lens&marks=3-4m",
    "/mask?look=shift&marks=3-4m&moved_layer=2&moved_head=3",
    "/mask?look=directions&marks=3-4m",
    "/mask?look=attribution&marks=3-4m",
    "/strategies?passage=paper&mask=60&draw=2",
    "/strategies?question=model&replaced=4&instead=tree",
    "/strategies?question=learning",
    "/next-sentence",
    "/next-sentence?nsp=perturbations",
    "/next-sentence?nsp=evidence",
    "/next-sentence?nsp=document&document=river",
    "/next-sentence?nsp=benchmark&nsp_opening=smallworld&nsp_kind=same",
    "/probes?side=mistakes",
    "/train?step=100&replay_head=2.1",
    "/train?show=own",
    "/fine-tune?learned=mistakes",
    "/compare?hidden=3",
    "/compare?ask=attention&left_layer=2",
    "/compare?ask=nsp",
    "/compare?ask=states",
    "/compare?ask=probes&right=smallworld",
)


def shown(page: Page) -> list[str]:
    """What a reader sees of a page: its text, the descriptions of its charts, what is pressed, the values of its inputs."""
    page.wait_for_function("document.getAnimations().every((animation) => animation.playState !== 'running')")
    return page.evaluate(
        """() => {
        const main = document.querySelector("[data-testid=stMain]");
        const roots = [main, ...[...main.querySelectorAll("*")].map((element) => element.shadowRoot).filter(Boolean)];
        const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
        return [
          ...all("h1, h2, p, .caption, .chip, .answers > div, .lens td").map((element) => element.textContent),
          ...all("[aria-pressed=true], [aria-checked=true], input:checked").map((pressed) => pressed.textContent),
          ...all("input:not([type=checkbox], [type=radio], [type=file]), textarea, select").map((input) => input.value),
          ...all("[role=img]").map((element) => element.getAttribute("aria-label")),
        ].map((text) => (text ?? "").trim()).filter(Boolean);
    }"""
    )


def violations(page: Page) -> list[tuple[str, str]]:
    """The rules of axe that a page breaks, and where; Streamlit's own box for files has a role too many."""
    return [
        (rule["id"], node["html"][:160])
        for rule in Axe().run(page).response["violations"]
        for node in rule["nodes"]
        if "stFileUploaderDropzone" not in node["html"]
    ]


@pytest.mark.parametrize("group", range(6))
def test_the_link_of_every_section_opens_it_in_a_fresh_browser_and_no_section_breaks_a_rule_of_axe(open_page, group):
    dark = bool(group % 2)
    page = open_page("/", dark=dark, width=1366, height=768)
    root = page.url.split("?")[0].rstrip("/")
    for link in LINKS[group::6]:
        page.goto(root + link)
        settled(page)
        here = page.url
        before = shown(page)
        assert not page.get_by_test_id("stAlertContentError").count(), link
        named = parse_qs(urlparse(link).query)
        assert {name: parse_qs(urlparse(here).query).get(name) for name in named} == named, (link, here)
        again = open_page(here.removeprefix(root), dark=dark, width=1366, height=768)
        assert shown(again) == before, link
        again.context.close()
        assert violations(page) == [], link
