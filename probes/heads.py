"""What attention heads do: how broad, how far, to which kinds of token; and other weights than the raw ones.

Attention here is (..., query, key) with rows that sum to one; layers and heads count from 0.
"""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Bert, Encoding, InputProblem, Trace
from model.tokenizer import CLS, SEP

KINDS = ("previous", "next", "self", "[CLS]", "[SEP]", "punctuation", "same word")
# Clark et al. (2019): a head is positional from 0.5 on, looks at a special token from 0.6 on, and is broad from an
# entropy of 3.8 nats on; they read up to 128 tokens, so on shorter inputs we ask for the same share of the maximum
POSITIONAL, SPECIAL, BROAD = 0.5, 0.6, 3.8 / math.log(128)


def entropy(attention: np.ndarray) -> np.ndarray:
    """Mean entropy of each head's rows in bits: (..., query, key) -> (...). Clark et al. (2019), 3.3."""
    return -(attention * np.log2(np.maximum(attention, 1e-30))).sum(-1).mean(-1)


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
            "same word": (words[:, None] == words) * (words >= 0) - itself * (words >= 0)}


def punctuation(text: str) -> bool:
    """Whether a wordpiece is made of punctuation and symbols only."""
    return all(unicodedata.category(letter)[0] in "PS" for letter in text)


def shares(attention: np.ndarray, encoding: Encoding) -> np.ndarray:
    """How much of its attention each head gives to each of KINDS: (..., query, key) -> (..., kinds)."""
    masks = np.stack(list(kinds(encoding).values())).astype(attention.dtype)  # (kinds, query, key)
    # the first token has nothing before it and the last nothing after it: they do not count against a head
    possible = np.maximum((masks.sum(-1) > 0).sum(-1), 1)
    return np.einsum("...qk,aqk->...a", attention, masks) / possible


def summary(attention: np.ndarray, encoding: Encoding) -> pd.DataFrame:
    """One row a head: layer, head, entropy (bits), largest entropy, distance, KINDS and a label in words."""
    layers, heads = attention.shape[:2]
    place = np.indices((layers, heads)).reshape(2, -1)
    numbers = {"entropy": entropy(attention), "most": np.full((layers, heads), math.log2(len(encoding))),
               "distance": distance(attention)}
    given = shares(attention, encoding).reshape(-1, len(KINDS))
    table = pd.DataFrame({"layer": place[0], "head": place[1]} | {n: v.ravel() for n, v in numbers.items()}
                         | {kind: given[:, index] for index, kind in enumerate(KINDS)})
    return table.assign(label=labels(table))


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
    if not found and row["[CLS]"] + row["[SEP]"] + row["punctuation"] >= SPECIAL:
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


def similarity(attention: np.ndarray, rows: int = 48) -> np.ndarray:
    """Jensen-Shannon divergence between heads in bits, mean over queries: (layers, heads, query, key) -> (all, all).

    0 is the same attention, 1 attention that never meets. Clark et al. (2019), 6; at most `rows` queries are used.
    """
    length = attention.shape[-1]
    chosen = np.unique(np.linspace(0, length - 1, min(rows, length)).round().astype(int))
    flat = attention.reshape(-1, length, length)[:, chosen].astype(np.float32)  # (all, query, key)
    own = entropy(flat)
    apart = np.zeros((len(flat), len(flat)))
    for one in range(len(flat)):
        middle = (flat[one] + flat[one + 1:]) / 2
        apart[one, one + 1:] = entropy(middle) - (own[one] + own[one + 1:]) / 2
    return np.maximum(apart + apart.T, 0)


def plane(apart: np.ndarray) -> np.ndarray:
    """Points in two dimensions whose distances follow the given ones: (all, all) -> (all, 2). Classical scaling."""
    centred = np.eye(len(apart)) - 1 / len(apart)
    values, vectors = np.linalg.eigh(-centred @ apart @ centred / 2)  # root of a divergence is a distance
    points = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return points * np.where(points[np.abs(points).argmax(0), [0, 1]] < 0, -1, 1)  # the sign is free: fix it


def rollout(attention: np.ndarray) -> np.ndarray:
    """What reaches each position from each input token, layer by layer: (layers, heads, q, k) -> (layers, 1, q, k).

    Half of each step is the residual connection. Abnar & Zuidema (2020), 3.
    """
    mixed = attention.mean(1) / 2 + np.eye(attention.shape[-1], dtype=attention.dtype) / 2
    flow = [mixed[0]]
    for step in mixed[1:]:
        flow.append(step @ flow[-1])
    return np.stack(flow)[:, None]


def norms(bert: Bert, trace: Trace) -> np.ndarray:
    """Attention times the length of what it carries, ‖a v W‖: (layers, heads, query, key). Kobayashi et al. (2020)."""
    lengths = []
    for layer, value in zip(bert.layers, trace.value, strict=True):  # value is (heads, seq, head_size)
        join = layer.attention.join.weight.detach().numpy()  # (hidden, heads × head_size)
        out = join.reshape(len(join), *value.shape[::2]).transpose(1, 2, 0)  # (heads, head_size, hidden)
        lengths.append(np.linalg.norm(value @ out, axis=-1))
    return trace.attention * np.stack(lengths)[:, :, None, :]


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
