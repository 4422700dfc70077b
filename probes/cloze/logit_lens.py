"""The logit lens: what the masked-word head would predict, were each layer the last. nostalgebraist (2020), for BERT."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, activations


@dataclass(frozen=True)
class LogitLens:
    """The head's prediction from hidden[layer] at every position; layer 0 is the embedding output."""

    words: list[list[str]]  # (layers + 1, seq) the most probable word
    probability: np.ndarray  # (layers + 1, seq) its probability
    gold_probability: np.ndarray  # (layers + 1, seq) the probability of the gold token
    gold_rank: np.ndarray  # (layers + 1, seq) its rank, 0 is the most probable

    def decided_from(self, position: int) -> int:
        """The first layer from which the model's answer, the first word of the last layer, stays the first word."""
        words = [row[position] for row in self.words]
        return _stays_from([word == words[-1] for word in words])

    def gold_first_from(self, position: int) -> int | None:
        """The first layer from which the gold token stays first; None where it is not first in the end."""
        layer = _stays_from((self.gold_rank[:, position] == 0).tolist())
        return layer if layer < len(self.gold_rank) else None

    def __repr__(self) -> str:
        layers, tokens = self.probability.shape
        return f"LogitLens({layers - 1} layers, {tokens} tokens)"


def _stays_from(values: Sequence[bool]) -> int:
    """The index from which all values are true to the end; their number where the last is not."""
    return next((index + 1 for index in reversed(range(len(values))) if not values[index]), 0)


def read_layers(bert: Bert, encoding: Encoding, true: Sequence[int]) -> LogitLens:
    """Read every layer at every position through the model's own head; `true` is the id to look for at each."""
    ((_, arrays),) = activations(bert, [encoding], ["hidden"])
    with torch.inference_mode():
        wanted = torch.tensor(true, device=bert.device)[:, None]
        words, rows = [], []
        for states in torch.from_numpy(arrays["hidden"]).to(
            bert.device
        ):  # one layer after the other: all of them at once would not fit for long inputs
            predicted = bert.mlm_logits(states).softmax(-1)  # (seq, vocabulary)
            top = predicted.max(-1)
            own = predicted.gather(1, wanted)
            words.append(
                [
                    bert.tokenizer.vocabulary[index] if index < bert.tokenizer.vocab_size else "[UNK]"
                    for index in top.indices.tolist()
                ]
            )
            rows.append((top.values.cpu().numpy(), own[:, 0].cpu().numpy(), (predicted > own).sum(1).cpu().numpy()))
    probability, own, rank = (np.stack(part) for part in zip(*rows, strict=True))
    return LogitLens(words, probability, own, rank)
