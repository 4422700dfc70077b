"""Word senses: the vectors of a word in several sentences, and how separate its senses are at each layer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import model
from model import Bert, InputError, as_texts
from model.short_repr import ShortRepr

from . import geometry


@dataclass(frozen=True, repr=False)
class WordUses:
    """Every use of a word in some sentences; a word of several pieces is the mean of their states."""

    word: str
    sentences: tuple[str, ...]
    sentence: np.ndarray  # (uses) index into sentences
    spans: tuple[tuple[int, int], ...]  # characters of the sentence
    vectors: np.ndarray  # (layers + 1, uses, hidden)

    def __repr__(self) -> str:
        return f"WordUses({self.word!r}, {len(self.spans)} uses in {len(self.sentences)} sentences)"


@dataclass(frozen=True, repr=False)
class LabelledUses(ShortRepr):
    """Sentences and the sense each is an example of."""

    sentences: tuple[str, ...]
    labels: tuple[int, ...]
    names: tuple[str, ...]


def parse(text: str) -> LabelledUses:
    """One sentence a line; an empty line begins the next sense, and a line that ends with a colon names it."""
    sentences: list[str] = []
    labels: list[int] = []
    names: list[str] = []
    new_sense = True
    for line in map(str.strip, text.splitlines()):
        if not line:
            new_sense = True
        elif line.endswith(":"):
            names.append(line[:-1].strip())
            new_sense = False
        else:
            if new_sense:
                names.append(f"sense {len(names) + 1}")
                new_sense = False
            sentences.append(line)
            labels.append(len(names) - 1)
    return LabelledUses(tuple(sentences), tuple(labels), tuple(names))


def uses(bert: Bert, word: str, sentences: str | Sequence[str]) -> WordUses:
    """The states, at every layer, of a word wherever it stands as a whole word, in any case."""
    word, sentences = word.strip(), as_texts(sentences)
    if not word:
        raise InputError("The word is empty; separation needs a word and sentences that contain it.")
    if not sentences:
        raise InputError(f"There is no sentence with “{word}” in it; separation needs several.")
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    encodings = [bert.tokenizer.encode(sentence) for sentence in sentences]
    matches: list[tuple[int, tuple[int, int], list[int]]] = []  # sentence, characters, positions of its wordpieces
    for index, encoding in enumerate(encodings):
        for match in pattern.finditer(encoding.texts[0]):
            pieces = [
                token.position
                for token in encoding.tokens
                if token.span and token.span[0] < match.end() and token.span[1] > match.start()
            ]
            if pieces:  # a use that was truncated with the end of a long text has none
                matches.append((index, match.span(), pieces))
    if not matches:
        raise InputError(f"The word “{word}” is in none of these sentences.")
    states = dict(model.hidden_states(bert, encodings))
    vectors = np.stack([states[index][:, pieces].mean(axis=1) for index, _, pieces in matches], axis=1)
    return WordUses(
        word=word,
        sentences=tuple(sentences),
        sentence=np.array([index for index, _, _ in matches]),
        spans=tuple(span for _, span, _ in matches),
        vectors=vectors,
    )


@dataclass(frozen=True, repr=False)
class SenseSeparation:
    """Silhouette of the senses at each layer, beside that of random labellings of the same vectors."""

    silhouette: np.ndarray  # (layers + 1), 1: senses are tight and far apart, 0: they overlap
    null_mean: np.ndarray  # (layers + 1) mean over the permutations
    low: np.ndarray  # (layers + 1) 2.5 % and
    high: np.ndarray  # (layers + 1) 97.5 % quantile of the permutations
    p_value: np.ndarray  # (layers + 1) share of permutations at least as separate, the true labelling counted as one

    def __repr__(self) -> str:
        layer = int(self.silhouette.argmax())
        return (
            f"SenseSeparation(largest at layer {layer}: silhouette {self.silhouette[layer]:.2f}, "
            f"random labellings {self.null_mean[layer]:.2f}, p = {self.p_value[layer]:.3f})"
        )

    @property
    def best_layer(self) -> int:
        """The layer at which the senses lie furthest apart; 0 is the embedding output."""
        return int(self.silhouette.argmax())


def separation(vectors: np.ndarray, senses: Sequence[int], permutations: int = 200, seed: int = 0) -> SenseSeparation:
    """Silhouette of labelled vectors, (layers + 1, uses, hidden), against permutations of the labels."""
    labels = np.unique(np.asarray(senses), return_inverse=True)[1]
    if labels.max(initial=0) == 0:
        raise InputError(f"All {len(labels)} uses have the same sense; separation needs at least two senses.")
    if len(labels) < 3:
        raise InputError(f"The word has {len(labels)} uses; separation needs at least three.")
    rng = np.random.default_rng(seed)
    labellings = np.stack([labels, *(rng.permutation(labels) for _ in range(permutations))])  # (1 + permutations, uses)
    distances = 1 - geometry.cosine(vectors)  # (layers + 1, uses, uses)
    distances[distances < 1e-6] = 0  # equal states differ by rounding only; a ratio of two roundings would mean nothing
    values = np.stack([silhouette(layer, labellings) for layer in distances])  # (layers + 1, 1 + permutations)
    observed, null = values[:, 0], values[:, 1:]
    low, high = np.quantile(null, (0.025, 0.975), axis=1)
    p_value = (values >= observed[:, None] - 1e-9).mean(axis=1)
    return SenseSeparation(observed, null.mean(axis=1), low, high, p_value)


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
