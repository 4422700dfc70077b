"""The verdict on the perturbations of a pair names the cues that move the answer."""

import numpy as np

from app.views.nextsentence import verdict
from probes.nextsentence.perturbations import Perturbation, PerturbationResult


def result(name: str, cue: str, probability: float) -> PerturbationResult:
    return PerturbationResult(Perturbation(name, name, cue), np.array([probability]))


def test_the_verdict_names_the_cues_that_move_the_answer():
    text = verdict.text(
        [
            result("pair", "", 0.9),
            result("topic", "what B is about", 0.2),
            result("shuffled", "the order of the words", 0.88),
            result("swapped", "the order", 0.8),
        ]
    )
    assert text == (
        "The answer is IsNext: P(IsNext) is 0.90 (in brackets: after a change). "
        "It follows what B is about (0.20). It hardly notices the order of the words (0.88)."
    )


def test_the_verdict_on_a_head_that_predicts_the_same_of_everything():
    text = verdict.text([result("pair", "", 0.97), result("topic", "what B is about", 0.95)])
    assert "tells little about this B" in text
