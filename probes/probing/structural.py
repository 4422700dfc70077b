"""Structural probes: is there a linear map under which squared distances between words are distances in the tree?

Hewitt & Manning (2019): ||B(h_i - h_j)||² for the distance of two words, ||B h_i||² for the depth of one.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .treebank import ROOT, Sentence

EPOCHS = 8
STEPS = 500  # at least, where there are few sentences
RATE = 1e-2
WORDS_AT_ONCE = 256
SPEARMAN_LENGTHS = range(5, 51)  # the lengths over which the paper averages


@dataclass(frozen=True)
class Trees:
    """Sentences and where the vectors of their words stand: sentence s owns places starts[s] … starts[s + 1]."""

    sentences: tuple[Sentence, ...]
    starts: np.ndarray

    def words(self, index: int) -> slice:
        return slice(int(self.starts[index]), int(self.starts[index + 1]))


class StructuralProbe:
    """One map a layer for distances and one for depths, all learned at once.

    distance_, depth_ (layers, rank, hidden)
    """

    def __init__(self, rank: int = 64, seed: int = 0):
        self.rank, self.seed = rank, seed

    def fit(self, states: np.ndarray, trees: Trees) -> "StructuralProbe":
        """States (layers, places, hidden) of the words of the trees; several passes, the rate falling to zero."""
        for _ in self.passes(states, trees):
            pass
        return self

    def passes(self, states: np.ndarray, trees: Trees) -> Iterator[float]:
        """Learn, and yield the part done after every pass over the sentences."""
        lot = torch.Generator().manual_seed(self.seed)
        # all layers begin with the same map: what tells their scores apart is what they hold
        self.distance_, self.depth_ = (
            ((torch.rand(self.rank, states.shape[-1], generator=lot) - 0.5) * 0.1).repeat(len(states), 1, 1).requires_grad_()
            for _ in range(2))
        adam = torch.optim.Adam([self.distance_, self.depth_], lr=RATE)
        batches = _batches(trees)
        golds = [_gold([trees.sentences[index] for index in batch]) for batch in batches]
        epochs = max(EPOCHS, STEPS // len(batches))
        share = len(batches) / len(trees.sentences)
        steps = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.02, epochs * len(batches))
        for epoch in range(epochs):
            for which in torch.randperm(len(batches), generator=lot).tolist():
                vectors = _padded(states, trees, batches[which])
                adam.zero_grad()
                (share * self._loss(vectors, *golds[which])).backward()
                adam.step()
                steps.step()
            yield (epoch + 1) / epochs
        self.distance_, self.depth_ = self.distance_.detach(), self.depth_.detach()

    def _loss(self, vectors: Tensor, apart: Tensor, depths: Tensor, real: Tensor) -> Tensor:
        """Mean difference from the tree over the pairs and words of a sentence, summed over sentences and layers.

        Divided by the mean size of a batch, not by its own, every sentence weighs the same, as in the paper: batches
        hold about as many words, so one of long sentences holds few of them.
        """
        sizes = real.sum(1)
        pairs = (real[:, :, None] & real[:, None, :])
        off = (distances(vectors, self.distance_) - apart).abs() * pairs
        deep = (depth(vectors, self.depth_) - depths).abs() * real
        return (off.sum((-1, -2)) / sizes.square() + deep.sum(-1) / sizes).sum()


def distances(vectors: Tensor, maps: Tensor) -> Tensor:
    """Squared distances under the maps: (layers, batch, words, hidden) -> (layers, batch, words, words)."""
    seen = vectors @ maps.mT[:, None]
    length = seen.square().sum(-1)
    return (length[..., :, None] + length[..., None, :] - 2 * seen @ seen.mT).clamp_min(0)


def depth(vectors: Tensor, maps: Tensor) -> Tensor:
    """Squared lengths under the maps: (layers, batch, words, hidden) -> (layers, batch, words)."""
    return (vectors @ maps.mT[:, None]).square().sum(-1)


def _batches(trees: Trees) -> list[list[int]]:
    order = sorted(range(len(trees.sentences)), key=lambda index: len(trees.sentences[index]))
    made: list[list[int]] = [[]]
    for index in order:
        if made[-1] and (len(made[-1]) + 1) * len(trees.sentences[index]) > WORDS_AT_ONCE:
            made.append([])
        made[-1].append(index)
    return made


def _padded(states: np.ndarray, trees: Trees, batch: Sequence[int]) -> Tensor:
    longest = max(len(trees.sentences[index]) for index in batch)
    made = torch.zeros(len(states), len(batch), longest, states.shape[-1])
    for row, index in enumerate(batch):
        made[:, row, : len(trees.sentences[index])] = torch.from_numpy(
            states[:, trees.words(index)].astype(np.float32))
    return made


def _gold(batch: Sequence[Sentence]) -> tuple[Tensor, Tensor, Tensor]:
    longest = max(len(sentence) for sentence in batch)
    apart, depths = torch.zeros(len(batch), longest, longest), torch.zeros(len(batch), longest)
    real = torch.zeros(len(batch), longest, dtype=torch.bool)
    for row, sentence in enumerate(batch):
        size = len(sentence)
        apart[row, :size, :size] = torch.from_numpy(sentence.distances()).float()
        depths[row, :size] = torch.tensor(sentence.depths()).float()
        real[row, :size] = True
    return apart, depths, real


def spanning_tree(apart: np.ndarray) -> list[tuple[int, int]]:
    """Edges of the tree of least total distance over all words: (words, words) -> word pairs. Prim's algorithm."""
    nearest, source = apart[0].astype(float).copy(), np.zeros(len(apart), dtype=int)
    nearest[0] = np.inf
    out = np.ones(len(apart), dtype=bool)
    out[0] = False
    edges = []
    for _ in range(len(apart) - 1):
        word = int(np.argmin(np.where(out, nearest, np.inf)))
        edges.append((min(word, int(source[word])), max(word, int(source[word]))))
        out[word] = False
        closer = apart[word] < nearest
        nearest, source = np.where(closer, apart[word], nearest), np.where(closer, word, source)
    return edges


def counted(sentence: Sentence) -> np.ndarray:
    """The words that count: all but punctuation."""
    return np.array([word for word, relation in enumerate(sentence.relations) if relation != "punct"])


def gold_edges(sentence: Sentence) -> set[tuple[int, int]]:
    """Edges between words that count, each written with the earlier word first."""
    return {(min(word, sentence.heads[word]), max(word, sentence.heads[word])) for word in counted(sentence).tolist()
            if sentence.heads[word] != ROOT and sentence.relations[sentence.heads[word]] != "punct"}


def predicted_edges(sentence: Sentence, apart: np.ndarray) -> set[tuple[int, int]]:
    """The spanning tree of the words that count."""
    words = counted(sentence)
    return {(int(words[a]), int(words[b])) for a, b in spanning_tree(apart[np.ix_(words, words)])}


def chain_edges(sentence: Sentence) -> set[tuple[int, int]]:
    """The baseline that reads from left to right: every word that counts hangs on the next."""
    words = counted(sentence).tolist()
    return set(itertools.pairwise(words))


@dataclass(frozen=True)
class Scores:
    """How far the trees of a layer are right: edges found and edges there, a sentence each; and three means."""

    found: np.ndarray
    there: np.ndarray
    root: float  # share of sentences whose root is the word of least depth, those of a single word among them
    distance: float  # Spearman correlation of distances, mean over the lengths 5 to 50
    depth: float  # the same of depths

    @property
    def uuas(self) -> float:
        """Undirected unlabelled attachment score: the share of edges found."""
        return float(self.found.sum() / max(self.there.sum(), 1))


def scored(probe: StructuralProbe, states: np.ndarray, trees: Trees, layer: int) -> Scores:
    """The trees of one layer against the gold ones."""
    found, there, roots = [], [], []
    apart_by_length: dict[int, list[float]] = {}
    depth_by_length: dict[int, list[float]] = {}
    for index, sentence in enumerate(trees.sentences):
        words = counted(sentence)
        if not len(words):
            continue
        vectors = torch.from_numpy(states[layer, trees.words(index)].astype(np.float32))[None, None]
        apart = distances(vectors, probe.distance_[layer: layer + 1])[0, 0].numpy()
        deep = depth(vectors, probe.depth_[layer: layer + 1])[0, 0].numpy()
        gold = gold_edges(sentence)
        found.append(len(gold & predicted_edges(sentence, apart)))
        there.append(len(gold))
        roots.append(int(words[np.argmin(deep[words])]) == sentence.root)
        if len(sentence) in SPEARMAN_LENGTHS:
            apart_by_length.setdefault(len(sentence), []).append(float(np.mean(
                spearman(apart, sentence.distances()))))
            depth_by_length.setdefault(len(sentence), []).append(float(
                spearman(deep[None], np.array(sentence.depths())[None])[0]))
    return Scores(np.array(found), np.array(there), float(np.mean(roots)), _macro(apart_by_length),
                  _macro(depth_by_length))


def _macro(by_length: dict[int, list[float]]) -> float:
    return float(np.mean([np.nanmean(values) for values in by_length.values()])) if by_length else float("nan")


def spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rank correlation of each row: (rows, columns) twice -> (rows,)."""
    a, b = _ranks(a), _ranks(b)
    a, b = a - a.mean(-1, keepdims=True), b - b.mean(-1, keepdims=True)
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)).clip(1e-12)


def _ranks(values: np.ndarray) -> np.ndarray:
    smaller = (values[..., None, :] < values[..., :, None]).sum(-1)
    return smaller + 0.5 * (values[..., None, :] == values[..., :, None]).sum(-1)
