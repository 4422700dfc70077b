"""The Probes page says the numbers of the open result."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.widgets import dataset
from probes import bundled
from probes.probing import results
from probes.probing.results import ProbingResult

OPEN = bundled.probing()
SHOWN = ("english-upos", "english-random-entity", "smallworld-upos-smallworld")


def probes_page() -> None:
    from app import input_bar, navigation
    from app.views import probes

    input_bar.show(navigation.entry("attention"))
    probes.page()


def captions(**query: str) -> str:
    app = AppTest.from_function(probes_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return "\n".join(caption.value.replace("\\", "") for caption in app.caption)


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def test_duplicates_and_sentences_left_out_are_counted_on_the_page():
    slug = "smallworld-upos-smallworld"
    sizes = OPEN[slug].sizes
    shown = captions(result=slug)
    assert f"{sizes['duplicates']:,} repeat another and are in its split." in shown
    assert f"{sizes['left_out']:,} stood in two and were left out of the one that learns." in shown
    assert dataset.split_note(sizes) in shown


@pytest.mark.parametrize("slug", SHOWN)
def test_the_caption_has_the_best_layer_its_interval_and_its_baseline(slug):
    rows = results.table(OPEN[slug])
    best: Any = next(row for row in rows.itertuples() if row.accuracy == rows["accuracy"].max())
    shown = captions(result=slug)
    sentence = f"{best.accuracy:.1%} right at layer {best.layer}, with random weights (random-init baseline) "
    assert f"{sentence}{best.random_init:.1%}," in shown
    assert f"on the control task {best.control:.1%}" in shown
    assert f"{best.low:.1%} to {best.high:.1%}. Orange, smallest to largest of 3 seeds: {best.seed_low:.1%}" in shown
    assert f"{100 * best.selectivity:+.1f} points at layer {best.layer}" in shown


def test_the_mistakes_are_counted_as_in_the_matrix():
    result = OPEN["english-upos"]
    layer = int(results.best_row(result)["layer"])
    matrix = result.confusion[str(layer)]
    correct = sum(matrix[label][label] for label in range(len(matrix)))
    total = sum(map(sum, matrix))
    assert f"{correct:,} of {total:,} test examples are right (layer {layer})" in captions(
        side="mistakes", result="english-upos"
    )


def test_the_first_result_on_the_page_beats_every_baseline_and_its_control_task_beyond_its_interval():
    first = next(iter(OPEN.values()))
    lead = results.lead(first)
    assert first.settings["model"] == "english" and first.settings["data"] == "reader"
    assert results.best_row(first)["low"] > lead.value
    assert f"the model beats the best of these by {lead.points:.1f} points." in captions()


def test_all_tasks_of_a_model_stand_in_one_chart_with_their_centres_of_gravity():
    mixed = [one for slug, one in OPEN.items() if slug.startswith("english-") and "random" not in slug and one.mix]
    rows = results.centres_of_gravity(mixed)
    assert len(rows) == len(mixed) >= 10
    shown = captions(side="where")
    assert f"“{rows.iloc[0]['task']}” is written lowest, at layer {rows.iloc[0]['center']:.1f}" in shown
    assert f"“{rows.iloc[-1]['task']}” is written highest, at layer {rows.iloc[-1]['center']:.1f}" in shown


def test_beside_others_the_highest_is_named():
    shown: list[ProbingResult] = list(OPEN.values())[:4]
    highest = max(shown, key=lambda one: results.best_row(one)["score"])
    score = f"{results.best_row(highest)['score']:.1%}"
    assert f"{highest.name} is highest, {score} at layer" in captions(side="compare")
