"""Attribution: occlusion is a fall of log P, the gradient its slope, and the shared model is not written to."""

import numpy as np
import pytest

import model
from model import InputError
from probes import cloze
from probes.cloze import attribution
from probes.cloze.attribution import Attribution


def test_occlusion_is_the_fall_of_the_log_probability(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat [MASK] on the mat")
    result = attribution.compare(tiny_bert, encoding, 3, 8)
    occluded = cloze.mask(tiny_bert, encoding, [2])
    before, after = (cloze.probabilities(tiny_bert, e, [3])[0, 8] for e in (encoding, occluded))
    assert result.occlusion[2] == pytest.approx(np.log(before / after), abs=1e-4)
    assert result.occlusion[3] == result.gradient[3] == 0
    assert -1 <= result.correlation <= 1


def test_the_gradient_is_the_slope_of_the_log_probability(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat [MASK] on the mat")
    state = model.trace.trace(tiny_bert, encoding).hidden[0]
    step, log_probs = 1e-2, []
    for scale in (1 + step, 1 - step):
        edits = model.Edits(patches={(0, 2): state[2] * scale})
        log_probs.append(np.log(cloze.probabilities(tiny_bert, encoding, [3], edits)[0, 8]))
    slope = attribution.gradient_x_input(tiny_bert, encoding, 3, 8)[2]
    assert slope == pytest.approx((log_probs[0] - log_probs[1]) / (2 * step), rel=0.02, abs=1e-3)


def test_nothing_is_left_on_the_shared_model(english):
    encoding = english.tokenizer.encode("The cat [MASK] on the mat.")
    attribution.compare(english, encoding, 3, 2000)
    assert all(parameter.grad is None for parameter in english.parameters())


def test_the_strongest_position_is_the_one_of_the_largest_magnitude():
    result = Attribution(np.array([0.1, -2.0, 0.0, 1.5]), np.array([0.3, 0.1, 0.0, -0.2]), correlation=0.0)
    assert result.strongest_by_occlusion == (1, -2.0)
    assert result.strongest_by_gradient == (0, 0.3)


def test_one_unmasked_word_is_too_few_to_compare(tiny_bert):
    with pytest.raises(InputError, match="Only 1 unmasked words are left; attribution compares at least 2"):
        attribution.compare(tiny_bert, tiny_bert.tokenizer.encode("the [MASK] [MASK]"), 2, 8)
