"""What a page quotes of a training: the last known values up to a step, and the strongest target of a head."""

import numpy as np
import pandas as pd

from model import Encoding, Token
from probes.training_replay import SnapshotPrediction, values_at

HISTORY = pd.DataFrame({"step": [0, 10, 20], "mlm_loss": [np.nan, 5.0, 4.0], "heldout_mlm_accuracy": [0.1, np.nan, np.nan]})


def test_the_last_known_value_of_each_column_counts():
    assert values_at(HISTORY, 0) == {"step": 0.0, "heldout_mlm_accuracy": 0.1}
    assert values_at(HISTORY, 15) == {"step": 10.0, "mlm_loss": 5.0, "heldout_mlm_accuracy": 0.1}
    assert values_at(HISTORY) == {"step": 20.0, "mlm_loss": 4.0, "heldout_mlm_accuracy": 0.1}
    assert values_at(HISTORY.head(0)) == {}


def test_a_head_attends_most_to_the_largest_weight_of_the_masks_row():
    attention = np.zeros((1, 2, 3, 3), dtype=np.float16)
    attention[0, 1, 1] = [0.25, 0.25, 0.5]
    tokens = tuple(Token(text, index, 0, index, None, None) for index, text in enumerate(("[CLS]", "[MASK]", "home")))
    encoding = Encoding(tokens, ("[MASK] home",), (0,))
    prediction = SnapshotPrediction({"go": 0.5, "run": 0.25, "eat": 0.125}, encoding, 1, attention)
    assert prediction.strongest_target(0, 1) == ("home", 0.5)
    assert prediction.top(2).to_dict("list") == {"word": ["go", "run"], "probability": [0.5, 0.25]}
