"""The Train page in a real browser: the replay is there at once, and a training goes from click to replay."""

import re

from playwright.sync_api import Page, expect

TEXT = "\n\n".join(
    f"The {animal} lives in the {place}. Every morning the {animal} looks for {food}. It likes {food} very much. "
    f"In the evening the {animal} comes back to the {place} and sleeps."
    for animal in ("cat", "dog", "bird", "mouse", "horse", "goat")
    for place in ("house", "garden", "barn", "wood")
    for food in ("bread", "water", "corn")
)


def _slider(page: Page):
    return page.get_by_role("slider", name="Snapshot after training step")


def test_the_replay_is_there_without_a_click(open_page):
    page = open_page("/train")
    expect(page.locator(".js-plotly-plot")).to_have_count(5, timeout=120_000)
    expect(_slider(page)).to_be_visible()
    expect(page.get_by_text("best possible").first).to_be_visible()


def test_the_slider_moves_predictions_and_attention_together(open_page):
    page = open_page("/train")
    choices = page.locator(".js-plotly-plot").first
    expect(choices).to_contain_text("go", timeout=120_000)
    _slider(page).focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("After 0 steps the first choice behind [MASK] is")).to_be_visible()
    expect(page.get_by_text(re.compile(r"After 0 steps layer \d, head \d attends from"))).to_be_visible()
    expect(choices).not_to_contain_text("go")


def test_play_goes_through_the_snapshots_to_the_last_by_itself(open_page):
    page = open_page("/train")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    last = _slider(page).get_attribute("aria-valuetext") or ""
    page.get_by_role("button", name="Play").click()
    expect(_slider(page)).not_to_have_attribute("aria-valuetext", last)
    expect(_slider(page)).to_have_attribute("aria-valuetext", last)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_sentence_without_a_hidden_word_is_answered_with_a_hint(open_page):
    page = open_page("/train?text-smallworld=No+word+is+hidden.")
    expect(page.get_by_test_id("stAlert")).to_contain_text("[MASK]")


def test_a_narrow_dark_screen_needs_no_sideways_scrolling(open_page):
    page = open_page("/train", dark=True, width=390)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_training_goes_from_click_over_reload_and_stop_to_its_replay(open_page):
    page = open_page("/train?show=own")
    expect(page.get_by_role("button", name="Train", exact=False).last).to_be_visible()  # the last part of the form
    page.get_by_text("Text I paste").click()
    expect(page.get_by_role("radio", name="Text I paste")).to_be_checked()
    page.get_by_role("textbox", name="Text", exact=True).fill(TEXT)
    page.get_by_role("textbox", name="Text", exact=True).press("Control+Enter")
    page.get_by_label("Minutes").fill("0.8")
    page.get_by_label("Minutes").press("Enter")
    page.get_by_label("Name of the model").fill("barnyard")
    page.get_by_label("Name of the model").press("Enter")
    page.get_by_role("button", name="Train", exact=False).last.click()
    expect(page.get_by_text("barnyard: tiny", exact=False).first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Step \d+")).first).to_be_visible(timeout=90_000)

    other = open_page("/train")
    expect(other.get_by_role("combobox", name="Run")).to_have_value("smallworld")
    expect(other.get_by_text("barnyard", exact=False)).to_have_count(0)

    page.reload()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").click(timeout=60_000)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(_slider(page)).to_be_visible(timeout=180_000)
    expect(page.get_by_role("combobox", name="Run")).to_have_value("barnyard")
    page.goto(page.url.split("/train")[0] + "/mask?model=barnyard")
    expect(page.get_by_role("combobox", name="Model")).to_have_value("barnyard")
