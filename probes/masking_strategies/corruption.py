"""Masking strategies on one text: which words are selected, what replaces them, and what the model predicts there."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from model import Batch, Bert, Encoding, InputError
from model.pretraining.masking import MASKED, RANDOM, SAME, UNSELECTED, MaskingStrategy, corrupt, unit_lengths

from .. import statistics

REPLACEMENTS = {MASKED: "[MASK]", RANDOM: "a random word", SAME: "the word itself"}
POSITIONS_AT_ONCE = 8
# Devlin et al. (2019), Table 8, by MASK/SAME/RND; nothing here is measured by this project
PAPER = pd.DataFrame(
    [
        ("80/10/10", 84.2, 95.4, 94.9),
        ("100/0/0", 84.3, 94.9, 94.0),
        ("80/0/20", 84.1, 95.2, 94.6),
        ("80/20/0", 84.4, 95.2, 94.7),
        ("0/20/80", 83.7, 94.8, 94.6),
        ("0/0/100", 83.6, 94.9, 94.6),
    ],
    columns=["condition", "MNLI, fine-tuned", "NER, fine-tuned", "NER, feature-based"],
)


def sample(bert: Bert, encoding: Encoding, strategy: MaskingStrategy, seed: int) -> tuple[Encoding, np.ndarray]:
    """One corruption of a text: the input as the model reads it, and the replacement of each position (seq,)."""
    corrupted = corrupt(np.array([encoding.ids]), bert.tokenizer, strategy, np.random.default_rng(seed))
    ids, replacement = corrupted.ids[0], corrupted.replacement[0]
    changes = {
        int(position): (int(ids[position]), bert.tokenizer.vocabulary[ids[position]])
        for position in np.flatnonzero(np.isin(replacement, (MASKED, RANDOM)))
    }
    return encoding.replace_tokens(changes), replacement


def observed_shares(bert: Bert, encoding: Encoding, strategy: MaskingStrategy, draws: int, seed: int = 0) -> pd.DataFrame:
    """Observed and expected shares over many draws, with 95 % intervals: what, expected, observed, low, high, count, of.

    Replacements are shares of the selected wordpieces, each drawn alone, so their intervals are binomial. The first row
    is the share of wordpieces that are selected at all, with the interval of `selected_share`.
    """
    ids = np.array([encoding.ids])
    rng = np.random.default_rng(seed)
    replacement = corrupt(np.repeat(ids, draws, axis=0), bert.tokenizer, strategy, rng).replacement
    lengths = unit_lengths(ids, bert.tokenizer, strategy.whole_word)[0]
    selected, wordpieces = int((replacement != UNSELECTED).sum()), draws * int(lengths.sum())
    expected, deviation = selected_share(lengths, strategy.mlm_probability)
    observed, half_width = selected / wordpieces, statistics.Z * deviation / np.sqrt(draws)
    rows = [("chosen", expected, max(0.0, observed - half_width), min(1.0, observed + half_width), selected, wordpieces)]
    for kind, probability in ((MASKED, strategy.mask), (RANDOM, strategy.random), (SAME, strategy.keep)):
        count = int((replacement == kind).sum())
        rows.append((REPLACEMENTS[kind], probability, *statistics.wilson_interval(count, selected), count, selected))
    table = pd.DataFrame(rows, columns=["what", "expected", "low", "high", "count", "of"])
    return table.assign(observed=table["count"] / table["of"])


def selected_share(lengths: np.ndarray, probability: float) -> tuple[float, float]:
    """Mean and standard deviation, over draws, of the share of wordpieces selected from units of these lengths (units,).

    The sampler selects ⌊probability × units⌋ units and one more by chance, at least one, each set of so many equally
    likely (model/pretraining/masking.py). So their number K hardly varies, far less than if every piece were drawn alone;
    the variance of the selected pieces is E[K (units − K)] / (units − 1) · Var(length) + Var(K) · mean(length)².
    """
    units, wordpieces = len(lengths), lengths.sum()
    whole, remainder = divmod(max(probability * units, 1.0), 1)  # K is `whole`, or with probability `remainder` one larger
    sizes, weights = np.array([whole, whole + 1]), np.array([1 - remainder, remainder])
    between = float(weights @ (sizes * (units - sizes))) / max(1, units - 1) * lengths.var()
    variance = between + remainder * (1 - remainder) * lengths.mean() ** 2
    return float(weights @ sizes) / units, float(np.sqrt(variance) / wordpieces)


def predict_by_replacement(bert: Bert, encoding: Encoding, position: int, random: int) -> np.ndarray:
    """P(word) at one position that holds [MASK], a random token, or its own: (3, vocabulary)."""
    return _predict(bert, [(encoding, position)], np.array([[bert.tokenizer.mask_id, random, encoding.ids[position]]]))[0]


def mismatch(bert: Bert, encodings: Sequence[Encoding], max_positions: int = 120, seed: int = 0) -> pd.DataFrame:
    """The three replacements at many positions of a text, one at a time, all other words unmasked.

    replacement, accuracy, probability: of the original word; low, high: the interval of the accuracy. detected: the share
    of positions whose predicted word is not the one in the input, which is right for random words and wrong for unchanged
    ones; [MASK] is no word to doubt.
    """
    rng, special_ids = np.random.default_rng(seed), bert.tokenizer.special_ids
    positions = [
        (encoding, token.position)
        for encoding in encodings
        for token in encoding.tokens
        if not token.is_special and token.id not in special_ids
    ]
    if not positions:
        raise InputError("The text has no word that could be masked; at least one is needed.")
    if len(positions) > max_positions:
        positions = [positions[index] for index in np.sort(rng.choice(len(positions), max_positions, replace=False))]
    ordinary = np.array([token_id for token_id in range(bert.tokenizer.vocab_size) if token_id not in special_ids])
    random = rng.choice(ordinary, len(positions))
    original = np.array([encoding.ids[position] for encoding, position in positions])
    choices = np.stack([np.full(len(positions), bert.tokenizer.mask_id), random, original], axis=1)  # (positions, 3)
    predicted, probability = [], []
    for start in range(0, len(positions), POSITIONS_AT_ONCE):
        part = slice(start, start + POSITIONS_AT_ONCE)
        distribution = _predict(bert, positions[part], choices[part])
        predicted.append(distribution.argmax(-1))
        probability.append(np.take_along_axis(distribution, original[part, None, None], axis=-1)[..., 0])
    top, of_original = np.concatenate(predicted), np.concatenate(probability)  # (positions, 3)
    rows = []
    for kind, name in enumerate(REPLACEMENTS.values()):
        correct = top[:, kind] == original
        low, high = statistics.wilson_interval(int(correct.sum()), len(correct))
        rows.append(
            {
                "replacement": name,
                "accuracy": correct.mean(),
                "low": low,
                "high": high,
                "probability": of_original[:, kind].mean(),
                "detected": np.nan if kind == 0 else (top[:, kind] != choices[:, kind]).mean(),
                "positions": len(correct),
            }
        )
    return pd.DataFrame(rows)


def _predict(bert: Bert, positions: Sequence[tuple[Encoding, int]], choices: np.ndarray) -> np.ndarray:
    """P(word) where each choice (positions, choices) stands at its position: (positions, choices, vocabulary)."""
    count = choices.shape[1]
    batch = Batch.collate([encoding for encoding, _ in positions for _ in range(count)], bert.config.pad_token_id)
    rows = torch.arange(choices.size)
    columns = torch.tensor([position for _, position in positions]).repeat_interleave(count)
    batch.ids[rows, columns] = torch.from_numpy(choices.ravel())
    with torch.inference_mode():
        probabilities = bert.mlm_logits(bert.states_at(rows, columns, batch)).softmax(-1)
    return probabilities.view(*choices.shape, -1).numpy()
