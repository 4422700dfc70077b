"""The Mask page in a real browser: click to mask, a typed word, replaced words, two sentences compared."""

import re

from playwright.sync_api import Page, expect

from probes import cloze
from tests.browser.conftest import settled

TEA = "She+poured+a+cup+of+hot+tea+and+sat+down."


def strip(page: Page):
    return page.locator(".strip")


def chip(page: Page, word: str):
    return strip(page).get_by_role("button", name=word, exact=True)


def test_a_click_masks_a_word_and_the_next_restores_it(open_page):
    page = open_page(f"/mask?a={TEA}&b=")
    chip(page, "poured, [MASK] ").click()  # the page begins with the longest word masked
    settled(page)
    expect(page.get_by_text("No word is hidden: click one")).to_be_visible()
    chip(page, "tea").click()
    settled(page)
    expect(page.get_by_text("tea stood here")).to_be_visible()
    expect(strip(page).locator(".mask")).to_have_count(1)
    expect(page).to_have_url(re.compile("marks=7-8m"))
    chip(page, "tea, [MASK] ").click()
    settled(page)
    expect(strip(page).locator(".mask")).to_have_count(0)


def test_a_link_reopens_the_same_masks(open_page):
    page = open_page(f"/mask?a={TEA}&b=&marks=7-8m.3-4a")
    expect(strip(page).locator(".mask")).to_have_count(1)
    expect(strip(page).locator(".ask")).to_have_text("a")
    expect(page.get_by_text("and the model still sees it")).to_be_visible()


def test_a_typed_word_gets_its_rank_and_a_long_one_its_product(open_page):
    page = open_page(f"/mask?a={TEA}&b=&marks=7-8m&candidate=lemonade")
    expect(page.get_by_text("lemonade (yours)")).to_be_visible()
    box = page.get_by_label("How likely is a word of your own?")
    expect(box).to_have_value("lemonade")
    box.fill("𓀀𓀁")
    box.press("Enter")
    expect(page.get_by_text("cannot be spelled with this model's vocabulary")).to_be_visible()


def test_a_word_can_be_replaced(open_page):
    page = open_page(f"/mask?a={TEA}&b=&marks=7-8m")
    strip(page).get_by_role("button", name="More for hot").click()
    page.get_by_label("Replace hot by").fill("cold")
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(strip(page).locator(".replace")).to_have_text("cold")
    expect(page).to_have_url(re.compile("6-7rcold"))


def test_words_of_both_segments_can_be_masked_and_filled_together(open_page):
    page = open_page("/mask?a=He+was+born+in+New+York.&b=He+likes+the+city.&look=joint")
    expect(page.get_by_text("of four ways to fill the masks")).to_be_visible()
    expect(strip(page).locator(".mask")).to_have_count(2)
    chip(page, "city").click()
    expect(strip(page).locator(".mask")).to_have_count(3)
    settled(page)
    expect(page.get_by_text("of four ways to fill the masks")).to_be_visible()
    for _ in range(2):
        strip(page).locator(".mask").first.click()
        settled(page)
    expect(page.get_by_text("1 wordpiece is masked now")).to_be_visible()


def test_two_sentences_are_compared(open_page):
    page = open_page("/mask?look=likelihood")
    expect(page.get_by_label("Compare with another sentence")).not_to_have_value("")
    expect(page.locator(".chips")).to_have_count(2)
    page.get_by_role("button", name="Try: the keys").click()
    expect(page.get_by_text("The model finds the first sentence more natural")).to_be_visible()
    expect(page.locator(".chips")).to_have_count(2)
    box = page.get_by_label("Compare with another sentence")
    box.fill("")
    box.press("Enter")
    expect(page.locator(".chips")).to_have_count(1)


def test_every_look_answers(open_page, english):
    page = open_page(f"/mask?a={TEA}&b=&marks=7-8m&look=lens")
    guess = cloze.fill(english, TEA.replace("+", " ").replace("tea", "[MASK]"), k=1)["word"][0]
    expect(page.locator(".lens tr.framed td").last).to_have_text(guess)
    for look, sentence in (
        ("Attention moved", "of the attention on average"),
        ("Which words", "rank correlation"),
        ("One side or both", "attention is blocked"),
    ):
        page.get_by_role("radio", name=look).or_(page.get_by_role("button", name=look)).first.click()
        expect(page.get_by_text(sentence).first).to_be_visible()
        settled(page)


def test_markup_in_a_sentence_stays_text(open_page):
    page = open_page("/mask?a=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+tea&b=&look=likelihood")
    expect(page.locator(".chips").first).to_contain_text("<")
    assert page.locator(".chips img").count() == 0


def test_the_page_fits_a_phone(open_page):
    page = open_page(f"/mask?a={TEA}&b=", width=390, dark=True)
    expect(strip(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
