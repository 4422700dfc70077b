"""The Masking strategies page says the numbers that were measured."""

import pytest
from streamlit.testing.v1 import AppTest

from app.samples.stories import STORY
from app.views.strategies import learning
from model.pretraining.corpus import split_sentences
from probes import bundled
from probes.masking_strategies import corruption


def strategies_page() -> None:
    from app import input_bar, navigation
    from app.views import strategies

    input_bar.show(navigation.entry("attention"))
    strategies.page()


def captions(**query: str) -> str:
    app = AppTest.from_function(strategies_page, default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return "\n".join(element.value.replace("\\", "") for element in (*app.caption, *app.markdown))


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def test_every_measure_names_its_best_and_its_worst_mix_and_its_baseline():
    table, shown = bundled.results("strategies"), captions(question="learning")
    for measure in learning.MEASURES:
        means = {trial: table.loc[table["condition"] == trial, measure].mean() for trial in table["condition"].unique()}
        best, worst = max(means, key=lambda trial: means[trial]), min(means, key=lambda trial: means[trial])
        assert f"{best} is best with {means[best]:.1%}, {worst} worst with {means[worst]:.1%}" in shown, measure
    assert f"best possible {bundled.ceiling('strategies'):.1%}" in shown
    assert f"most frequent word {table['masked_most_frequent'].mean():.1%}" in shown


def test_the_budget_of_the_bundled_models_is_said():
    run = bundled.settings("strategies")
    shown = captions(question="learning")
    assert f"{run['budget']['steps']:,} steps of {run['budget']['batch_size']} pairs" in shown
    assert f"{len(run['seeds'])} seeds" in shown


def test_one_mix_alone_is_not_compared_with_itself():
    assert (
        learning.finding({"80/10/10": 0.5}, [("random weights", 0.25)]) == "80/10/10 reaches 50.0% (random weights 25.0%)."
    )


def test_what_the_model_names_and_notices_is_what_was_measured(english):
    encodings = [english.tokenizer.encode(sentence) for sentence in split_sentences(STORY)]
    masked, replaced, unchanged = corruption.mismatch(english, encodings, 20).itertuples()
    shown = captions(question="model", passage="story", averaged="20", instead="apple")
    assert f"names {masked.accuracy:.0%} where it reads [MASK], {replaced.accuracy:.0%} where it reads a random" in shown
    assert f"and {unchanged.accuracy:.0%} where it reads the word itself" in shown
    assert f"It notices **{replaced.detected:.0%}** of the random words" in shown
    assert f"doubts **{unchanged.detected:.0%}**" in shown


def test_the_shares_of_many_draws_are_on_the_page(english):
    encoding = english.tokenizer.encode(STORY)
    strategy = corruption.MaskingStrategy(0.8, 0.1, 0.1, 0.3)
    selected, masked, *_ = corruption.observed_shares(english, encoding, strategy, 40).itertuples()
    shown = captions(passage="story", rate="30", draws="40")
    assert (
        f"{selected.observed:.1%} of the wordpieces were selected over 40 draws (expected {selected.expected:.1%})" in shown
    )
    assert f"{masked.observed:.1%} of those were masked" in shown
