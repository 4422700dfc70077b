"""The next-sentence page without a browser: samples hold, captions have the computed numbers, a missing head is said."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app import session
from app.figures import nextsentence as figures
from app.figures import sentence_order as order_figures
from app.samples.pairs import DOCUMENTS, SAMPLES
from app.views.nextsentence import benchmark as benchmark_view
from app.views.nextsentence import perturbations as perturbations_view
from model import Bert
from model.pretraining import corpus
from probes import nextsentence, statistics
from probes.nextsentence import evidence, metrics, perturbations, sentence_order
from probes.nextsentence.perturbations import Perturbation, PerturbationResult

PAIR = session.DEFAULT_A, session.DEFAULT_B


def nextsentence_page() -> None:
    import streamlit as st

    from app import input_bar, navigation
    from app.views import nextsentence
    from model import BertscopeError

    input_bar.show(navigation.entry("attention"))
    try:
        nextsentence.page()
    except BertscopeError as error:
        st.error(str(error))


def captions(section: str) -> str:
    app = AppTest.from_function(nextsentence_page, default_timeout=120)
    app.query_params["nsp"] = section
    app.run()
    assert not app.exception, app.exception
    return "\n".join(caption.value.replace("\\", "") for caption in app.caption)


def test_there_are_ten_samples_and_each_text_serves_its_pair():
    assert len(SAMPLES) == len({(sample.a, sample.b) for sample in SAMPLES}) == 10
    for sample in SAMPLES:
        if sample.text and sample.a in sample.text:
            assert perturbations.same_document(sample.a, sample.b, sample.text)


def test_every_document_can_be_put_in_order():
    for _, text in DOCUMENTS.values():
        sentence_order.check(corpus.split_sentences(text))


def test_a_checkpoint_without_the_head_gets_one_sentence_and_no_number(tiny_bert, tmp_path, monkeypatch):
    Bert.random_init(tiny_bert.config, tiny_bert.tokenizer, nsp=False).save(tmp_path / "headless")
    monkeypatch.setenv("BERTSCOPE_MODELS", str(tmp_path))
    app = AppTest.from_function(nextsentence_page, default_timeout=60)
    app.query_params["model"] = "headless"
    app.run()
    assert not app.exception
    assert [error.value for error in app.error] == ["headless has no next-sentence head, so it cannot judge pairs."]
    assert not app.metric


def test_choosing_a_sample_writes_both_sentences():
    app = AppTest.from_function(nextsentence_page, default_timeout=60).run()
    app.selectbox(key="start_pair").select(SAMPLES[7].title).run()
    assert not app.exception
    assert (app.text_area(key="a").value, app.text_area(key="b").value) == (SAMPLES[7].a, SAMPLES[7].b)
    assert len(app.metric) == 4


def test_the_captions_of_the_evidence_have_its_numbers(english):
    pair = evidence.of(english, nextsentence.encode_pair(english, *PAIR))
    shown = captions("evidence")
    effect = max(pair.occlusion[~np.isnan(pair.occlusion)], key=abs)
    assert f"goes from {pair.logit_difference:+.2f} to {pair.logit_difference - effect:+.2f}" in shown
    farthest = max(pair.ablated.ravel(), key=lambda probability: abs(probability - pair.by_layer[-1]))
    assert f"switched off, P(IsNext) is {farthest:.3f} instead of {pair.by_layer[-1]:.3f}" in shown
    assert f"goes from {pair.by_layer[0]:.2f} before the first layer" in shown


def test_the_captions_of_a_document_have_its_numbers(english):
    sentences = corpus.split_sentences(next(iter(DOCUMENTS.values()))[1])
    margins = sentence_order.matrix(english, sentences)
    tau = sentence_order.recover(sentence_order.log_probabilities(margins), sentence_order.optimal).tau
    shown = captions("document")
    assert f"Kendall's τ of the recovered order is {tau:+.2f}" in shown
    assert f"with probability {statistics.kendall_p_value(tau, len(sentences)):.2g}" in shown
    assert f"by chance {1 / (len(sentences) - 1):.0%}" in shown


def result(title: str, cue: str, *probabilities: float) -> PerturbationResult:
    return PerturbationResult(Perturbation(title, title, cue), np.array(probabilities))


RESULTS = [
    result("pair", "", 0.9),
    result("topic", "what B is about", 0.1, 0.3),
    result("swap", "the order", 0.89),
    result("empty", "nothing"),
]


def test_the_verdict_names_the_cues_that_move_the_answer_and_those_that_do_not():
    assert perturbations_view.verdict(RESULTS) == (
        "The answer is IsNext: P(IsNext) is 0.90 (in brackets: after a change). It follows what B is about (0.20). "
        "It hardly notices the order (0.89)."
    )
    assert "No change moves it by 0.2 or more" in perturbations_view.verdict([RESULTS[0], RESULTS[2]])


def test_the_finding_counts_the_changes_that_could_be_read():
    assert "1 of 2 changes move it by 0.2 or more, most of all “topic” (to 0.20)" in perturbations_view.finding(RESULTS)


def test_the_finding_of_many_pairs_has_the_model_and_the_shared_words():
    truth = np.array([True, True, False, False])
    right, half = (
        metrics.binary(np.array([0.9, 0.8, 0.1, 0.2]), truth),
        metrics.binary(np.array([0.9, 0.2, 0.8, 0.1]), truth),
    )
    assert benchmark_view.finding({"another": (right, half), "swapped": (half, half)}).startswith(
        "False B from another document 100% right; swapped with A 50% right (guessing: 50 %, dotted). "
        "Shared words (lexical overlap, orange) alone: 50%, 50%."
    )


def test_the_tokens_of_the_evidence_are_escaped_and_numbered_by_their_weight(tiny_bert):
    pair = nextsentence.encode_pair(tiny_bert, "the cat < a dog", "he likes <b> new york")
    answer = evidence.of(tiny_bert, pair)
    html = figures.occlusion(answer)
    assert "<b><</b>" not in html
    assert html.count("chip") == len(pair) + 1
    assert f"{answer.occlusion[1]:+.2f}" in html


def test_the_matrix_frames_every_true_next_sentence():
    scores = np.full((5, 5), 0.5)
    frames = order_figures.matrix(scores, list("abcde"))["layout"]["shapes"]
    assert [(frame["x0"] + 0.5, frame["y0"] + 0.5) for frame in frames] == [(2, 1), (3, 2), (4, 3), (5, 4)]


@pytest.mark.parametrize("probabilities", [(), (0.25, 0.75)])
def test_a_change_without_an_input_has_no_range(probabilities):
    change = result("x", "y", *probabilities)
    assert (change.lowest, change.highest) == ((0.25, 0.75) if probabilities else (None, None))
