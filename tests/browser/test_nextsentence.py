"""The next-sentence page in a real browser: a pair, perturbations, evidence, a document, a benchmark, and refusals."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from probes import nextsentence

A, B = "The old dog lay down by the fire.", "It was soon asleep and snoring."


def address(**query: str) -> str:
    return f"/next-sentence?{urlencode(query)}"


def test_a_pair_is_judged_in_words_and_its_packing_is_shown(open_page, english):
    page = open_page(address(a=A, b=B))
    prediction = nextsentence.predict(english, A, B)
    expect(page.get_by_role("heading", name=prediction.answer)).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="P(IsNext), output 0")).to_contain_text(
        f"{prediction.is_next:.4f}"
    )
    expect(page.get_by_test_id("stMetric").filter(has_text="Margin (logit difference)")).to_contain_text(
        f"{prediction.logit_difference:+.3f}"
    )
    expect(page.locator(".chip")).to_have_count(len(prediction.encoding))


def test_a_sample_fills_both_sentences_and_asks_its_question(open_page):
    page = open_page("/next-sentence")
    page.get_by_role("combobox", name="A pair to start from").click(timeout=90_000)
    page.get_by_role("option", name="Another topic").click()
    expect(page.get_by_role("textbox", name="Sentence B")).to_have_value("The treaty was signed in the following spring.")
    expect(page.get_by_text("Which words of B give it away?")).to_be_visible()


def test_one_click_makes_every_change(open_page):
    page = open_page(address(a=A, b=B))
    page.get_by_role("radio", name="One change at a time").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="The answer is")).to_be_visible()
    chart = page.get_by_test_id("stPlotlyChart")
    for name in (
        "A and B swapped",
        "B from another topic",
        "B repeated from A",
        "One segment id for both",
        "No [SEP] between them",
        "A empty",
        "B empty",
    ):
        expect(chart.get_by_text(name, exact=True)).to_be_visible()
    expect(chart.get_by_text("B from the same text, but not next")).to_have_count(0)  # no text to take one from
    expect(page).to_have_url(re.compile("nsp=perturbations"))


def test_the_evidence_is_shown_and_markup_in_the_sentences_is_text(open_page, english):
    a, b = "<img src=x onerror=alert(1)> is a tag.", "<b>Bold</b> it is not."
    page = open_page(address(a=a, b=b, nsp="evidence"), dark=True)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(3)
    expect(page.locator(".chip")).to_have_count(len(nextsentence.encode_pair(english, a, b)))
    expect(page.get_by_text("all alike", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"Of 72 heads, layer \d head \d+ matters most"))).to_be_visible()
    expect(page.locator("[data-testid=stMain] img")).to_have_count(0)


def test_a_short_document_is_put_in_order(open_page):
    page = open_page(address(nsp="document"))
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)
    expect(page.get_by_text("95 % of random orders")).to_be_visible()
    expect(page.get_by_text("The text in the order the model would give it")).to_be_visible()


def test_a_longer_document_becomes_a_job_and_then_a_matrix(open_page):
    page = open_page(address(nsp="document"))
    write(
        page,
        " ".join(
            f"The {word} was on the table." for word in "cup plate knife fork spoon glass bowl pan pot lamp book".split()
        ),
    )
    page.get_by_role("button", name="Read all 110 pairs").click()
    expect(page.get_by_text("Done: Order of 11 sentences")).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(2)


def test_a_document_that_cannot_be_ordered_is_refused_in_one_sentence(open_page):
    page = open_page(address(nsp="document"))
    for text, sentence in (
        ("Only one sentence.", "at least two sentences"),
        ("Here it is. " * 500, "This document has 500 sentences"),
        ("Here it is.\nᚠᚢᚦ ᚨᚱᚲ.", "knows no word of sentence 2"),
    ):
        write(page, text)
        expect(page.get_by_test_id("stAlert")).to_contain_text(sentence)
        expect(page.get_by_test_id("stPlotlyChart")).to_have_count(0)


def test_many_pairs_of_the_reader_are_scored_beside_shared_words(open_page):
    page = open_page(address(nsp="benchmark", nsp_count="20"))
    page.get_by_role("button", name="Read the pairs").click()
    expect(page.get_by_text("The mistakes it was surest of")).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(3)
    expect(page.get_by_text("shared words only").first).to_be_visible()
    page.get_by_role("radio", name="Same document").click()
    expect(page.get_by_text("(same document)")).to_be_visible()


def test_an_uploaded_text_of_one_document_says_which_pairs_are_missing(open_page, tmp_path):
    page = open_page(address(nsp="benchmark", nsp_count="20", nsp_source="file"))
    expect(page.get_by_text("Choose a text file")).to_be_visible()
    words = "cup plate knife fork spoon glass bowl pan".split()
    file = tmp_path / "mine.txt"
    file.write_text(" ".join(f"The {word} was on the old table." for word in words), encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Read the pairs").click()
    expect(page.get_by_text("The text is one document")).to_be_visible(timeout=120_000)


@pytest.mark.parametrize(
    "query, sentence",
    [
        ({"a": A, "b": ""}, "Sentence B is empty"),
        ({"a": A, "b": "ᚠᚢᚦ ᚨᚱᚲ"}, "knows no word of sentence B"),
    ],
)
def test_a_pair_that_cannot_be_judged_is_refused_in_one_sentence(open_page, query, sentence):
    page = open_page(address(**query))
    expect(page.get_by_test_id("stAlert")).to_contain_text(sentence)
    expect(page.get_by_test_id("stMetric")).to_have_count(0)


def write(page, text: str) -> None:
    box = page.get_by_role("textbox", name="The document")
    box.fill(text)
    box.press("Control+Enter")


def test_a_file_that_is_too_large_is_refused_with_a_sentence_in_sight(open_page):
    page = open_page(address(nsp="document"))
    page.locator("input[type=file]").set_input_files(
        {"name": "large.txt", "mimeType": "text/plain", "buffer": b"A sentence. " * 100_000}
    )
    refused = page.get_by_text("File must be 1.0MB or smaller")
    expect(refused).to_be_visible()
    box = refused.bounding_box()
    assert box and box["width"] > 100 and box["height"] > 10, "Streamlit would hide it until the mouse is over it"
