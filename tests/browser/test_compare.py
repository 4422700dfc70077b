"""Compare in a real browser: presets fill both sides, each question is answered, what cannot be compared is said."""

import re

from playwright.sync_api import expect

PAIR = "a=The+keys+are+on+the+table.&b=She+picks+them+up."


def test_the_preset_puts_english_against_its_random_init_copy_and_every_question_is_answered(open_page):
    page = open_page(f"/compare?{PAIR}&right=english")
    expect(page.get_by_role("combobox", name="Right model")).to_have_value("english")
    page.get_by_text("English against random weights", exact=True).click()
    expect(page.get_by_role("combobox", name="Right model")).to_have_value("english, random weights")
    expect(page.get_by_text("Probability that both predictions share")).to_be_visible()
    page.get_by_role("radio", name="Attention").click()
    expect(page.get_by_text("two different heads of english are")).to_be_visible()
    page.get_by_role("radio", name="Next sentence").click()
    expect(page.locator(".js-plotly-plot", has_text="IsNext")).to_contain_text("english, random weights")
    page.get_by_role("radio", name="States").click()
    expect(page.get_by_text("tokens of one side shuffled")).to_be_visible()
    page.get_by_role("radio", name="Probes").click()
    expect(page.locator(".js-plotly-plot", has_text="part of speech")).to_contain_text("english, random weights")


def test_texts_that_cannot_be_matched_are_said_to_be_incomparable(open_page):
    page = open_page(f"/compare?ask=states&{PAIR}&right_text=Hello")
    expect(page.get_by_text("a single text and the other a pair")).to_be_visible()


def test_the_small_world_early_in_its_training_against_its_end(open_page):
    page = open_page("/compare")
    page.get_by_text("Small world at step 100 against the end", exact=True).click()
    expect(page.get_by_role("combobox", name="Left model")).to_have_value("smallworld, step 100")
    expect(page.get_by_role("combobox", name="Right model")).to_have_value("smallworld")
    expect(page.get_by_text("is the first choice of smallworld (")).to_be_visible()


def test_a_model_that_was_never_probed_is_said_and_the_link_of_one_that_was_reopens_its_probe(open_page):
    page = open_page("/compare?ask=probes&right=smallworld~100")
    expect(page.get_by_text("No probe has been run on smallworld, step 100 yet")).to_be_visible()
    page = open_page("/compare?ask=probes&right=smallworld")
    expect(page.get_by_role("combobox", name="Probe")).to_have_value(re.compile("^relation to the head · reader · linear"))
    expect(page.locator(".js-plotly-plot", has_text="relation to the head · smallworld")).to_be_visible()
