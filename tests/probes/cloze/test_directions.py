"""One direction sees one side only; both directions are the unchanged model."""

import numpy as np
import pytest

from probes import cloze
from probes.cloze import directions


def test_the_left_direction_does_not_depend_on_the_right_context(tiny_bert):
    first, second = (
        directions.predict(tiny_bert, tiny_bert.tokenizer.encode(f"the cat [MASK] {end}"), 3)
        for end in ("on the mat", "my new dog")
    )
    np.testing.assert_allclose(first["left"], second["left"], atol=1e-6)
    assert np.abs(first["right"] - second["right"]).max() > 1e-4


def test_the_right_direction_does_not_depend_on_the_left_context(tiny_bert):
    first, second = (
        directions.predict(tiny_bert, tiny_bert.tokenizer.encode(f"{start} [MASK] on the mat"), 3)
        for start in ("the cat", "my dog")
    )
    np.testing.assert_allclose(first["right"], second["right"], atol=1e-6)
    assert np.abs(first["left"] - second["left"]).max() > 1e-4


def test_both_is_the_unchanged_model_and_averaged_lies_between(tiny_bert):
    encoding = tiny_bert.tokenizer.encode("the cat [MASK] on the mat")
    predicted = directions.predict(tiny_bert, encoding, 3)
    np.testing.assert_allclose(predicted["both"], cloze.probabilities(tiny_bert, encoding, [3])[0], atol=1e-6)
    np.testing.assert_allclose(predicted["averaged"] * 2, predicted["left"] + predicted["right"], atol=1e-6)
    assert [row.sum() for row in predicted.values()] == pytest.approx([1] * 4, abs=1e-4)
