"""Figures show what they are given, and text stays text."""

import numpy as np
import pandas as pd

from app.figures import attention, bipartite, input, label_placement, states, theme, token_chips, training, word_bars
from app.layout import plain
from model import BertConfig, Token, ledger

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_chip_shows_markup_and_never_runs_it():
    shown = token_chips.row((Token(HOSTILE, 7, 0, 1, 0, (0, 5)),))
    assert HOSTILE not in shown
    assert "&lt;img src=x" in shown


def test_chips_say_segment_position_and_kind():
    pieces = Token("play", 5, 1, 1, 0, (0, 4)), Token("##ing", 6, 1, 2, 0, (4, 7))
    shown = token_chips.row((Token("[CLS]", 101, 0, 0, None, None), *pieces))
    assert shown.count('class="chip ') == 3
    assert "chip a special" in shown
    assert "chip b continues" in shown
    assert "Always first" in shown


def test_lines_are_drawn_only_where_there_is_weight():
    attention = np.eye(3)
    figure = bipartite.bipartite(attention, ["a", "b", HOSTILE], frozenset({1}))
    assert sum(np.isfinite(trace.y).sum() for trace in figure.data if trace.mode == "lines") == 6
    assert all("<img" not in text for trace in figure.data if trace.mode == "text" for text in trace.text)


def test_the_word_that_stood_there_has_its_own_colour():
    figure = word_bars.bars(pd.DataFrame({"word": ["tea", "coffee"], "probability": [0.6, 0.4]}), "coffee")
    assert len(set(figure.data[0].marker.color)) == 2


def test_the_table_of_parameters_adds_up():
    table = input.ledger_table({"base": ledger(BertConfig()), "tiny": ledger(BertConfig.preset("tiny"))})
    assert table["base"].iloc[-1] == table["base"].iloc[:-1].sum() == 110_106_428


def test_plain_text_survives_markdown():
    assert plain("a*b* [x](http://y) :red[z] $q$") == r"a\*b\* \[x\]\(http\://y\) \:red\[z\] \$q\$"


def test_the_mix_of_values_is_the_sum_of_the_strips_above_it():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(7, 5)), rng.dirichlet(np.ones(7))
    drawn = np.array(attention.mixture(values, weights, [HOSTILE] * 7).data[0].z)
    assert len(drawn) == 4 + 1 + 1
    np.testing.assert_allclose(drawn[:-1].sum(0), drawn[-1])
    np.testing.assert_allclose(drawn[-1] / np.abs(drawn[-1]).max(), weights @ values / np.abs(weights @ values).max())


def test_in_the_dark_heatmaps_grow_brighter_and_type_on_strong_cells_dark():
    figure = states.square(np.array([[1.0, 0.2], [0.2, 1.0]]), ["a", "b"])
    theme.for_the_dark(figure)
    parts = [list(map(float, colour[5:-1].split(","))) for _, colour in figure.data[0].colorscale]
    light = [sum(rgb) * alpha for *rgb, alpha in parts]
    assert light == sorted(light)
    assert [said.font.color for said in figure.layout.annotations] == [theme.ON_BRIGHT, None, None, theme.ON_BRIGHT]


def test_a_long_curve_keeps_its_first_steps_and_its_last_and_a_short_one_every_step():
    for steps in (1, 40, 9000):
        rows = pd.DataFrame({"step": range(steps), "held_mlm_accuracy": np.linspace(0, 1, steps)})
        curve = training.accuracies(rows).data[0]
        assert list(curve.customdata[:40]) == list(range(min(steps, 40)))
        assert (curve.customdata[-1], curve.y[-1]) == (steps - 1, rows["held_mlm_accuracy"].iloc[-1])
        assert len(curve.y) <= training.POINTS


def test_labels_of_near_points_stand_on_different_sides_and_inside_the_picture():
    low, high = np.zeros(2), np.ones(2)
    assert label_placement.sides(np.array([[0.5, 0.5]]), ["alone"], low, high) == ["top center"]
    near = label_placement.sides(np.array([[0.5, 0.5], [0.52, 0.5], [0.51, 0.52]]), ["table", "chair", "lamp"], low, high)
    assert len(set(near)) == 3
    assert label_placement.sides(np.array([[0.99, 0.99]]), ["corner"], low, high) == ["bottom left"]
