"""Which head follows which grammatical relation: Clark et al. (2019), 4.2, against the best fixed offset."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from model import Bert, InputProblem, alike

from ..probing.treebank import ROOT, Aligned, Sentence

DIRECTIONS = ("dependent looks at head", "head looks at dependent")


@dataclass(frozen=True)
class Example:
    """A sentence in which a head is right about one of its words."""

    words: tuple[str, ...]
    dependent: int
    head: int


@dataclass
class Relations:
    """Counts over the sentences read so far; every number of the table comes from them."""

    layers: int
    heads: int
    sentences: int = 0
    count: Counter[str] = field(default_factory=Counter)  # how often each relation was seen
    offsets: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # head − dependent
    right: dict[str, np.ndarray] = field(default_factory=dict)  # relation -> (directions, layers, heads)
    first: dict[str, np.ndarray] = field(default_factory=dict)  # the same, the example each head was first right in, or −1
    examples: list[Example] = field(default_factory=list)

    def add(self, attention: np.ndarray, sentence: Sentence) -> None:
        """One sentence with its tree, and the attention between its words (layers, heads, words, words)."""
        guesses = _guesses(attention)
        for word, (head, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if head == ROOT or name == "punct":
                continue
            if name not in self.right:
                self.right[name] = np.zeros((len(DIRECTIONS), self.layers, self.heads), dtype=np.int64)
                self.first[name] = np.full_like(self.right[name], -1)
            right = guesses[..., word] == head
            new = right & (self.first[name] < 0)
            if new.any():
                self.first[name][new] = len(self.examples)
                self.examples.append(Example(sentence.words, word, head))
            self.count[name] += 1
            self.offsets[name][head - word] += 1
            self.right[name] += right
        self.sentences += 1

    def example(self, relation: str, direction: str, layer: int, head: int) -> Example | None:
        """The first sentence in which a head was right about a relation; None where it never was."""
        place = int(self.first[relation][DIRECTIONS.index(direction), layer, head])
        return self.examples[place] if place >= 0 else None

    def accuracy(self, relation: str) -> np.ndarray:
        """How often each head is right about a relation, (directions, layers, heads)."""
        return self.right[relation] / self.count[relation]

    def table(self, least: int = 1) -> pd.DataFrame:
        """The best head for each relation and direction beside the best fixed offset, largest gain first.

        relation, direction, count, layer, head, accuracy, offset, baseline, gain; rarer than `least` is left out.
        """
        rows = []
        for relation, count in self.count.most_common():
            if count < least:
                break
            offset, hits = self.offsets[relation].most_common(1)[0]
            for direction, accuracy in zip(DIRECTIONS, self.accuracy(relation), strict=True):
                layer, head = np.unravel_index(accuracy.argmax(), accuracy.shape)
                rows.append({"relation": relation, "direction": direction, "count": count, "layer": int(layer),
                             "head": int(head), "accuracy": accuracy.max(), "offset": offset, "baseline": hits / count,
                             "gain": accuracy.max() - hits / count})
        columns = ["relation", "direction", "count", "layer", "head", "accuracy", "offset", "baseline", "gain"]
        return pd.DataFrame(rows, columns=columns).sort_values("gain", ascending=False, ignore_index=True)


def _guesses(attention: np.ndarray) -> np.ndarray:
    """The word each head takes for the head of each word, itself excluded: (directions, layers, heads, words)."""
    others = attention * (1 - np.eye(attention.shape[-1], dtype=attention.dtype))
    return np.stack([others.argmax(-1), others.argmax(-2)])


def relations(bert: Bert, sentences: Sequence[Aligned], tokens_at_once: int = 2048) -> Iterator[Relations]:
    """Read a treebank through the model, short sentences first, and yield the counts so far after each batch."""
    trees = [one for one in sentences if one.sentence.heads and (one.spans[:, 0] < one.spans[:, 1]).all()]
    if not trees:
        raise InputProblem("These sentences have no dependency trees; a treebank in CoNLL-U has them.")
    found = Relations(bert.config.num_hidden_layers, bert.config.num_attention_heads)
    for rows in alike([one.encoding for one in trees], tokens_at_once):
        for one, attention in zip([trees[row] for row in rows], _attention(bert, [trees[row] for row in rows]),
                                  strict=True):
            found.add(_between_words(attention, one), one.sentence)
        yield found


def _attention(bert: Bert, batch: Sequence[Aligned]) -> Iterator[np.ndarray]:
    kept: list[Tensor] = []

    def watch(name: str, layer: int, value: Tensor) -> None:
        if name == "attention":
            kept.append(value)

    with torch.inference_mode():
        bert([one.encoding for one in batch], None, watch)
        stacked = torch.stack(kept, 1).numpy()  # (batch, layers, heads, query, key)
    for one, attention in zip(batch, stacked, strict=True):
        yield attention[..., : len(one.encoding), : len(one.encoding)]


def _between_words(attention: np.ndarray, one: Aligned) -> np.ndarray:
    member = np.zeros((len(one.spans), len(one.encoding)), dtype=attention.dtype)
    for word, (start, end) in enumerate(one.spans):
        member[word, start:end] = 1
    return member / member.sum(1, keepdims=True) @ attention @ member.T
