"""Lessons in a real browser: predict, see the answer, go on, come back; the room's predictions; a teacher's own file."""

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from app import room
from tests.browser.conftest import settled

CLOZE = "/lessons?lesson=2-cloze"


def predict(page: Page, option: str) -> None:
    page.get_by_test_id("stRadio").get_by_text(option, exact=True).click()
    button = page.get_by_role("button", name="Ask the model")
    expect(button).to_be_enabled()
    settled(page)
    button.click()
    expect(page.locator(".answers .predicted")).to_contain_text(option)
    settled(page)


def test_a_prediction_is_met_by_the_models_answer_and_outlives_a_reload(open_page):
    page = open_page(CLOZE)
    expect(page.locator(".sentence")).to_contain_text("She poured a cup of hot ? and sat down.")
    expect(page.get_by_role("button", name="Ask the model")).to_be_disabled()
    predict(page, "sand")
    expect(page.get_by_text("The model disagrees.")).to_be_visible()
    assert "predicted" not in page.url
    page.get_by_role("button", name="Next question").click()
    expect(page.get_by_role("heading", name="Reading to the left only")).to_be_visible()
    settled(page)
    predict(page, "first")
    expect(page.get_by_text("of 2 answers of this lesson")).to_be_visible()
    page.reload()
    settled(page)
    expect(page.locator(".answers .predicted")).to_contain_text("first")
    page.get_by_role("button", name="Predict again").click()
    expect(page.get_by_role("button", name="Ask the model")).to_be_disabled()


def test_another_lesson_begins_open_what_was_predicted_is_remembered_and_its_link_begins_unanswered(open_page):
    page = open_page(f"{CLOZE}&number=2")
    predict(page, "first")
    link = page.url
    page.get_by_text("Where heads look", exact=True).click()
    expect(page.get_by_role("heading", name="Layer 2, head 10")).to_be_visible()
    expect(page.get_by_role("button", name="Ask the model")).to_be_disabled()
    settled(page)
    page.goto(link)
    expect(page.locator(".answers .predicted")).to_contain_text("first")
    elsewhere = open_page(link[link.index("/lessons") :])
    expect(elsewhere.get_by_role("button", name="Ask the model")).to_be_disabled()
    expect(elsewhere.locator(".answers")).to_have_count(0)


def test_the_link_opens_the_page_at_its_question(open_page):
    page = open_page("/lessons?lesson=4-heads&number=2")
    page.get_by_test_id("stRadio").get_by_role("radio").first.check(force=True)
    expect(page.get_by_role("button", name="Ask the model")).to_be_enabled()
    settled(page)
    page.get_by_role("button", name="Ask the model").click()
    link = page.get_by_role("link", name="Look for yourself")
    expect(link).to_be_visible()
    address = urlparse(link.evaluate("link => link.href"))
    assert address.path == "/attention"
    assert parse_qs(address.query)["heads"] == ["9"]
    there = open_page(f"{address.path}?{address.query}")
    expect(there.locator(".board .caption")).to_contain_text("Layer 2, head 9")


def test_a_room_sees_what_it_predicted(open_page):
    first, second = (open_page(f"{CLOZE}&number=3") for _ in range(2))
    predict(first, "dog")
    predict(second, "cat")
    expect(second.locator(".answers > div", has_text="dog")).to_contain_text("1 of 2 here")
    second.reload()
    settled(second)
    second.get_by_role("button", name="Predict again").click()
    settled(second)
    predict(second, "dog")
    expect(second.locator(".answers > div", has_text="dog")).to_contain_text("2 of 2 here")


def test_a_lesson_fits_a_phone(open_page):
    page = open_page("/lessons?lesson=5-next&number=4", width=390, dark=True)
    page.get_by_test_id("stRadio").locator("[role=radiogroup] label").first.click()
    expect(page.get_by_role("button", name="Ask the model")).to_be_enabled()
    settled(page)
    page.get_by_role("button", name="Ask the model").click()
    expect(page.locator(".answers > div")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_room_counts_what_is_predicted_in_a_handout_and_one_that_is_cut_off_says_so(
    server, server_folder, chromium, monkeypatch
):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(server_folder / "runs"))
    lesson, options = "2-cloze", 3
    before = room.counts(lesson, 0, options)
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{server}/handout/smallworld.html#tab=lessons&lesson={lesson}")
    page.wait_for_selector("body[data-ready]")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Ask the model").click()
    expect(page.get_by_text("The room has counted it.")).to_be_visible()
    assert room.counts(lesson, 0, options) == [before[0] + 1, *before[1:]]
    with page.expect_response("**/vote"):
        page.get_by_role("button", name="Predict again").click()
    page.get_by_role("radio").nth(1).check()
    with page.expect_response("**/vote"):
        page.get_by_role("button", name="Ask the model").click()
    assert room.counts(lesson, 0, options) == [before[0], before[1] + 1, *before[2:]]
    context.set_offline(True)
    page.get_by_role("button", name="Predict again").click()
    expect(page.get_by_text("The room did not hear it")).to_be_visible()
    context.close()
