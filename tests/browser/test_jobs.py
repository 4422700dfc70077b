"""The panel of a job in a real browser."""

from playwright.sync_api import expect


def test_stopped_work_is_deleted_only_after_a_question(open_page):
    page = open_page("/train?show=own")
    page.get_by_label("Name of the model").fill("unwanted")
    page.get_by_label("Name of the model").press("Enter")
    page.get_by_role("button", name="Train", exact=False).last.click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=120_000)
    page.get_by_role("button", name="Delete", exact=False).click()
    expect(page.get_by_text("It cannot be brought back.")).to_be_visible()
    expect(page.get_by_text("unwanted: tiny", exact=False)).to_be_visible()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("unwanted: tiny", exact=False)).to_have_count(0)
