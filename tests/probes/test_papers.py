"""Every card has a claim, its published numbers, ours on the same axis, and a way to make ours again."""

import pytest

import model
from app.navigation import PAGES
from probes import bundled, papers
from probes.probing import experiment, features, results

PROBING = [
    result
    for result in bundled.probing().values()
    if result.settings["model"] == "english" and result.settings["data"] == experiment.READER
]
CARDS = {
    card.key: card
    for card in papers.cards(
        PROBING, bundled.measurements(), bundled.results(bundled.STRATEGIES), bundled.results(bundled.DIRECTIONS)
    )
}


def test_there_is_a_card_for_each_paper_with_ours_on_it_and_a_page_that_makes_it_again():
    assert len(CARDS) == 9
    addresses = {entry.address for group in PAGES.values() for entry in group}
    for card in CARDS.values():
        assert not card.ours.empty and card.claim and card.difference
        assert card.rerun.partition("?")[0] in addresses
    assert CARDS["ethayarajh"].published.empty


def test_ours_are_the_numbers_of_the_shipped_results():
    upos = next(result for result in PROBING if result.settings["task"] == "upos")
    ours = CARDS["hewitt-liang"].ours
    best = results.best_row(upos)
    shown = dict(zip(ours[ours["kind"] == papers.OURS]["label"], ours[ours["kind"] == papers.OURS]["value"], strict=True))
    assert shown == {"accuracy": best["accuracy"], "control task": best["control"], "selectivity": best["selectivity"]}


def test_published_numbers_agree_with_each_other():
    published = CARDS["hewitt-liang"].published.set_index("label")["value"]
    assert published["accuracy"] - published["control task"] == pytest.approx(published["selectivity"])


def test_without_results_a_card_has_the_published_numbers_alone():
    cards = papers.cards([], None, bundled.results(bundled.STRATEGIES), bundled.results(bundled.DIRECTIONS))
    assert all(card.ours.empty for card in cards if not card.key.startswith("table"))


def test_the_stored_measurements_are_of_the_shipped_weights_and_of_the_reader_as_it_is():
    stored = bundled.measurements()
    assert stored.model_digest == features.digest(model.load("english"))
    assert stored.digest == experiment.reader().digest
    assert all(0 <= row["accuracy"] <= 1 and row["count"] >= papers.MIN_COUNT for row in stored.relations)
    assert stored.pruning[-1]["bits"] > stored.pruning[0]["bits"]
    assert len(stored.anisotropy) == len(stored.self_similarity) == 7
