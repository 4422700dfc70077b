"""Fine-tuning in a real browser: an example at once, a file of one's own, and the model it leaves."""

import pytest
from playwright.sync_api import expect

from model import smallworld
from tests.browser.conftest import settled

LONG = 180_000  # a run shares the machine with the other tests


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Sentences of the small world, labelled by whether they name the market."""
    file = tmp_path_factory.mktemp("table") / "mine.csv"
    texts = [sentence.text for story in smallworld.stories(5, 12) for sentence in story.sentences]
    rows = [f'"{text}",{"market" if "market" in text else "elsewhere"}' for text in texts]
    file.write_text("\n".join(["text,label", *rows]))
    return file


def test_an_example_stands_there_before_anything_is_asked(open_page):
    page = open_page("/fine-tune")
    chart = page.locator(".js-plotly-plot").first
    for name in ("fine-tuned", "from random weights", "BERT frozen", "most frequent label"):
        expect(chart).to_contain_text(name)
    page.get_by_text("Mistakes", exact=True).click()
    expect(page.locator(".mistakes")).to_be_visible()
    page.get_by_text("Try it", exact=True).click()
    expect(page.get_by_text("does not come with the project")).to_be_visible()


def test_a_table_of_ones_own_is_learned_and_its_model_answers(open_page, table):
    page = open_page("/fine-tune?model=smallworld&labelled=A+file+I+upload")
    page.locator("input[type=file]").first.set_input_files(table)
    expect(page.get_by_text("84 sentences")).to_be_visible()
    settled(page)
    page.get_by_role("textbox", name="Name of the new model").fill("markets")
    page.get_by_role("textbox", name="Name of the new model").press("Enter")
    settled(page)
    page.get_by_role("button", name="Fine-tune").click()
    expect(page.get_by_text("tells elsewhere or market")).to_be_visible(timeout=LONG)
    page.get_by_text("Try it", exact=True).click()
    typed = page.get_by_role("textbox", name="Type a sentence")
    typed.fill("<b>Anna</b> likes the market.")
    typed.press("Enter")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("market")
    expect(page.get_by_text("in the list of the sidebar as markets")).to_be_visible()

    other = open_page("/attention?model=markets")
    expect(other.get_by_role("combobox", name="Model")).to_have_value("markets")
    expect(other.get_by_text("has no masked-word head")).to_be_visible()

    page.get_by_role("textbox", name="Name of the new model").fill("markets")
    page.get_by_role("textbox", name="Name of the new model").press("Enter")
    settled(page)
    page.get_by_role("button", name="Fine-tune").click()
    expect(page.get_by_text("There is a model called markets already")).to_be_visible()


def test_a_file_without_labels_is_refused_in_one_sentence(open_page, tmp_path):
    (tmp_path / "mine.csv").write_text("words\nnothing here\n")
    page = open_page("/fine-tune?labelled=A+file+I+upload")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "mine.csv")
    expect(page.get_by_text("needs a first line with the columns text,label")).to_be_visible()
