"""Heads as dependency parsers: which head points along which relation, beside the best fixed offset.

Clark et al. (2019), 4.2.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from model import Bert, InputError, activations, batches_by_length

from ..probing.alignment import AlignedSentence
from ..probing.treebank import ROOT, Sentence
from .words import merge_wordpieces

ARC_DIRECTIONS = ("dependent looks at head", "head looks at dependent")


@dataclass(frozen=True)
class RelationExample:
    """A sentence in which a head points from a word to its head in the tree, or back."""

    words: tuple[str, ...]
    dependent: int
    head: int
    heads: tuple[int, ...] = ()  # of the whole tree
    relations: tuple[str, ...] = ()


@dataclass(repr=False)
class RelationCounts:
    """Counts over the sentences so far; every number of the table comes from them."""

    layers: int
    heads: int
    sentences: int = 0
    count: Counter[str] = field(default_factory=Counter)  # of each relation
    offsets: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # head − dependent
    correct: dict[str, np.ndarray] = field(default_factory=dict)  # relation -> (directions, layers, heads)
    # relation -> (directions, layers, heads): index of the first example in which a head was correct, or −1
    first_example: dict[str, np.ndarray] = field(default_factory=dict)
    examples: list[RelationExample] = field(default_factory=list)

    def __repr__(self) -> str:
        return (
            f"RelationCounts({len(self.count)} relations in {self.sentences} sentences, {self.layers} × {self.heads} heads)"
        )

    def add(self, attention: np.ndarray, sentence: Sentence) -> None:
        """Count one sentence with its tree; attention between its words is (layers, heads, words, words)."""
        predicted = predicted_heads(attention)
        for word, (head, name) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if head == ROOT or name == "punct":
                continue
            if name not in self.correct:
                self.correct[name] = np.zeros((len(ARC_DIRECTIONS), self.layers, self.heads), dtype=np.int64)
                self.first_example[name] = np.full_like(self.correct[name], -1)
            correct = predicted[..., word] == head
            new = correct & (self.first_example[name] < 0)
            if new.any():
                self.first_example[name][new] = len(self.examples)
                self.examples.append(RelationExample(sentence.words, word, head, sentence.heads, sentence.relations))
            self.count[name] += 1
            self.offsets[name][head - word] += 1
            self.correct[name] += correct
        self.sentences += 1

    def example(self, relation: str, direction: str, layer: int, head: int) -> RelationExample | None:
        """The first sentence in which a head was correct about a relation; None where it never was."""
        index = int(self.first_example[relation][ARC_DIRECTIONS.index(direction), layer, head])
        return self.examples[index] if index >= 0 else None

    def accuracy(self, relation: str) -> np.ndarray:
        """The fraction of a relation that each head points along, (directions, layers, heads)."""
        return self.correct[relation] / self.count[relation]

    def table(self, min_count: int = 1) -> pd.DataFrame:
        """The best head for each relation and direction beside the best fixed offset, largest gain first.

        relation, direction, count, layer, head, accuracy, offset, baseline, gain; rarer than `min_count` is left out.
        """
        rows = []
        for relation, count in self.count.most_common():
            if count < min_count:
                break
            offset, n_correct = self.offsets[relation].most_common(1)[0]
            for direction, accuracy in zip(ARC_DIRECTIONS, self.accuracy(relation), strict=True):
                layer, head = np.unravel_index(accuracy.argmax(), accuracy.shape)
                rows.append(
                    {
                        "relation": relation,
                        "direction": direction,
                        "count": count,
                        "layer": int(layer),
                        "head": int(head),
                        "accuracy": accuracy.max(),
                        "offset": offset,
                        "baseline": n_correct / count,
                        "gain": accuracy.max() - n_correct / count,
                    }
                )
        columns = ["relation", "direction", "count", "layer", "head", "accuracy", "offset", "baseline", "gain"]
        return pd.DataFrame(rows, columns=columns).sort_values("gain", ascending=False, ignore_index=True)


def predicted_heads(attention: np.ndarray) -> np.ndarray:
    """The word each attention head predicts as the head of each word: (directions, layers, heads, words)."""
    others = attention * (1 - np.eye(attention.shape[-1], dtype=attention.dtype))
    return np.stack([others.argmax(-1), others.argmax(-2)])


def count(bert: Bert, sentences: Sequence[AlignedSentence], tokens_at_once: int = 2048) -> Iterator[RelationCounts]:
    """The counts over the sentences so far, after each batch, short sentences first. Clark et al. (2019), 4.2."""
    parsed = [aligned for aligned in sentences if aligned.has_tree and aligned.is_complete]
    if not parsed:
        raise InputError(
            f"None of the {len(sentences)} sentences has a dependency tree; relations are counted on CoNLL-U data."
        )
    counts = RelationCounts(bert.config.num_hidden_layers, bert.config.num_attention_heads)
    for rows in batches_by_length([aligned.encoding for aligned in parsed], tokens_at_once):
        batch = [parsed[row] for row in rows]
        encodings = [aligned.encoding for aligned in batch]
        for index, arrays in activations(bert, encodings, ["attention"], tokens_at_once=tokens_at_once):
            counts.add(merge_wordpieces(arrays["attention"], batch[index].spans), batch[index].sentence)
        yield counts
