"""An answer says what it is in one line, however much it holds."""

from dataclasses import dataclass

import numpy as np
import torch

from model.short_repr import ShortRepr


@dataclass(repr=False)
class Answer(ShortRepr):
    weights: np.ndarray
    words: list[str]
    scores: dict[str, object]
    text: str = ""


def test_arrays_are_shown_by_their_shape_and_long_lists_by_their_length():
    answer = Answer(np.zeros((3, 400)), ["word"] * 2000, {"first": torch.zeros(5), "second": 0.5})
    assert repr(answer) == "Answer(weights=<3 × 400>, words=<2,000 items>, scores={'first': <5>, 'second': 0.5}, text='')"


def test_what_is_short_is_shown_as_it_is_and_a_long_text_is_cut():
    shown = repr(Answer(np.zeros(1), ["a", "b"], {}, "x" * 1000))
    assert "words=['a', 'b'], scores={}" in shown
    assert len(shown) < 120 and shown.endswith("…)")
