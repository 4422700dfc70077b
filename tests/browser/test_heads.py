"""What heads do and are for, in a real browser: a treebank, a corpus, the map of heads, the pruning curve."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model import smallworld
from probes import heads
from probes.heads import dependency_relations
from probes.probing import treebank
from probes.probing.alignment import align
from tests.browser.conftest import settled
from tests.browser.test_attention import A, B, address

LONG = 240_000  # work in the queue shares the machine with the other tests
ROW = 35  # pixels of a row in Streamlit's table, and of its header


@pytest.fixture(scope="module")
def treebank_file(tmp_path_factory):
    """A small treebank as a file of the user."""
    file = tmp_path_factory.mktemp("treebank") / "mine.conllu"
    file.write_text("".join(story.conllu() for story in smallworld.stories(5, 12)), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def truth(english, treebank_file):
    """What scoring every head on it must give."""
    *_, counts = dependency_relations.count(english, align(english, treebank.read(treebank_file).sentences).sentences)
    return counts


def choose(page: Page, head: str) -> None:
    """Type into the list of heads and take the one meant."""
    box = page.get_by_role("combobox", name="Head, the best first")
    box.evaluate("element => element.scrollIntoView({block: 'center'})")  # at the edge of the screen its list has no room
    box.fill(head)
    page.get_by_role("option", name=head).click()
    settled(page)


def legend(chart: Locator) -> set[str]:
    return set(chart.locator(".legendtext").all_text_contents())


def test_a_treebank_scores_every_head_and_a_cell_or_any_head_opens_a_sentence(open_page, treebank_file, truth):
    page = open_page(address(panel="relations", trees="upload"))
    page.locator("input[type=file]").set_input_files(treebank_file)
    expect(page.get_by_text("mine.conllu: 84 sentences")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Score every head").click()
    expect(page.get_by_text("over 84 sentences of mine.conllu")).to_be_visible(timeout=LONG)
    settled(page)
    table, grid = page.get_by_test_id("stDataFrame"), truth.table(10)
    for place, x in ((4, 0.9), (2, 0.1)):
        row = grid.iloc[place]
        table.click(position={"x": table.bounding_box()["width"] * x, "y": ROW * (place + 1.5)})
        expect(page.get_by_role("heading", name=f"{row['relation']}: {row['direction']}")).to_be_visible()
        settled(page)
        example = truth.example(row["relation"], row["direction"], row["layer"], row["head"])
        expect(
            page.get_by_text(
                f"A sentence in which head {row['head'] + 1} of layer {row['layer'] + 1} is right about "
                f"{example.words[example.dependent]}, which depends on {example.words[example.head]}"
            )
        ).to_be_visible()
        expect(
            page.get_by_text(f"The tree as it was annotated: {example.words[example.dependent]} hangs on")
        ).to_be_visible()
        board = page.locator(".board").last
        expect(board.locator(".caption")).to_contain_text(f"Layer {row['layer'] + 1}, head {row['head'] + 1}")
        assert board.evaluate("e => e.board.weights.visible.map(unit => unit.label)") == [
            word.lower() for word in example.words
        ]
        side = "row" if row["direction"] == dependency_relations.ARC_DIRECTIONS[0] else "column"
        expect(board.locator(f"[data-side={side}] h2")).to_contain_text(example.words[example.dependent].lower())
    correct = truth.correct[row["relation"]][dependency_relations.ARC_DIRECTIONS.index(row["direction"])]
    layer, head = np.argwhere((correct > 0) & (correct < correct.max()))[0]
    choose(page, f"layer {layer + 1}, head {head + 1}:")
    expect(page.get_by_text(f"A sentence in which head {head + 1} of layer {layer + 1} is right")).to_be_visible()
    expect(board.locator(".caption")).to_contain_text(f"Layer {layer + 1}, head {head + 1}")
    layer, head = np.argwhere(correct == 0)[0]
    choose(page, f"layer {layer + 1}, head {head + 1}:")
    expect(
        page.get_by_text(f"There is no sentence to show: head {head + 1} of layer {layer + 1} is never right")
    ).to_be_visible()


def test_ones_own_sentence_gets_predicted_arcs_and_a_stated_claim_its_verdict(open_page):
    page = open_page(address(panel="relations"))
    expect(page.get_by_text("Predicted, not annotated:")).to_be_visible()
    page.get_by_role("button", name="Test this claim").click()
    verdict = page.get_by_text(
        re.compile(r"It (holds|does not hold): “head 1-1 finds nsubj” is right in [\d.]+%.*Stated \d{4}-")
    )
    expect(verdict.first).to_be_visible(timeout=LONG)
    expect(page.get_by_text("after correction for 72 to choose from").first).to_be_visible()


def test_a_malformed_treebank_is_refused_in_one_sentence_with_its_line(open_page, tmp_path):
    wrong = tmp_path / "wrong.conllu"
    wrong.write_text("# text = Hm\n1\tHm\n", encoding="utf-8")
    page = open_page(address(panel="relations", trees="upload"))
    page.locator("input[type=file]").set_input_files(wrong)
    expect(page.get_by_test_id("stAlert")).to_have_text(
        re.compile("Line 2 of wrong.conllu has 2 columns; CoNLL-U has 10, separated by tabs.$")
    )
    expect(page.get_by_test_id("stAlert")).to_have_count(1)


def test_a_corpus_is_read_with_progress_and_its_result_outlives_a_reload(open_page, tmp_path):
    corpus = tmp_path / "mine.txt"
    corpus.write_text("\n".join(f"My dog number {n} likes playing." for n in range(40)), encoding="utf-8")
    page = open_page(address(panel="patterns", over="corpus"))
    page.locator("input[type=file]").set_input_files(corpus)
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_test_id("stProgress")).to_be_visible()
    result = page.get_by_text("of all heads over 40 sentences of your corpus")
    expect(result).to_be_visible(timeout=LONG)
    expect(page.get_by_text("Done: What heads attend to over a corpus")).to_be_visible()
    page.reload()
    settled(page)
    expect(result).to_be_visible()


def test_the_map_of_heads_is_coloured_by_layer_or_by_label(open_page, english):
    page = open_page(address(panel="patterns"))
    chart = page.locator(".js-plotly-plot").last
    expect(chart.locator(".legendtext").first).to_have_text("layer 1")
    assert legend(chart) == {f"layer {layer}" for layer in range(1, 7)} | {"chosen"}
    assert chart.locator(".scatterlayer .point").count() == 73
    page.get_by_test_id("stButtonGroup").filter(has_text="Colour by").get_by_text("label", exact=True).click()
    expect(chart.locator(".legendtext", has_text="previous token").first).to_be_attached()
    settled(page)
    trace = english.trace(A, B)
    labels = {label or "no label" for label in heads.summary(trace)["label"]}
    assert legend(chart) == labels | {"chosen"}


def test_the_pruning_curve_is_drawn_beside_random_orders(open_page):
    page = open_page(address(panel="ablation"))
    page.get_by_text("How many heads can go?").click()
    text = page.get_by_role("textbox", name="Sentences to measure by")
    text.fill("The old man walked slowly down the street.")
    text.press("Control+Enter")
    settled(page)
    page.get_by_role("button", name="Draw the pruning curve").click()
    expect(page.get_by_text("the loss on 2 masked words")).to_be_visible(timeout=LONG)
    chart = page.locator(".js-plotly-plot").last
    expect(chart.locator(".legendtext")).to_have_text(["greedy", "by gradient", "random order (baseline)"])
    expect(chart).to_contain_text("heads switched off, of 72")
    assert chart.locator(".scatterlayer .point").count() == 3 * 13
