"""Structural probes: is there a linear map under which squared distances between words are distances in the tree?

Hewitt & Manning (2019): ||B(h_i - h_j)||² for the distance of two words, ||B h_i||² for the depth of one.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.short_repr import ShortRepr

from ..statistics import spearman
from .treebank import ROOT, Sentence

EPOCHS = 8
MIN_STEPS = 500  # where there are few sentences
LEARNING_RATE = 1e-2
WORDS_AT_ONCE = 256
SPEARMAN_LENGTHS = range(5, 51)  # the lengths over which the paper averages


@dataclass(frozen=True, repr=False)
class TreeSet(ShortRepr):
    """Sentences and the rows of their words among the states: sentence s has rows starts[s] … starts[s + 1]."""

    sentences: tuple[Sentence, ...]
    starts: np.ndarray

    def words(self, index: int) -> slice:
        """The rows of the words of a sentence."""
        return slice(int(self.starts[index]), int(self.starts[index + 1]))


class StructuralProbe:
    """One map a layer for distances and one for depths, all learned at once.

    distance_, depth_ (layers, rank, hidden)
    """

    def __init__(self, rank: int = 64, seed: int = 0):
        self.rank, self.seed = rank, seed

    def fit(self, states: np.ndarray, trees: TreeSet) -> "StructuralProbe":
        """States (layers, words, hidden) of the words of the trees; Adam, its learning rate falling to zero."""
        for _ in self.fit_epochs(states, trees):
            pass
        return self

    def fit_epochs(self, states: np.ndarray, trees: TreeSet) -> Iterator[float]:
        """Fit, and yield the fraction done after every epoch."""
        generator = torch.Generator().manual_seed(self.seed)
        # all layers begin with the same map: their scores differ by their states alone
        self.distance_, self.depth_ = (
            ((torch.rand(self.rank, states.shape[-1], generator=generator) - 0.5) * 0.1)
            .repeat(len(states), 1, 1)
            .requires_grad_()
            for _ in range(2)
        )
        optimizer = torch.optim.Adam([self.distance_, self.depth_], lr=LEARNING_RATE)
        batches = _batches(trees)
        gold = [_gold([trees.sentences[index] for index in batch]) for batch in batches]
        epochs = max(EPOCHS, MIN_STEPS // len(batches))
        scale = len(batches) / len(trees.sentences)
        scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, epochs * len(batches))
        for epoch in range(epochs):
            for batch in torch.randperm(len(batches), generator=generator).tolist():
                vectors = _pad(states, trees, batches[batch])
                optimizer.zero_grad()
                (scale * self._loss(vectors, *gold[batch])).backward()
                optimizer.step()
                scheduler.step()
            yield (epoch + 1) / epochs
        self.distance_, self.depth_ = self.distance_.detach(), self.depth_.detach()

    def _loss(self, vectors: Tensor, gold_distances: Tensor, gold_depths: Tensor, mask: Tensor) -> Tensor:
        """Mean absolute error over the pairs and words of a sentence, summed over sentences and layers.

        Divided by the mean size of a batch, not by its own, every sentence weighs the same, as in the paper: batches
        hold about as many words, so one of long sentences holds few of them.
        """
        lengths = mask.sum(1)
        pair_mask = mask[:, :, None] & mask[:, None, :]
        distance_error = (distances(vectors, self.distance_) - gold_distances).abs() * pair_mask
        depth_error = (depth(vectors, self.depth_) - gold_depths).abs() * mask
        return (distance_error.sum((-1, -2)) / lengths.square() + depth_error.sum(-1) / lengths).sum()


def distances(vectors: Tensor, maps: Tensor) -> Tensor:
    """Squared distances under the maps: (layers, batch, words, hidden) -> (layers, batch, words, words)."""
    projected = vectors @ maps.mT[:, None]
    norm = projected.square().sum(-1)
    return (norm[..., :, None] + norm[..., None, :] - 2 * projected @ projected.mT).clamp_min(0)


def depth(vectors: Tensor, maps: Tensor) -> Tensor:
    """Squared norms under the maps: (layers, batch, words, hidden) -> (layers, batch, words)."""
    return (vectors @ maps.mT[:, None]).square().sum(-1)


def _batches(trees: TreeSet) -> list[list[int]]:
    order = sorted(range(len(trees.sentences)), key=lambda index: len(trees.sentences[index]))
    batches: list[list[int]] = [[]]
    for index in order:
        if batches[-1] and (len(batches[-1]) + 1) * len(trees.sentences[index]) > WORDS_AT_ONCE:
            batches.append([])
        batches[-1].append(index)
    return batches


def _pad(states: np.ndarray, trees: TreeSet, batch: Sequence[int]) -> Tensor:
    """(layers, words of all sentences, hidden) -> (layers, batch, longest, hidden)."""
    longest = max(len(trees.sentences[index]) for index in batch)
    padded = torch.zeros(len(states), len(batch), longest, states.shape[-1])
    for row, index in enumerate(batch):
        vectors = torch.from_numpy(states[:, trees.words(index)].astype(np.float32))
        padded[:, row, : vectors.shape[1]] = vectors
    return padded


def _gold(batch: Sequence[Sentence]) -> tuple[Tensor, Tensor, Tensor]:
    """Tree distances (batch, longest, longest), depths (batch, longest), and a mask of the words (batch, longest)."""
    longest = max(len(sentence) for sentence in batch)
    gold_distances, gold_depths = torch.zeros(len(batch), longest, longest), torch.zeros(len(batch), longest)
    mask = torch.zeros(len(batch), longest, dtype=torch.bool)
    for row, sentence in enumerate(batch):
        length = len(sentence)
        gold_distances[row, :length, :length] = torch.from_numpy(sentence.distances()).float()
        gold_depths[row, :length] = torch.tensor(sentence.depths()).float()
        mask[row, :length] = True
    return gold_distances, gold_depths, mask


def spanning_tree(distances: np.ndarray) -> list[tuple[int, int]]:
    """Edges of the minimum spanning tree: (words, words) -> word pairs. Prim (1957)."""
    nearest, parent = distances[0].astype(float).copy(), np.zeros(len(distances), dtype=int)
    nearest[0] = np.inf
    outside = np.ones(len(distances), dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(len(distances) - 1):
        word = int(np.argmin(np.where(outside, nearest, np.inf)))
        edges.append((min(word, int(parent[word])), max(word, int(parent[word]))))
        outside[word] = False
        closer = distances[word] < nearest
        nearest, parent = np.where(closer, distances[word], nearest), np.where(closer, word, parent)
    return edges


def scored_words(sentence: Sentence) -> np.ndarray:
    """The words that are scored: all but punctuation."""
    return np.array([word for word, relation in enumerate(sentence.relations) if relation != "punct"])


def gold_edges(sentence: Sentence) -> set[tuple[int, int]]:
    """Edges between scored words, each with the earlier word first."""
    return {
        (min(word, sentence.heads[word]), max(word, sentence.heads[word]))
        for word in scored_words(sentence).tolist()
        if sentence.heads[word] != ROOT and sentence.relations[sentence.heads[word]] != "punct"
    }


def predicted_edges(sentence: Sentence, distances: np.ndarray) -> set[tuple[int, int]]:
    """The minimum spanning tree of the scored words: distances (words, words)."""
    words = scored_words(sentence)
    return {(int(words[a]), int(words[b])) for a, b in spanning_tree(distances[np.ix_(words, words)])}


def chain_edges(sentence: Sentence) -> set[tuple[int, int]]:
    """The baseline: an edge between every two neighbouring scored words."""
    words = scored_words(sentence).tolist()
    return set(itertools.pairwise(words))


@dataclass(frozen=True, repr=False)
class StructuralScores(ShortRepr):
    """The trees of a layer against gold: correct and gold edges of each sentence, and three means."""

    n_correct: np.ndarray  # (sentences,)
    n_gold: np.ndarray  # (sentences,)
    root: float  # share of sentences whose root is the word of least depth, those of a single word among them
    distance: float  # Spearman correlation of distances, mean over the lengths 5 to 50
    depth: float  # the same of depths

    @property
    def uuas(self) -> float:
        """Undirected unlabelled attachment score: the share of gold edges that are predicted."""
        return float(self.n_correct.sum() / max(self.n_gold.sum(), 1))


def evaluate(probe: StructuralProbe, states: np.ndarray, trees: TreeSet, layer: int) -> StructuralScores:
    """The trees of one layer against the gold ones."""
    n_correct, n_gold, root_correct = [], [], []
    distance_correlations: dict[int, list[float]] = {}  # by the length of the sentence
    depth_correlations: dict[int, list[float]] = {}
    for index, sentence in enumerate(trees.sentences):
        words = scored_words(sentence)
        if not len(words):
            continue
        vectors = torch.from_numpy(states[layer, trees.words(index)].astype(np.float32))[None, None]
        word_distances = distances(vectors, probe.distance_[layer : layer + 1])[0, 0].numpy()
        word_depths = depth(vectors, probe.depth_[layer : layer + 1])[0, 0].numpy()
        gold = gold_edges(sentence)
        n_correct.append(len(gold & predicted_edges(sentence, word_distances)))
        n_gold.append(len(gold))
        root_correct.append(int(words[np.argmin(word_depths[words])]) == sentence.root)
        if len(sentence) in SPEARMAN_LENGTHS:
            by_word = spearman(word_distances, sentence.distances())
            distance_correlations.setdefault(len(sentence), []).append(float(np.mean(by_word)))
            correlation = spearman(word_depths[None], np.array(sentence.depths())[None])[0]
            depth_correlations.setdefault(len(sentence), []).append(float(correlation))
    return StructuralScores(
        np.array(n_correct),
        np.array(n_gold),
        root=float(np.mean(root_correct)),
        distance=_macro(distance_correlations),
        depth=_macro(depth_correlations),
    )


def _macro(by_length: dict[int, list[float]]) -> float:
    return float(np.mean([np.nanmean(values) for values in by_length.values()])) if by_length else float("nan")
