"""Figures show the values of an answer, and text stays text."""

import numpy as np
import pandas as pd

from app.figures import attention, bipartite, input, label_placement, states, theme, token_chips, training, word_bars
from app.layout import escape
from model import BertConfig, Token, parameter_counts

HOSTILE = '<img src=x onerror="alert(1)">'


def test_a_chip_shows_markup_and_never_runs_it():
    html = token_chips.row((Token(HOSTILE, 7, 0, 1, 0, (0, 5)),))
    assert HOSTILE not in html
    assert "&lt;img src=x" in html


def test_chips_say_segment_position_and_kind():
    pieces = Token("play", 5, 1, 1, 0, (0, 4)), Token("##ing", 6, 1, 2, 0, (4, 7))
    html = token_chips.row((Token("[CLS]", 101, 0, 0, None, None), *pieces))
    assert html.count('class="chip ') == 3
    assert "chip a special" in html
    assert "chip b continues" in html
    assert "Always first" in html


def test_lines_are_drawn_only_where_there_is_weight():
    traces = bipartite.lines(np.eye(3), ["a", "b", HOSTILE], frozenset({1}))["data"]
    heights = [y for trace in traces if trace["mode"] == "lines" for y in trace["y"] if y is not None]
    labels = [text for trace in traces if trace["mode"] == "text" for text in trace["text"]]
    assert sorted(heights) == [-2, -2, -1, -1, 0, 0]
    assert sorted(labels) == sorted(["a", "b", theme.escape(HOSTILE)] * 2)


def test_the_word_that_stood_there_has_its_own_colour():
    figure = word_bars.bars(pd.DataFrame({"word": ["tea", "coffee"], "probability": [0.6, 0.4]}), "coffee")
    assert figure["data"][0]["marker"]["color"] == [theme.ACCENT, theme.HIGHLIGHT]


def test_the_table_of_parameters_adds_up():
    table = input.ledger_table({"base": parameter_counts(BertConfig()), "tiny": parameter_counts(BertConfig.preset("tiny"))})
    assert table["base"].iloc[-1] == table["base"].iloc[:-1].sum() == 110_106_428


def test_plain_text_survives_markdown():
    assert escape("a*b* [x](http://y) :red[z] $q$") == r"a\*b\* \[x\]\(http\://y\) \:red\[z\] \$q\$"


def test_the_mix_of_values_is_the_sum_of_the_strips_above_it():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(7, 5)), rng.dirichlet(np.ones(7))
    strips = attention.mixture(values, weights, [HOSTILE] * 7)["data"][0]["z"]
    context = weights @ values
    assert len(strips) == 4 + 1 + 1
    np.testing.assert_allclose(strips[:-1].sum(0), strips[-1])
    np.testing.assert_allclose(strips[-1] / np.abs(strips[-1]).max(), context / np.abs(context).max())


def test_in_the_dark_heatmaps_grow_brighter_and_type_on_strong_cells_dark():
    figure = theme.to_dark(states.similarity_map(np.array([[1.0, 0.2], [0.2, 1.0]]), ["a", "b"]))
    channels = [list(map(float, colour[5:-1].split(","))) for _, colour in figure["data"][0]["colorscale"]]
    brightness = [sum(rgb) * alpha for *rgb, alpha in channels]
    numbers = [annotation["font"].get("color") for annotation in figure["layout"]["annotations"]]
    assert brightness == sorted(brightness)
    assert numbers == [theme.ON_BRIGHT, None, None, theme.ON_BRIGHT]


def test_a_long_curve_keeps_its_first_steps_and_its_last_and_a_short_one_every_step():
    for steps in (1, 40, 9000):
        rows = pd.DataFrame({"step": range(steps), "heldout_mlm_accuracy": np.linspace(0, 1, steps)})
        curve = training.accuracies(rows)["data"][0]
        assert curve["customdata"][:40].tolist() == list(range(min(steps, 40)))
        assert curve["customdata"][-1] == steps - 1
        assert curve["y"][-1] == rows["heldout_mlm_accuracy"].iloc[-1]
        assert len(curve["y"]) <= training.POINTS


def test_labels_of_near_points_stand_on_different_sides_and_inside_the_picture():
    low, high = np.zeros(2), np.ones(2)
    assert label_placement.sides(np.array([[0.5, 0.5]]), ["alone"], low, high) == ["top center"]
    near = label_placement.sides(np.array([[0.5, 0.5], [0.52, 0.5], [0.51, 0.52]]), ["table", "chair", "lamp"], low, high)
    assert len(set(near)) == 3
    assert label_placement.sides(np.array([[0.99, 0.99]]), ["corner"], low, high) == ["bottom left"]


def test_a_marked_token_beyond_those_drawn_is_left_out():
    traces = bipartite.lines(np.eye(2), ["a", "b"], frozenset({1, 5}))["data"]
    marked = [trace["text"] for trace in traces if trace["mode"] == "text" and trace["textfont"].get("color")]
    assert marked == [["b"]]
