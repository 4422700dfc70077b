"""Masking strategies: what a mix does to a text, and what the model makes of each fate of a word."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from model import Batch, Bert, Encoding, InputProblem
from model.pretraining.masking import KEPT, MASKED, RANDOM, UNTOUCHED, Mix, masked, unit_lengths

FATES = {MASKED: "[MASK]", RANDOM: "a random word", KEPT: "the word itself"}
# Devlin et al. (2019), Table 8, by MASK/SAME/RND; nothing here is measured by this project
PAPER = pd.DataFrame(
    [("80/10/10", 84.2, 95.4, 94.9), ("100/0/0", 84.3, 94.9, 94.0), ("80/0/20", 84.1, 95.2, 94.6),
     ("80/20/0", 84.4, 95.2, 94.7), ("0/20/80", 83.7, 94.8, 94.6), ("0/0/100", 83.6, 94.9, 94.6)],
    columns=["trial", "MNLI, fine-tuned", "NER, fine-tuned", "NER, feature-based"])


def drawn(bert: Bert, encoding: Encoding, mix: Mix, seed: int) -> tuple[Encoding, np.ndarray]:
    """One corruption of a text: the input as the model reads it, and the fate of each position (seq,)."""
    found = masked(np.array([encoding.ids]), bert.tokenizer, mix, np.random.default_rng(seed))
    words = bert.tokenizer.words
    read = encoding.replaced({place: (int(piece), words[piece]) for place, piece in enumerate(found.ids[0])
                              if found.fate[0, place] in (MASKED, RANDOM)})
    return read, found.fate[0]


def shares(bert: Bert, encoding: Encoding, mix: Mix, draws: int, seed: int = 0) -> pd.DataFrame:
    """Observed and expected shares over many draws, with 95 % intervals: what, expected, observed, low, high, count.

    The fates are shares of the chosen wordpieces, each drawn alone, so their intervals are binomial. The first row is
    the share of wordpieces that is chosen at all, with the interval of `chosen_share`.
    """
    ids = np.array([encoding.ids])
    fate = masked(np.repeat(ids, draws, axis=0), bert.tokenizer, mix, np.random.default_rng(seed)).fate
    lengths = unit_lengths(ids, bert.tokenizer, mix.whole_words)[0]
    chosen, ordinary = int((fate != UNTOUCHED).sum()), draws * int(lengths.sum())
    expected, deviation = chosen_share(lengths, mix.chosen)
    half = 1.96 * deviation / np.sqrt(draws)
    rows = [("chosen", expected, max(0.0, chosen / ordinary - half), min(1.0, chosen / ordinary + half), chosen, ordinary)]
    for kind, share in ((MASKED, mix.mask), (RANDOM, mix.random), (KEPT, mix.keep)):
        count = int((fate == kind).sum())
        rows.append((FATES[kind], share, *interval(count, chosen), count, chosen))
    table = pd.DataFrame(rows, columns=["what", "expected", "low", "high", "count", "of"])
    return table.assign(observed=table["count"] / table["of"])


def chosen_share(lengths: np.ndarray, share: float) -> tuple[float, float]:
    """Mean and standard deviation, over draws, of the share of wordpieces chosen from units of these lengths (units,).

    The sampler takes ⌊share × units⌋ units and one more by chance, at least one, each set of so many equally likely
    (model/pretraining/masking.py). So their number K hardly varies, far less than if every piece were drawn alone; the
    variance of the pieces taken is E[K (units − K)] / (units − 1) · Var(length) + Var(K) · mean(length)².
    """
    units, pieces = len(lengths), lengths.sum()
    whole, more = divmod(max(share * units, 1.0), 1)  # K is `whole`, or with probability `more` one larger
    number, chance = np.array([whole, whole + 1]), np.array([1 - more, more])
    between = float(chance @ (number * (units - number))) / max(1, units - 1) * lengths.var()
    return float(chance @ number) / units, float(np.sqrt(between + more * (1 - more) * lengths.mean() ** 2) / pieces)


def interval(count: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score, which stays within 0 and 1."""
    share, room = count / total, z * z / total
    middle = (share + room / 2) / (1 + room)
    half = z * np.sqrt(share * (1 - share) / total + room / (4 * total)) / (1 + room)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def fates(bert: Bert, encoding: Encoding, position: int, random: int) -> np.ndarray:
    """Predictions at one position that reads [MASK], a random word, or its own word: (3, vocabulary)."""
    return _read(bert, [(encoding, position, (bert.tokenizer.mask, random, encoding.ids[position]))])


def mismatch(bert: Bert, encodings: Sequence[Encoding], most: int = 120, seed: int = 0) -> pd.DataFrame:
    """The three fates over many positions of a text, each alone with all other words in sight.

    fate, accuracy, probability: of the true word; low, high: the interval of the accuracy. noticed: the share of
    positions where the model's best word is not the word it reads, which is right for random words and wrong for kept
    ones; a mask is no word to doubt.
    """
    generator = np.random.default_rng(seed)
    special = bert.tokenizer.special_ids
    places = [(encoding, token.position) for encoding in encodings for token in encoding.tokens
              if not token.special and token.id not in special]
    if not places:
        raise InputProblem("The text has no word that could be masked.")
    if len(places) > most:
        places = [places[index] for index in np.sort(generator.choice(len(places), most, replace=False))]
    ordinary = np.array([index for index in range(bert.tokenizer.size) if index not in special])
    words = generator.choice(ordinary, len(places))
    asked = [(encoding, position, (bert.tokenizer.mask, int(word), encoding.ids[position]))
             for (encoding, position), word in zip(places, words, strict=True)]
    read = np.array([choices for _, _, choices in asked])  # (places, 3)
    true = np.array([choices[2] for _, _, choices in asked])
    best, own = [], []
    for start in range(0, len(asked), 8):
        predicted = _read(bert, asked[start: start + 8]).reshape(-1, 3, bert.config.vocab_size)
        best.append(predicted.argmax(-1))
        own.append(np.take_along_axis(predicted, true[start: start + 8, None, None], axis=-1)[..., 0])
    top, share = np.concatenate(best), np.concatenate(own)  # (places, 3)
    rows = []
    for place, name in enumerate(FATES.values()):
        right = top[:, place] == true
        low, high = interval(int(right.sum()), len(right))
        noticed = np.nan if place == 0 else (top[:, place] != read[:, place]).mean()
        rows.append({"fate": name, "accuracy": right.mean(), "low": low, "high": high,
                     "probability": share[:, place].mean(), "noticed": noticed,
                     "positions": len(right)})
    return pd.DataFrame(rows)


def _read(bert: Bert, asked: Sequence[tuple[Encoding, int, tuple[int, ...]]]) -> np.ndarray:
    """Predictions where each choice stands in its position in turn: (asked × choices, vocabulary)."""
    rows = [(encoding, position, choice) for encoding, position, choices in asked for choice in choices]
    batch = Batch.of([encoding for encoding, _, _ in rows], bert.config.pad_token_id)
    every, at = torch.arange(len(rows)), torch.tensor([position for _, position, _ in rows])
    batch.ids[every, at] = torch.tensor([choice for _, _, choice in rows])
    with torch.inference_mode():
        return bert.words(bert.at(every, at, batch)).softmax(-1).numpy()
