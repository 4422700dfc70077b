"""Fine-tuning in a real browser: an example at once, a file of one's own, and the model it leaves."""

import re
from datetime import datetime

import pytest
from playwright.sync_api import expect

from app.jobs import registry
from app.ownership import OWNER
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


def test_an_example_stands_there_before_the_first_order(open_page):
    page = open_page("/fine-tune")
    chart = page.locator(".js-plotly-plot").first
    for name in ("fine-tuned", "from random weights", "BERT frozen", "most frequent label"):
        expect(chart).to_contain_text(name)
    page.get_by_text("What changed inside", exact=True).click()
    expect(page.get_by_text("its states before and after are alike by")).to_be_visible()
    expect(page.get_by_text("goes elsewhere than before")).to_be_visible()
    page.get_by_text("Mistakes", exact=True).click()
    expect(page.locator(".mistakes")).to_be_visible()
    page.get_by_text("Try it", exact=True).click()
    expect(page.get_by_text("does not come with the project")).to_be_visible()


def test_a_table_of_ones_own_is_learned_and_its_model_answers(open_page, table):
    page = open_page("/fine-tune?model=smallworld&labelled=upload")
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
    expect(page.get_by_text("in the list of models as markets")).to_be_visible()

    other = open_page("/attention?model=markets")
    expect(other.get_by_role("combobox", name="Model")).to_have_value("markets")
    expect(other.get_by_text("has no masked-word head")).to_be_visible()

    page.get_by_role("textbox", name="Name of the new model").fill("markets")
    page.get_by_role("textbox", name="Name of the new model").press("Enter")
    settled(page)
    page.get_by_role("button", name="Fine-tune").click()
    expect(page.get_by_text("There is a model called markets already")).to_be_visible()

    # a stranger sees the example, and by its link the result; its owner names and deletes it
    (result,) = re.findall(r"tuned=([\w-]+)", page.url)
    other.goto(page.url.split("/fine-tune")[0] + "/fine-tune")
    expect(other.get_by_role("combobox", name="Result")).to_have_value(re.compile("shipped"))
    other.goto(f"{page.url.split('?')[0]}?tuned={result}")
    expect(other.get_by_text("tells elsewhere or market")).to_be_visible()
    expect(other.get_by_role("button", name="Share")).to_be_visible()
    expect(other.get_by_role("button", name="Delete")).to_have_count(0)
    page.goto(f"{page.url.split('?')[0]}?tuned={result}")
    settled(page)
    page.get_by_role("button", name="Name it").click()
    page.get_by_label("Name of this result").fill("To the market")
    page.get_by_label("Name of this result").press("Enter")
    settled(page)
    page.get_by_role("button", name="Save the name").click()
    expect(page.get_by_role("combobox", name="Result")).to_have_value("To the market")
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("combobox", name="Result")).to_have_value(re.compile("shipped"))


def test_files_for_train_and_test_of_ones_own_are_kept_apart(open_page, table, tmp_path):
    header, *rows = table.read_text().splitlines()
    for name, part in (("a", rows[:50]), ("b", rows[49:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *part]))
    page = open_page("/fine-tune?model=smallworld&labelled=splits")
    uploads = page.locator("input[type=file]")
    uploads.nth(0).set_input_files(tmp_path / "a.csv")
    settled(page)
    uploads.nth(2).set_input_files(tmp_path / "b.csv")
    expect(page.get_by_text("85 sentences;")).to_be_visible()
    expect(page.get_by_text(re.compile("stands? in two of the files"))).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Fine-tune").click()
    expect(page.get_by_text("stood in two and were left out of the one that learns")).to_be_visible(timeout=LONG)
    page.get_by_text("The numbers").click()
    expect(page.get_by_text("--train a.csv --test b.csv").first).to_be_visible()


def test_a_damaged_result_is_named_and_passed_over(open_page, server_folder, monkeypatch):
    runs = server_folder / "runs"
    monkeypatch.setenv("BERTSCOPE_RUNS", str(runs))
    job = runs / f"{datetime.now():%Y%m%d-%H%M%S}-0123456789"
    (job / "results").mkdir(parents=True)
    (job / "results" / "result.json").write_text('{"format": "bertscope fine-tuning 0", "sett')
    page = open_page("/fine-tune")
    owner = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == OWNER)
    with registry.transaction() as database:
        registry.insert(
            database,
            id=job.name,
            owner=owner,
            title="An old one",
            function="app.work.finetuning:run",
            fingerprint="",
            arguments='{"out": "x"}',
            arguments_digest="",
            state="done",
            queue_order=0,
            created=0.0,
        )
    page.reload()
    expect(page.get_by_text("Passed over: An old one: result.json")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text("BERT frozen")


def test_a_file_without_labels_is_refused_in_one_sentence(open_page, tmp_path):
    (tmp_path / "mine.csv").write_text("words\nnothing here\n")
    page = open_page("/fine-tune?labelled=upload")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "mine.csv")
    expect(page.get_by_text("needs a first line with the columns text,label")).to_be_visible()
