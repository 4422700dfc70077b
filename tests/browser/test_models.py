"""The model in the address, in a real browser: one that is not there is said, and another can be chosen."""

from playwright.sync_api import expect


def test_an_unknown_model_in_the_address_is_said_and_another_can_be_chosen(open_page):
    page = open_page("/mask?model=no-such-model&a=Anna+likes+the+market.")
    expect(page.get_by_text("There is no model called no-such-model here. There are: english, ")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="smallworld", exact=True).click()
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_role("combobox", name="Model")).to_have_value("smallworld")
    expect(page.get_by_text("There is no model called")).to_have_count(0)
    page.wait_for_url("**model=smallworld**")
    assert "a=Anna" in page.url


def test_an_unknown_side_of_a_comparison_is_said(open_page):
    page = open_page("/compare?right=no-such-model")
    expect(page.get_by_text("There is no model called no-such-model here.")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(0)
    page.get_by_role("combobox", name="Right model").click()
    page.get_by_role("option", name="smallworld", exact=True).click()
    expect(page.get_by_text("Probability that both predictions share")).to_be_visible()
    expect(page.get_by_role("combobox", name="Right model")).to_have_value("smallworld")
