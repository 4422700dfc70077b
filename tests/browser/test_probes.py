"""Probes in a real browser: upload, run, stop, live probe, download, reopen."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model import smallworld
from probes import bundled
from probes.probing import apply, features, results
from tests.browser.conftest import settled

LONG = 180_000  # a run shares the machine with the other tests


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    """A small treebank as a file of the user."""
    file = tmp_path_factory.mktemp("treebank") / "mine.conllu"
    file.write_text("".join(story.conllu() for story in smallworld.stories(5, 16)))
    return file


def upload(page: Page, treebank: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(treebank)
    expect(page.get_by_text("112 sentences")).to_be_visible()
    settled(page)


def test_an_uploaded_treebank_is_probed_downloaded_and_reopened(open_page, treebank, tmp_path):
    page = open_page("/probes?data=upload")
    upload(page, treebank)
    page.get_by_role("button", name="Train probes").click()
    expect(page.get_by_text("part of speech in english, from mine.conllu")).to_be_visible(timeout=LONG)
    for name in ("random weights (random-init)", "control task", "95 % interval over test examples", "range over 3 seeds"):
        expect(page.locator(".js-plotly-plot").first).to_contain_text(name)
    settled(page)  # what can be saved is drawn last: until then it is the result shown before
    with page.expect_download() as caught:
        page.get_by_role("button", name="Everything as JSON").click()
    saved = tmp_path / "saved.json"
    caught.value.save_as(saved)
    content = json.loads(saved.read_text())
    rows = [(row["seed"], row["layer"]) for row in content["rows"]]
    assert rows == [(seed, layer) for seed in range(3) for layer in range(7)]
    assert content["settings"]["digest"] and content["settings"]["seed"] == 0
    assert content["command"].startswith("python3 run.py probe --model english --data mine.conllu --task upos")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Table as CSV").click()
    header = caught.value.path().read_text().splitlines()[0]
    assert header.startswith(
        "layer,accuracy,low,high,seed_low,seed_high,control,selectivity,random_init,random_init_control,majority"
    )

    again = open_page("/probes")
    again.get_by_text("Open a saved result").click()
    again.locator("input[type=file]").last.set_input_files(saved)
    expect(again.get_by_role("combobox", name="Result")).to_have_value("saved.json (opened)")
    expect(again.locator(".js-plotly-plot").first).to_contain_text("random weights")


def test_a_run_can_be_stopped_and_offers_to_go_on(open_page):
    page = open_page("/probes")
    page.get_by_role("button", name="Train probes").click()
    page.get_by_role("button", name="Stop").click(timeout=LONG)
    expect(page.get_by_text("Stopped.")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_the_live_probe_labels_every_word_of_a_typed_sentence_at_every_layer(open_page, english, tmp_path):
    bundled_result = bundled.probing()["english-upos"]
    result = replace(bundled_result, settings=bundled_result.settings | {"model_digest": features.digest(english)})
    (tmp_path / "mine.json").write_text(result.json())
    page = open_page("/probes?side=live&typed=Anna+sees+the+dog.")
    page.get_by_text("Open a saved result").click()
    page.locator("input[type=file]").last.set_input_files(tmp_path / "mine.json")
    expect(page.get_by_role("combobox", name="Result")).to_have_value("mine.json (opened)")
    settled(page)
    predictions = apply.predict(result, english, "Anna sees the dog.")
    best = int(results.best_row(result)["layer"])
    labels = predictions.labels[predictions.layers.index(best)]
    listed = ", ".join(f"{word}: {label}" for word, label in zip(predictions.units, labels, strict=True))
    expect(page.get_by_text(f"{result.title} at layer {best}: {listed}.")).to_be_visible()
    chart = page.locator(".js-plotly-plot").first
    for word in ("anna", "sees", "the", "dog"):
        expect(chart).to_contain_text(word)
    assert chart.locator("text", has_text=re.compile("^[a-zA-Z]+$")).count() >= 5 * 4


def test_a_file_that_is_no_treebank_is_named_with_its_line(open_page, tmp_path):
    wrong = tmp_path / "wrong.conllu"
    wrong.write_text("# text = Hm\n1\tHm\n")
    page = open_page("/probes?data=upload")
    expect(page.get_by_text("Choose a file: .conllu")).to_be_visible()
    settled(page)
    page.locator("input[type=file]").first.set_input_files(wrong)
    expect(page.get_by_text("Line 2 of wrong.conllu has 2 columns")).to_be_visible()


def test_a_file_that_is_no_result_is_refused_in_a_sentence_and_the_page_stands(open_page, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"format": "bertscope probe 1"}')
    page = open_page("/probes")
    page.get_by_text("Open a saved result").click()
    page.locator("input[type=file]").last.set_input_files(wrong)
    expect(page.get_by_text("wrong.json is no probing result of this version")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_contain_text("control task")


def test_every_label_has_its_precision_recall_and_f1(open_page):
    page = open_page("/probes?side=mistakes&result=english-upos")
    expect(page.get_by_text("their harmonic mean (F1)")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_two_results_on_the_same_test_sentences_are_told_apart_in_a_sentence(open_page):
    page = open_page("/probes?side=compare&result=english-upos")
    expect(page.get_by_text("Solid: each result; dotted in the same colour")).to_be_visible()
    choose = page.get_by_role("combobox", name="Results")
    choose.click()
    choose.fill("part of speech · english, random")
    page.keyboard.press("Enter")
    verdict = re.compile(r"english \(layer \d\) beats .*english, random weights \(layer \d\) by")
    expect(page.get_by_text(verdict)).to_be_visible()


def test_a_phone_sees_the_curve_in_the_dark(open_page):
    page = open_page("/probes", dark=True, width=390, height=800)
    expect(page.locator(".js-plotly-plot").first).to_contain_text("random weights")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
