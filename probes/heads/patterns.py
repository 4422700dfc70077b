"""What heads attend to: how broadly, how far, to which kinds of token. Clark et al. (2019), 3.

Attention is (..., query, key) with rows that sum to one; layers and heads count from 0.
"""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Encoding, Trace
from model.tokenizer import CLS, SEP

TARGETS = ("previous", "next", "self", "[CLS]", "[SEP]", "punctuation", "special or punctuation", "same word")
NUMBERS = ("entropy", "most", "distance", *TARGETS)
# Clark et al. (2019): a head is positional from 0.5 on, attends to a special token from 0.6 on, and is broad from an
# entropy of 3.8 nats on; their inputs have up to 128 tokens, so on shorter ones the same fraction of the maximum counts
POSITIONAL, SPECIAL, BROAD = 0.5, 0.6, 3.8 / math.log(128)
OFF = "switched off"  # the pattern of a head whose context is multiplied by 0


def entropy(attention: np.ndarray) -> np.ndarray:
    """Mean entropy of each head's rows in bits: (..., query, key) -> (...). Clark et al. (2019), 3.3."""
    return row_entropy(attention).mean(-1)


def row_entropy(attention: np.ndarray) -> np.ndarray:
    """Entropy of each row in bits: (..., query, key) -> (..., query)."""
    return -(attention * np.log2(np.maximum(attention, 1e-30))).sum(-1)


def mean_distance(attention: np.ndarray) -> np.ndarray:
    """Mean distance, in positions, from query to key: (..., query, key) -> (...)."""
    positions = np.arange(attention.shape[-1])
    return (attention * np.abs(positions[:, None] - positions)).sum(-1).mean(-1)


def target_masks(encoding: Encoding) -> dict[str, np.ndarray]:
    """Which keys are a target of each kind for which query: {kind: (query, key) of 0 and 1}."""
    length = len(encoding)
    texts = np.array([token.text for token in encoding.tokens], dtype=object)
    words = np.array([-1 if token.word is None else token.word for token in encoding.tokens])
    any_query = np.ones((length, 1))
    punctuation = np.array([token.word is not None and is_punctuation(token.text) for token in encoding.tokens])
    itself = np.eye(length)
    return {
        "previous": np.eye(length, k=-1),
        "next": np.eye(length, k=1),
        "self": itself,
        "[CLS]": any_query * (texts == CLS),
        "[SEP]": any_query * (texts == SEP),
        "punctuation": any_query * punctuation,
        "special or punctuation": any_query * ((texts == CLS) | (texts == SEP) | punctuation),
        "same word": (words[:, None] == words) * (words >= 0) - itself * (words >= 0),
    }


def is_punctuation(text: str) -> bool:
    """Whether a wordpiece consists of punctuation and symbols only."""
    return all(unicodedata.category(character)[0] in "PS" for character in text)


def target_shares(attention: np.ndarray, encoding: Encoding) -> np.ndarray:
    """The share of its attention each head gives to each of TARGETS: (..., query, key) -> (..., targets).

    Over the queries that have such a target only: the first token has no previous one, most words are one piece. NaN
    where no query has one.
    """
    return _mean(*totals(attention, encoding))[..., -len(TARGETS) :]


def totals(attention: np.ndarray, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """Sums of NUMBERS over the queries that have such a target, and how many do: (..., numbers), (numbers,).

    Over several inputs both are added up before the division, so that an input without such a target does not count.
    """
    length = len(encoding)
    masks = np.stack(list(target_masks(encoding).values())).astype(attention.dtype)  # (targets, query, key)
    most = np.full(attention.shape[:-2], math.log2(length))
    means = np.stack([entropy(attention), most, mean_distance(attention)], axis=-1)  # (..., 3)
    to_targets = np.einsum("...qk,aqk->...a", attention, masks)  # (..., targets)
    possible = (masks.sum(-1) > 0).sum(-1)  # (targets,)
    return np.concatenate([means * length, to_targets], axis=-1), np.concatenate([np.full(3, length), possible])


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def summary(trace: Trace) -> pd.DataFrame:
    """One row a head: layer, head, NUMBERS (entropy in bits; `most` is its maximum here) and its pattern as `label`."""
    return table(*totals(trace.attention, trace.encoding), trace.gates)


def table(sums: np.ndarray, counts: np.ndarray, gates: np.ndarray | None = None) -> pd.DataFrame:
    """The summary of `totals` of one input or of many: (layers, heads, numbers), (numbers,)."""
    indices = pd.DataFrame(np.indices(sums.shape[:2]).reshape(2, -1).T, columns=["layer", "head"])
    numbers = pd.DataFrame(_mean(sums, counts).reshape(-1, len(NUMBERS)), columns=list(NUMBERS))
    rows = pd.concat([indices, numbers], axis=1)
    rows = rows.assign(label=pattern_names(rows))
    if gates is not None:
        rows.loc[gates.ravel() == 0, "label"] = OFF
    return rows


def as_grid(table: pd.DataFrame, column: str) -> np.ndarray:
    """A column of a summary in the shape of the model: (layers, heads)."""
    return table[column].to_numpy().reshape(int(table["layer"].max()) + 1, -1)


def pattern_names(table: pd.DataFrame) -> list[str]:
    """The pattern of each head of a summary in a few words, by the thresholds of Clark et al. (2019); may be empty."""
    return [_pattern_name(row) for row in table.to_dict("records")]


def _pattern_name(row: dict) -> str:
    names = [f"{kind} token" for kind in ("previous", "next") if row[kind] >= POSITIONAL]
    names += ["itself"] if row["self"] >= POSITIONAL else []
    names += [kind for kind in ("[CLS]", "[SEP]", "punctuation") if row[kind] >= SPECIAL]
    if not names and row["same word"] >= POSITIONAL:
        names = ["pieces of its word"]
    if not names and row["special or punctuation"] >= SPECIAL:
        names = ["special tokens and punctuation"]
    if not names and row["entropy"] >= BROAD * row["most"]:
        names = ["broad"]
    return ", ".join(names)


def most_informative(attention: np.ndarray, encoding: Encoding, positions: Sequence[int] | None = None) -> tuple[int, int]:
    """The (layer, head) worth showing first: (layers, heads, query, key) -> the one with the strongest distant links.

    A link is a token's largest weight on a word beyond its neighbours; punctuation is no word. The mean link over all
    words counts and, where `positions` are of interest, the mean link of these times that.
    """
    word = np.array([-1 if token.word is None else token.word for token in encoding.tokens])
    is_word = np.array([token.word is not None and not is_punctuation(token.text) for token in encoding.tokens])
    distant = (np.abs(word[:, None] - word) > 1) & is_word & is_word[:, None]
    links = (attention * distant).max(-1)  # (layers, heads, query)
    strength = links.mean(-1) if positions is None else links.mean(-1) * links[..., list(positions)].mean(-1)
    layer, head = np.unravel_index(strength.argmax(), strength.shape)
    return int(layer), int(head)
