"""One word, many senses: its vectors in several sentences, and how far its senses lie apart at each layer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import model
from model import Bert, InputProblem

from . import geometry


@dataclass(frozen=True)
class Uses:
    """Every use of a word in some sentences; a word of several pieces is the mean of their states."""

    word: str
    sentences: tuple[str, ...]
    sentence: np.ndarray  # (uses) index into sentences
    spans: tuple[tuple[int, int], ...]  # characters of the sentence
    vectors: np.ndarray  # (layers + 1, uses, hidden)


@dataclass(frozen=True)
class Labelled:
    """Sentences and the sense each is an example of."""

    sentences: tuple[str, ...]
    labels: tuple[int, ...]
    names: tuple[str, ...]


def parsed(text: str) -> Labelled:
    """One sentence a line; an empty line begins the next sense, and a line that ends with a colon names it."""
    sentences: list[str] = []
    labels: list[int] = []
    names: list[str] = []
    begin = True
    for line in map(str.strip, text.splitlines()):
        if not line:
            begin = True
        elif line.endswith(":"):
            names.append(line[:-1].strip())
            begin = False
        else:
            if begin:
                names.append(f"sense {len(names) + 1}")
                begin = False
            sentences.append(line)
            labels.append(len(names) - 1)
    return Labelled(tuple(sentences), tuple(labels), tuple(names))


def uses(bert: Bert, word: str, sentences: Sequence[str]) -> Uses:
    """Find a word, whole and in any case, in each sentence, and its states there at every layer."""
    word = word.strip()
    if not word:
        raise InputProblem("Type the word whose senses you want to see.")
    if not sentences:
        raise InputProblem("Type a few sentences with the word in them, one a line.")
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    encodings = [bert.tokenizer.encode(sentence) for sentence in sentences]
    found: list[tuple[int, tuple[int, int], list[int]]] = []
    for index, encoding in enumerate(encodings):
        for match in pattern.finditer(encoding.texts[0]):
            pieces = [token.position for token in encoding.tokens
                      if token.span and token.span[0] < match.end() and token.span[1] > match.start()]
            if pieces:  # a use that was cut off the end of a long text has none
                found.append((index, match.span(), pieces))
    if not found:
        raise InputProblem(f"The word “{word}” is in none of these sentences.")
    states = dict(model.states(bert, encodings))
    vectors = np.stack([states[index][:, pieces].mean(axis=1) for index, _, pieces in found], axis=1)
    return Uses(word, tuple(sentences), np.array([index for index, _, _ in found]),
                tuple(span for _, span, _ in found), vectors)


@dataclass(frozen=True)
class Separation:
    """Silhouette of the senses at each layer, and what the same vectors give when senses are dealt at random."""

    silhouette: np.ndarray  # (layers + 1), 1: senses are tight and far apart, 0: they overlap
    chance: np.ndarray  # (layers + 1) mean over the shufflings
    low: np.ndarray  # (layers + 1) 2.5 % and
    high: np.ndarray  # (layers + 1) 97.5 % of the shufflings
    p: np.ndarray  # (layers + 1) share of shufflings at least as separate, the true labelling counted as one


def separation(vectors: np.ndarray, senses: Sequence[int], shufflings: int = 200, seed: int = 0) -> Separation:
    """How separate labelled vectors are, (layers + 1, uses, hidden), against random labellings of the same sizes."""
    labels = np.unique(np.asarray(senses), return_inverse=True)[1]
    if labels.max(initial=0) == 0:
        raise InputProblem("All sentences are of one sense: leave an empty line between the senses.")
    if len(labels) < 3:
        raise InputProblem("Separation needs at least three uses of the word.")
    random = np.random.default_rng(seed)
    dealt = np.stack([labels, *(random.permutation(labels) for _ in range(shufflings))])  # (1 + shufflings, uses)
    apart = 1 - geometry.cosine(vectors)  # (layers + 1, uses, uses)
    apart[apart < 1e-6] = 0  # equal states differ by rounding only; a ratio of two roundings would mean nothing
    values = np.stack([silhouette(distances, dealt) for distances in apart])  # (layers + 1, 1 + shufflings)
    true, shuffled = values[:, 0], values[:, 1:]
    low, high = np.quantile(shuffled, (0.025, 0.975), axis=1)
    return Separation(true, shuffled.mean(axis=1), low, high, (values >= true[:, None] - 1e-9).mean(axis=1))


def silhouette(distances: np.ndarray, labellings: np.ndarray) -> np.ndarray:
    """Mean silhouette of each labelling: (uses, uses), (labellings, uses) -> (labellings). Rousseeuw (1987).

    A use that is alone in its sense counts 0, and so does one at equal distance from its own and the nearest sense.
    """
    senses = np.arange(labellings.max() + 1)
    member = (labellings[:, :, None] == senses).astype(np.float64)  # (labellings, uses, senses)
    size = member.sum(axis=1)[:, None]  # (labellings, 1, senses)
    total = distances @ member  # summed distance of each use to each sense
    own_size = (member * size).sum(axis=-1)
    own = (total * member).sum(axis=-1) / np.maximum(own_size - 1, 1)
    other = np.where(member > 0, np.inf, total / np.maximum(size, 1)).min(axis=-1)
    larger = np.maximum(own, other)
    value = np.where(larger > 0, (other - own) / np.where(larger > 0, larger, 1), 0.0)
    return np.where(own_size > 1, value, 0.0).mean(axis=-1)
