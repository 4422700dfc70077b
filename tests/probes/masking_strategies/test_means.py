"""Means over the seeds of trained models, and their baselines."""

import numpy as np
import pandas as pd

from probes.masking_strategies import training_runs

TABLE = pd.DataFrame(
    {
        "condition": ["b", "b", "a", "c"],
        "masked": [0.5, 0.75, 0.25, np.nan],
        "masked_most_frequent": [0.125, 0.125, 0.125, np.nan],
        "probe": np.nan,
    }
)


def test_the_mean_over_seeds_is_that_of_the_models_that_were_measured_in_their_order():
    assert list(training_runs.means(TABLE, "masked").items()) == [("b", 0.625), ("a", 0.25)]


def test_what_was_not_measured_has_no_mean():
    assert training_runs.means(TABLE, "probe") == training_runs.means(TABLE, "absent") == {}
    assert training_runs.baseline(TABLE, "probe") is training_runs.baseline(TABLE, "absent") is None
    assert training_runs.baseline(TABLE, "masked_most_frequent") == 0.125
