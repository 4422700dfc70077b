"""The first minute of a newcomer, in a real browser."""

import re

from playwright.sync_api import expect


def test_the_start_page_lives_without_a_click(open_page):
    page = open_page("/")
    expect(page.get_by_role("heading", name="Bertscope")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("coffee")


def test_hiding_another_word_asks_again(open_page):
    page = open_page("/")
    page.get_by_test_id("stButtonGroup").get_by_text("cup").click()
    expect(page.locator(".sentence")).to_contain_text("She poured a ? of hot coffee")


def test_typing_a_sentence_changes_the_page_and_the_address(open_page):
    page = open_page("/input")
    page.get_by_label("Sentence A").fill("Unbelievably hot")
    page.get_by_label("Sentence A").press("Control+Enter")
    expect(page.locator(".chip b").nth(2)).to_have_text("##bel")
    expect(page).to_have_url(re.compile("a=Unbelievably"))


def test_a_link_reopens_exactly_this(open_page):
    page = open_page("/input?a=My+dog+is+cute.&b=He+likes+playing.")
    expect(page.locator(".chip b")).to_have_text(
        ["[CLS]", "my", "dog", "is", "cute", ".", "[SEP]", "he", "likes", "playing", ".", "[SEP]"]
    )


def test_the_explanation_of_cls_appears_on_hover(open_page):
    page = open_page("/input")
    tip = page.locator(".chip .tip").first
    expect(tip).to_be_hidden()
    page.locator(".chip").first.hover()
    expect(tip).to_be_visible()


def test_a_sentence_that_is_markup_is_shown_and_never_run(open_page):
    page = open_page("/input?a=%3Cimg+src%3Dx+onerror%3D%22document.title%3D'ran'%22%3E+%3C%2Fscript%3E")
    expect(page.locator(".chip b").nth(1)).to_have_text("<")
    assert page.title() != "ran"
    assert page.locator("[data-testid=stMain] img").count() == 0


def test_every_tab_of_the_input_page_draws(open_page):
    page = open_page("/input")
    for tab in ("Three embeddings", "Positions", "Parameters"):
        page.get_by_test_id("stButtonGroup").get_by_text(tab, exact=True).click()
        expect(page.locator(".js-plotly-plot:visible").first).to_be_visible()


def test_a_door_leads_to_its_page_and_keeps_the_sentence(open_page):
    page = open_page("/?a=My+dog+is+cute.")
    page.locator("[data-testid=stMain] a", has_text="Input").click()
    expect(page.get_by_role("heading", name="Input")).to_be_visible()
    expect(page.locator(".chip b").nth(2)).to_have_text("dog")


def test_a_phone_sees_the_prediction(open_page):
    page = open_page("/", dark=True, width=390, height=800)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("coffee")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_start_makes_the_handout_of_the_chosen_model_saves_and_opens_it(open_page):
    page = open_page("/?model=smallworld")
    expect(page.get_by_text("One HTML file with smallworld")).to_be_visible()
    page.get_by_role("button", name="Make the file").or_(page.get_by_role("link", name="Save the file")).first.click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the file").click()
    assert saved.value.suggested_filename == "bert-smallworld.html"
    assert saved.value.path().read_text(encoding="utf-8").startswith("<!doctype html>")
    expect(page.get_by_text("--host 0.0.0.0")).to_be_visible()  # this server serves this machine only
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open it").click()
    opened.value.wait_for_selector("body[data-ready]")
    expect(opened.value.locator("h1")).to_contain_text("weights rounded to 8 bits")
