"""Compare in a real browser: presets fill both sides, each question is answered, what cannot be compared is said."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import settled

PAIR = "a=The+keys+are+on+the+table.&b=She+picks+them+up."


def test_the_preset_puts_english_against_its_random_twin(open_page):
    page = open_page(f"/compare?{PAIR}&right=english")
    page.get_by_role("button", name="English against random weights").or_(
        page.get_by_role("radio", name="English against random weights")).first.click()
    settled(page)
    expect(page).to_have_url(re.compile(r"right=english%2C\+random\+weights|right=english,%20random%20weights"))
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.get_by_text("Probability that both predictions share")).to_be_visible()


def test_heads_are_compared_with_their_namesakes(open_page):
    page = open_page(f"/compare?ask=Attention&{PAIR}")
    expect(page.get_by_text("two different heads of english are")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text("head")


def test_both_answer_whether_b_follows(open_page):
    page = open_page(f"/compare?ask=Next+sentence&{PAIR}")
    expect(page.locator(".js-plotly-plot")).to_contain_text("english, random weights")


def test_layers_of_two_models_are_compared_against_shuffled_tokens(open_page):
    page = open_page(f"/compare?ask=States&{PAIR}")
    expect(page.get_by_text("tokens of one side shuffled")).to_be_visible()


def test_texts_that_cannot_be_matched_are_said_to_be_incomparable(open_page):
    page = open_page(f"/compare?ask=States&{PAIR}&right_text=Hello")
    expect(page.get_by_text("a single text and the other a pair")).to_be_visible()
