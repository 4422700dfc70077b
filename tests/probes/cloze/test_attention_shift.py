"""What one edge gains by masking another loses, and the largest shift is where it was planted."""

import numpy as np
import pytest

from probes import cloze
from probes.cloze import attention_shift
from probes.cloze.attention_shift import AttentionShift


def test_what_one_edge_gains_another_loses(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat on the mat")
    shift = attention_shift.measure(tiny_bert, encoding, cloze.mask(tiny_bert, encoding, [2]))
    np.testing.assert_allclose(shift.difference.sum(-1), 0, atol=1e-5)
    assert 0 < shift.total_variation.max() <= 1


def test_masking_nothing_moves_nothing(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat sat on the mat")
    shift = attention_shift.measure(tiny_bert, encoding, encoding)
    assert shift.mean == 0
    assert shift.largest[1] == 0


def test_the_largest_shift_is_the_planted_one():
    before = np.full((2, 3, 4, 4), 0.25)
    after = before.copy()
    after[1, 2] = np.eye(4)  # each row sends three quarters of its attention elsewhere
    shift = AttentionShift(before, after)
    assert shift.largest == ((1, 2), pytest.approx(0.75))
    assert shift.mean == pytest.approx(0.75 / 6)
