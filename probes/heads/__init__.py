"""What attention heads do: how broad, how far, to which kinds of token; and other weights than the raw ones.

Attention here is (..., query, key) with rows that sum to one; layers and heads count from 0.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from model import Bert, Encoding, InputProblem, Trace
from model.tokenizer import CLS, SEP

KINDS = ("previous", "next", "self", "[CLS]", "[SEP]", "punctuation", "special or punctuation", "same word")
NUMBERS = ("entropy", "most", "distance", *KINDS)
# Clark et al. (2019): a head is positional from 0.5 on, looks at a special token from 0.6 on, and is broad from an
# entropy of 3.8 nats on; they read up to 128 tokens, so on shorter inputs we ask for the same share of the maximum
POSITIONAL, SPECIAL, BROAD = 0.5, 0.6, 3.8 / math.log(128)
TERMS, BLOCK = 4e8, 2_000_000  # of the divergence between heads: at most so many in all, so many numbers at a time
OFF = "switched off"  # the label of a head whose look carries nothing


def entropy(attention: np.ndarray) -> np.ndarray:
    """Mean entropy of each head's rows in bits: (..., query, key) -> (...). Clark et al. (2019), 3.3."""
    return _row_entropy(attention).mean(-1)


def distance(attention: np.ndarray) -> np.ndarray:
    """How many positions away a head looks on average: (..., query, key) -> (...)."""
    places = np.arange(attention.shape[-1])
    return (attention * np.abs(places[:, None] - places)).sum(-1).mean(-1)


def kinds(encoding: Encoding) -> dict[str, np.ndarray]:
    """Which keys are of each kind for which query: {kind: (query, key) of 0 and 1}."""
    length = len(encoding)
    texts = np.array([token.text for token in encoding.tokens], dtype=object)
    words = np.array([-1 if token.word is None else token.word for token in encoding.tokens])
    everyone = np.ones((length, 1))
    marks = np.array([token.word is not None and punctuation(token.text) for token in encoding.tokens])
    itself = np.eye(length)
    return {"previous": np.eye(length, k=-1), "next": np.eye(length, k=1), "self": itself,
            "[CLS]": everyone * (texts == CLS), "[SEP]": everyone * (texts == SEP), "punctuation": everyone * marks,
            "special or punctuation": everyone * ((texts == CLS) | (texts == SEP) | marks),
            "same word": (words[:, None] == words) * (words >= 0) - itself * (words >= 0)}


def punctuation(text: str) -> bool:
    """Whether a wordpiece is made of punctuation and symbols only."""
    return all(unicodedata.category(letter)[0] in "PS" for letter in text)


def shares(attention: np.ndarray, encoding: Encoding) -> np.ndarray:
    """How much of its attention each head gives to each of KINDS: (..., query, key) -> (..., kinds); NaN where it cannot.

    The first token has nothing before it, and most words are one piece: what is not possible does not count against a head.
    """
    return _mean(*totals(attention, encoding))[..., -len(KINDS):]


def totals(attention: np.ndarray, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """NUMBERS of each head summed over the queries that can show them, and how many can: (..., numbers), (numbers,).

    Over several inputs both are summed before they are divided, so that an input in which something is not possible
    says nothing about it.
    """
    length = len(encoding)
    masks = np.stack(list(kinds(encoding).values())).astype(attention.dtype)  # (kinds, query, key)
    most = np.full(attention.shape[:-2], math.log2(length))
    means = np.stack([entropy(attention), most, distance(attention)], axis=-1)  # (..., 3)
    given = np.einsum("...qk,aqk->...a", attention, masks)  # (..., kinds)
    possible = (masks.sum(-1) > 0).sum(-1)  # (kinds,)
    return np.concatenate([means * length, given], axis=-1), np.concatenate([np.full(3, length), possible])


def _mean(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def summary(trace: Trace) -> pd.DataFrame:
    """One row a head: layer, head, NUMBERS (entropy in bits, most is the largest possible) and a label in words."""
    return table(*totals(trace.attention, trace.encoding), trace.gates)


def table(sums: np.ndarray, counts: np.ndarray, gates: np.ndarray | None = None) -> pd.DataFrame:
    """What `totals` gave, for one input or added up over many, as a summary: (layers, heads, numbers), (numbers,)."""
    place = pd.DataFrame(np.indices(sums.shape[:2]).reshape(2, -1).T, columns=["layer", "head"])
    numbers = pd.DataFrame(_mean(sums, counts).reshape(-1, len(NUMBERS)), columns=list(NUMBERS))
    made = pd.concat([place, numbers], axis=1)
    made = made.assign(label=labels(made))
    if gates is not None:
        made.loc[gates.ravel() == 0, "label"] = OFF
    return made


def square(table: pd.DataFrame, column: str) -> np.ndarray:
    """A column of a summary in the shape of the model: (layers, heads)."""
    return table[column].to_numpy().reshape(int(table["layer"].max()) + 1, -1)


def labels(table: pd.DataFrame) -> list[str]:
    """A few words on each head of a summary, by the thresholds of Clark et al. (2019)."""
    return [_label(row) for row in table.to_dict("records")]


def _label(row: dict) -> str:
    found = [f"{kind} token" for kind in ("previous", "next") if row[kind] >= POSITIONAL]
    found += ["itself"] if row["self"] >= POSITIONAL else []
    found += [kind for kind in ("[CLS]", "[SEP]", "punctuation") if row[kind] >= SPECIAL]
    if not found and row["same word"] >= POSITIONAL:
        found = ["pieces of its word"]
    if not found and row["special or punctuation"] >= SPECIAL:
        found = ["special tokens and punctuation"]
    if not found and row["entropy"] >= BROAD * row["most"]:
        found = ["broad"]
    return ", ".join(found)


def telling(attention: np.ndarray, encoding: Encoding) -> tuple[int, int]:
    """The (layer, head) that looks most sharply at words farther away than the next one: worth showing first."""
    words = np.array([token.word is not None and not punctuation(token.text) for token in encoding.tokens])
    places = np.arange(len(encoding))
    far = (np.abs(places[:, None] - places) > 1) & words & words[:, None]
    layer, head = np.unravel_index((attention * far).max(-1).mean(-1).argmax(), attention.shape[:2])
    return int(layer), int(head)


@dataclass(frozen=True)
class Divergence:
    """Jensen-Shannon divergence between all heads in bits: 0 is the same attention, 1 attention that never meets."""

    bits: np.ndarray  # (all, all) mean over the queries that were used
    used: int
    queries: int
    error: float  # half the widest 95 % interval of a mean; 0 where all queries were used

    @property
    def typical(self) -> float:
        """The mean over all pairs of different heads."""
        return float(self.bits.sum() / max(1, self.bits.size - len(self.bits)))


def similarity(attention: np.ndarray, terms: float = TERMS, seed: int = 0) -> Divergence:
    """How unlike the heads attend: (layers, heads, query, key) -> Divergence. Clark et al. (2019), 6.

    Every query is used where that takes at most so many `terms` (pairs of heads × queries × keys), else as many as
    that allows, drawn at random.
    """
    length = attention.shape[-1]
    flat = attention.reshape(-1, length, length)
    pairs = len(flat) * (len(flat) - 1) // 2
    used = min(length, max(2, int(terms // max(1, pairs * length))))
    queries = np.sort(np.random.default_rng(seed).permutation(length)[:used])
    total, squares = np.zeros((2, len(flat), len(flat)))
    step = max(1, BLOCK // (len(flat) * length))
    for start in range(0, used, step):  # some queries of all heads at a time, so that memory stays small
        rows = flat[:, queries[start: start + step]].astype(np.float32)  # (all, query, key)
        own = _row_entropy(rows)  # (all, query)
        for one in range(len(flat) - 1):
            apart = _row_entropy((rows[one] + rows[one + 1:]) / 2) - (own[one] + own[one + 1:]) / 2
            total[one, one + 1:] += apart.sum(-1)
            squares[one, one + 1:] += (apart * apart).sum(-1)
    mean = total / used
    spread = np.sqrt(np.maximum(squares / used - mean * mean, 0) / max(1, used - 1) * (1 - used / length))
    return Divergence(np.maximum(mean + mean.T, 0), used, length, float(1.96 * spread.max()))


def _row_entropy(attention: np.ndarray) -> np.ndarray:
    return -(attention * np.log2(np.maximum(attention, 1e-30))).sum(-1)


def plane(apart: np.ndarray) -> np.ndarray:
    """Points in two dimensions whose distances follow the given ones: (all, all) -> (all, 2). Classical scaling."""
    centred = np.eye(len(apart)) - 1 / len(apart)
    values, vectors = np.linalg.eigh(-centred @ apart @ centred / 2)  # root of a divergence is a distance
    points = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return points * np.where(points[np.abs(points).argmax(0), [0, 1]] < 0, -1, 1)  # the sign is free: fix it


def rollout(trace: Trace) -> np.ndarray:
    """What reaches each position from each input token, layer by layer: (layers, 1, query, key). Abnar & Zuidema (2020), 3.

    Half of each step is the residual connection, half the mean of the heads that are switched on; a layer in which none
    is passes on what it was given.
    """
    identity = np.eye(trace.attention.shape[-1], dtype=trace.attention.dtype)
    flow = [identity]
    for attention, gates in zip(trace.attention, np.abs(trace.gates), strict=True):  # (heads, query, key), (heads,)
        looked = np.average(attention, axis=0, weights=gates) if gates.any() else identity
        flow.append((looked / 2 + identity / 2) @ flow[-1])
    return np.stack(flow[1:])[:, None]


def norms(bert: Bert, trace: Trace) -> np.ndarray:
    """Attention times the length of what it carries, ‖a v W‖: (layers, heads, query, key). Kobayashi et al. (2020).

    A head that is switched off carries nothing.
    """
    lengths = []
    for layer, value in zip(bert.layers, trace.value, strict=True):  # value is (heads, seq, head_size)
        join = layer.attention.join.weight.detach().numpy()  # (hidden, heads × head_size)
        out = join.reshape(len(join), *value.shape[::2]).transpose(1, 2, 0)  # (heads, head_size, hidden)
        lengths.append(np.linalg.norm(value @ out, axis=-1))
    return trace.attention * (np.stack(lengths) * np.abs(trace.gates)[..., None])[:, :, None, :]


def words(attention: np.ndarray, encoding: Encoding) -> tuple[np.ndarray, list[str]]:
    """Attention between whole words: summed over the pieces looked at, averaged over the pieces that look.

    (..., query, key) -> (..., words, words) and the words; [CLS] and [SEP] stay. Clark et al. (2019), 4.1.
    """
    groups, texts = grouped(encoding)
    member = np.zeros((len(groups), len(encoding)), dtype=attention.dtype)
    for index, group in enumerate(groups):
        member[index, group] = 1
    mean = member / member.sum(1, keepdims=True)
    return mean @ attention @ member.T, texts


def grouped(encoding: Encoding) -> tuple[list[list[int]], list[str]]:
    """The positions of each whole word, and the words; [CLS] and [SEP] are words of their own."""
    groups: list[list[int]] = []
    for token in encoding.tokens:
        goes_on = groups and token.word is not None and encoding.tokens[groups[-1][0]].word == token.word
        groups[-1].append(token.position) if goes_on else groups.append([token.position])
    texts = ["".join(encoding.tokens[i].text.removeprefix("##") if i > group[0] else encoding.tokens[i].text
                     for i in group) for group in groups]
    return groups, texts


def kept(attention: np.ndarray, positions: Sequence[int]) -> np.ndarray:
    """Only these positions, each row scaled to sum to one again: (..., query, key) -> (..., kept, kept)."""
    part = attention[..., positions, :][..., positions]
    return part / np.maximum(part.sum(-1, keepdims=True), 1e-12)


def difference(first: Trace, second: Trace) -> tuple[np.ndarray, list[int], list[int]]:
    """Second minus first attention on the tokens both have, and their positions in each: (layers, heads, q, k).

    Tokens are paired from the left and from the right around the part where the two inputs differ.
    """
    if first.attention.shape[:2] != second.attention.shape[:2]:
        raise InputProblem("Two models of different shape have no heads in common to compare.")
    one, two = first.texts, second.texts
    if len(one) == len(two):
        here = there = list(range(len(one)))
    else:
        shorter = min(len(one), len(two))
        front = next((i for i in range(shorter) if one[i] != two[i]), shorter)
        back = next((i for i in range(shorter - front) if one[-1 - i] != two[-1 - i]), shorter - front)
        here = [*range(front), *range(len(one) - back, len(one))]
        there = [*range(front), *range(len(two) - back, len(two))]
    return (second.attention[..., there, :][..., there] - first.attention[..., here, :][..., here], here, there)
