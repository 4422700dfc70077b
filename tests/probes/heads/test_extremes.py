"""The head, the token and the edge that stand out are the ones that were planted."""

import numpy as np
import pandas as pd
import pytest

from probes import heads
from probes.heads import ablation, anatomy, extremes

A, B = "my dog is cute", "he likes playing."


def planted_table() -> pd.DataFrame:
    """Two layers of two heads; the second head of the second layer is sharp, the first head of the first looks far."""
    return pd.DataFrame(
        {
            "layer": [0, 0, 1, 1],
            "head": [0, 1, 0, 1],
            "entropy": [3.0, 2.0, 2.5, 0.5],
            "distance": [9.0, 1.0, 2.0, 4.0],
            "same word": [0.1, np.nan, 0.2, 0.3],
            "label": ["broad", "", "", "next token"],
        }
    )


def test_entropy_names_the_sharpest_head_and_other_measures_the_strongest():
    sharpest = extremes.stand_out(planted_table(), "entropy")
    assert sharpest == extremes.MeasureSummary(mean=2.0, layer=1, head=1, value=0.5)
    assert extremes.stand_out(planted_table(), "distance") == extremes.MeasureSummary(mean=4.0, layer=0, head=0, value=9.0)


def test_a_measure_that_some_head_lacks_has_no_head_that_stands_out():
    assert extremes.stand_out(planted_table(), "same word") is None


def test_labelled_heads_are_counted():
    assert extremes.count_labelled(planted_table()) == 2


def test_the_most_attended_position_is_never_the_query_itself(tiny_bert):
    trace = tiny_bert.trace(A, B)
    key, weight = extremes.most_attended(trace, 1, 2, [3])
    others = np.delete(trace.attention[1, 2, 3], 3)
    assert key != 3
    assert weight == pytest.approx(others.max())
    assert extremes.most_attended(trace, 1, 2, [3], keys=2)[0] < 2


def test_the_strongest_edge_may_be_a_loss():
    change = np.zeros((3, 3))
    change[2, 0], change[1, 1] = -0.4, 0.3
    assert extremes.strongest_edge(change) == (2, 0, -0.4)


def test_the_anatomy_names_its_largest_weight_and_its_longest_output(tiny_bert):
    trace = tiny_bert.trace(A, B)
    head = anatomy.dissect(tiny_bert, trace, 1, 2, 3)
    assert head.weights[head.strongest_key] == head.weights.max()
    index, length = head.strongest_head
    assert length == pytest.approx(head.head_output_norms[index])
    assert length >= head.head_output_norms.max()
    assert head.dot_product(4) == pytest.approx(head.scores[4] * len(head.query) ** 0.5, rel=1e-4)


def test_agreement_of_sizes_ignores_the_sign_of_an_effect():
    effects = np.array([[-3.0, 1.0], [2.0, -0.5]])
    assert ablation.size_agreement(effects, np.abs(effects)) == pytest.approx(1)
    assert ablation.agreement(effects, np.abs(effects)) < 1


def test_a_summary_of_a_real_input_names_its_own_minimum(tiny_bert):
    table = heads.summary(tiny_bert.trace(A, B))
    summary = extremes.stand_out(table, "entropy")
    assert summary is not None
    assert summary.value == pytest.approx(table["entropy"].min())
    assert heads.as_grid(table, "entropy")[summary.layer, summary.head] == pytest.approx(summary.value)
