"""What rounding to int8 costs: the same masked words asked of a model and of its rounded copy."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch

from app.browser import weights
from model import Bert, Encoding, InputError, Token, batches_by_length
from model.tokenizer import MASK
from probes import reader

MASKS = 2000
SHARE = 0.15  # of the words of a sentence, as in pre-training


@dataclass(frozen=True)
class RoundingCost:
    """Of `masks` hidden words, how many get the same first guess, and how far probabilities move.

    `largest_change` is that of any word's probability behind any mask; `correct` counts first guesses that are the word
    that stood there, before and after rounding.
    """

    masks: int
    same_first: int
    largest_change: float
    mean_change: float  # of the probability of the first guess
    correct: tuple[int, int]

    @property
    def agreement(self) -> float:
        return self.same_first / self.masks

    def __str__(self) -> str:
        return (
            f"{self.agreement:.1%} of the first guesses behind {self.masks:,} masks stay the same; the first guess is right "
            f"{self.correct[1] / self.masks:.1%} of the time ({self.correct[0] / self.masks:.1%} before rounding); "
            f"a probability moves by at most {100 * self.largest_change:.1f} points, "
            f"that of the first guess by {100 * self.mean_change:.2f} on average"
        )


def cost(bert: Bert, masks: int = MASKS) -> RoundingCost | None:
    """What rounding costs a model; None without a masked-word head or with a vocabulary that knows none of the sentences."""
    if bert.mlm is None or next(_readable(bert), None) is None:
        return None
    return measure(bert, weights.round_weights(bert), masks)


def measure(bert: Bert, rounded: Bert, masks: int = MASKS, seed: int = 0) -> RoundingCost:
    """Ask both models for words masked at random in the project's own sentences, which no shipped model has read."""
    encodings, gold = masked_sentences(bert, masks, seed)
    same = 0
    correct = np.zeros(2, dtype=int)
    largest, moved = 0.0, 0.0
    for rows in batches_by_length(encodings):
        batch = [encodings[row] for row in rows]
        answers = [(row, position, token) for row, index in enumerate(rows) for position, token in gold[index]]
        places, positions, tokens = (torch.tensor(column) for column in zip(*answers, strict=True))
        with torch.inference_mode():
            before, after = (
                each.mlm_logits(each.states_at(places, positions, batch)).softmax(-1) for each in (bert, rounded)
            )  # (masks, vocabulary)
        first, second = before.argmax(-1), after.argmax(-1)
        change = (before - after).abs()
        same += int((first == second).sum())
        correct += [int((guess == tokens).sum()) for guess in (first, second)]
        largest = max(largest, float(change.max()))
        moved += float(change[torch.arange(len(first)), first].sum())
    count = sum(map(len, gold))
    return RoundingCost(count, same, largest, moved / count, (int(correct[0]), int(correct[1])))


def masked_sentences(bert: Bert, masks: int, seed: int) -> tuple[list[Encoding], list[list[tuple[int, int]]]]:
    """Sentences of the reader with words masked, and what stood there: (position, id) of each mask."""
    rng = np.random.default_rng(seed)
    encodings: list[Encoding] = []
    gold: list[list[tuple[int, int]]] = []
    readable = list(_readable(bert))
    while (missing := masks - sum(map(len, gold))) > 0:
        encoding, words = readable[int(rng.integers(len(readable)))]
        count = min(missing, max(1, round(SHARE * len(words))))
        hidden = [words[i] for i in sorted(rng.permutation(len(words))[:count])]
        encodings.append(encoding.replace_tokens({t.position: (bert.tokenizer.mask_id, MASK) for t in hidden}))
        gold.append([(t.position, t.id) for t in hidden])
    return encodings, gold


def _readable(bert: Bert) -> Iterator[tuple[Encoding, list[Token]]]:
    """The sentences of which the vocabulary knows at least two words, and their known wordpieces."""
    for text in reader.read().texts:
        for sentence in text.sentences:
            with suppress(InputError):
                encoding = bert.tokenizer.encode(sentence.text)
                words = [t for t in encoding.tokens if not t.is_special and t.id not in bert.tokenizer.special_ids]
                if len(words) > 1:
                    yield encoding, words
