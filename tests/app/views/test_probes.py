"""The Probes page says the numbers of the open result."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.widgets import dataset
from probes import bundled
from probes.probing import results
from probes.probing.results import ProbingResult

OPEN = dict(zip(bundled.PROBED, bundled.probing(), strict=True))


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


@pytest.mark.parametrize("slug", OPEN)
def test_duplicates_and_sentences_left_out_are_counted_on_the_page(slug):
    sizes = OPEN[slug].sizes
    shown = captions(result=slug)
    assert f"{sizes['duplicates']:,} repeat another and are in its split." in shown
    assert f"{sizes['left_out']:,} stood in two and were left out of the one that learns." in shown
    assert dataset.split_note(sizes) in shown


@pytest.mark.parametrize("slug", OPEN)
def test_the_caption_has_the_best_layer_its_interval_and_its_baseline(slug):
    rows = results.table(OPEN[slug])
    best: Any = next(row for row in rows.itertuples() if row.accuracy == rows["accuracy"].max())
    shown = captions(result=slug)
    sentence = f"{best.accuracy:.1%} right at layer {best.layer}, with random weights (random-init baseline) "
    assert f"{sentence}{best.random_init:.1%}." in shown
    assert f"{best.low:.1%} to {best.high:.1%}. Orange, smallest to largest of 3 seeds: {best.seed_low:.1%}" in shown
    assert f"{100 * best.selectivity:+.1f} points at layer {best.layer}" in shown


def test_the_mistakes_are_counted_as_in_the_matrix():
    result = OPEN["english"]
    layer = int(results.best_row(result)["layer"])
    matrix = result.confusion[str(layer)]
    correct = sum(matrix[label][label] for label in range(len(matrix)))
    assert f"{correct} of {result.sizes['test']} test examples are right (layer {layer})" in captions(side="mistakes")


def test_beside_others_the_highest_is_named():
    scores: dict[str, ProbingResult] = {f"{results.best_row(one)['score']:.1%}": one for one in OPEN.values()}
    highest = max(scores, key=lambda text: float(text.rstrip("%")))
    assert f"{scores[highest].name} is highest, {highest} at layer" in captions(side="compare")
