"""A claim that is true holds, one that is not does not, and both keep what was said and when."""

from pathlib import Path

import numpy as np
import pytest

from model import InputError
from probes import claims, statistics
from probes.claims import ClaimResult, Comparison

STATED = "2026-01-02 03:04:05"


def outcome(work, folder: Path) -> ClaimResult:
    assert list(work)[-1]["fraction"] == 1
    return ClaimResult.read(folder / claims.RESULT)


def test_english_layers_know_the_type_of_a_name_and_the_statement_is_kept_with_its_time(tmp_path):
    result = outcome(claims.layer_knows(tmp_path, "english", "entity", 4, STATED), tmp_path)
    assert result.holds and result.choices == 7
    assert (result.statement, result.stated, result.data) == ("layer 4 knows type of the name", STATED, "reader")
    assert all(result.score > one.score for one in result.comparisons)
    assert {one.baseline for one in result.comparisons} == {"random_init", "control", "word_type", "majority"}


def test_random_weights_know_no_more_than_other_random_weights(tmp_path):
    result = outcome(claims.layer_knows(tmp_path, "smallworld:random", "entity", 1, STATED), tmp_path)
    assert not result.holds


def test_a_head_of_random_weights_finds_no_relation_beyond_a_fixed_offset(tmp_path):
    result = outcome(claims.head_finds(tmp_path, "smallworld:random", "nsubj", 0, 1, STATED, "smallworld"), tmp_path)
    assert not result.holds and result.choices == 8
    assert result.statement == "head 1-2 finds nsubj"
    with pytest.raises(InputError, match="it takes 10"):
        list(claims.head_finds(tmp_path, "smallworld", "vocative", 0, 0, STATED, "smallworld"))


def test_the_verdict_is_about_the_baseline_that_is_least_clearly_beaten_corrected_for_the_choices():
    comparisons = (Comparison("random_init", 0.2, 0.001), Comparison("word_type", 0.5, 0.02))
    result = ClaimResult("s", STATED, STATED, "m", "", "d", "", 0.6, comparisons, 3, 100, 10)
    assert result.hardest.baseline == "word_type" and result.p_value == pytest.approx(0.06) and not result.holds


def test_flipping_signs_gives_small_p_values_to_clear_leads_and_even_ones_to_none():
    sentences = np.arange(40)
    right, wrong = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)
    assert statistics.sign_flip_p_value(right, wrong, sentences) < 1e-4
    assert statistics.sign_flip_p_value(right, right, sentences) == 1
    # the same forty answers in one sentence are one difference: its sign alone says nothing
    assert statistics.sign_flip_p_value(right, wrong, np.zeros(40, dtype=int)) == pytest.approx(0.5, abs=0.02)
