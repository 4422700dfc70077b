"""A fine-tuned model applied to any text."""

import numpy as np
import pandas as pd

from model.finetuning import FinetunedBert, LabelledInputs, probabilities


def predict(tuned: FinetunedBert, text: str, second: str | None = None) -> pd.DataFrame:
    """label, probability of a sentence or a pair, the most probable first; word, label, probability of tokens."""
    encoding = tuned.bert.tokenizer.encode(text, second)
    words = [token for token in encoding.tokens if not token.is_special and not token.is_continuation]
    positions = [0] if tuned.level == "sentence" else [token.position for token in words]
    inputs = LabelledInputs(
        [encoding], np.array([(0, position) for position in positions]), np.zeros(len(positions), dtype=int)
    )
    by_label = probabilities(tuned, inputs)  # (positions, labels)
    if tuned.level == "sentence":
        rows = zip(tuned.classes, by_label[0].tolist(), strict=True)
        return pd.DataFrame(rows, columns=["label", "probability"]).sort_values("probability", ascending=False)
    labels = [tuned.classes[label] for label in by_label.argmax(-1)]
    return pd.DataFrame({"word": [token.text for token in words], "label": labels, "probability": by_label.max(-1)})
