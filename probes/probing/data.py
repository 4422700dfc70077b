"""The examples of a task as numbers: labels, features, baselines and scores of their splits."""

import hashlib
from collections import Counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model import InputError

from .. import statistics
from . import baselines, features
from .examples import ProbingExamples
from .linear import LinearProbe
from .mlp import MLPProbe

MISTAKES = 60  # stored for each layer


class ProbingData:
    """train, dev, test: indices of their examples; labels (targets, examples): the task first, its control task second."""

    def __init__(self, examples: ProbingExamples, seed: int):
        self.examples, self.seed = examples, seed
        self.train, self.dev, self.test = (np.flatnonzero(examples.splits == split) for split in ("train", "dev", "test"))
        self.classes = sorted(set(examples.labels[self.train].tolist()))
        if len(self.classes) < 2:
            raise InputError(
                f"Every training example of “{examples.task.title}” has the same label; a probe needs at least two labels."
            )
        number = {label: index for index, label in enumerate(self.classes)}
        self.gold = np.array([number.get(label, -1) for label in examples.labels.tolist()])  # -1: not a label of training
        control = baselines.control_labels(examples.word_types, self.gold[self.train], seed)
        self.labels = torch.from_numpy(np.stack([self.gold, control]))

    def baselines(self) -> dict[str, float]:
        """Test accuracy without any states."""
        gold, types, train, test = self.gold, self.examples.word_types, self.train, self.test
        return {
            "majority": baselines.majority(gold[train], gold[test]),
            "word_type": baselines.word_type(gold[train], types[train], gold[test], types[test]),
        }

    def features(self, states: np.ndarray, example_indices: np.ndarray) -> Tensor:
        """The inputs of a probe: states (..., spans, hidden) -> (..., examples, features)."""
        return features.combine(states, self.examples.span_indices[example_indices])

    def fit(self, probe: LinearProbe | MLPProbe, states: np.ndarray) -> Tensor:
        """Fit to the train split, choose on dev, and predict the test labels: (targets, test examples)."""
        probe.fit(
            self.features(states, self.train),
            self.labels[:, self.train],
            self.features(states, self.dev),
            self.labels[:, self.dev],
            len(self.classes),
        )
        return probe.predict(self.features(states, self.test))[0]

    def count_by_sentence(self, correct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Correct test examples and test examples of each sentence: (test examples,) -> (sentences,) each."""
        return statistics.count_by_sentence(correct, self.examples.input_of[self.test])

    def accuracy_with_interval(self, predicted: np.ndarray) -> tuple[float, float, float]:
        """Test accuracy and its 95 % interval: predicted (test examples,)."""
        correct = predicted == self.gold[self.test]
        return float(correct.mean()), *statistics.bootstrap_interval(*self.count_by_sentence(correct), self.seed)

    def digest(self) -> str:
        """A name for the test set: the same sentences, words and labels."""
        digest = hashlib.sha256()
        for example in self.test:
            sentence, _ = self.examples.inputs[self.examples.input_of[example]]
            digest.update(
                f"{sentence.text}\n{self.examples.word_indices[example]} {self.examples.labels[example]}\n".encode()
            )
        return digest.hexdigest()[:16]

    def confusion(self, predicted: np.ndarray) -> list[list[int]]:
        """Counts of test examples by label of training: (gold, predicted)."""
        gold = self.gold[self.test]
        counts = np.zeros((len(self.classes),) * 2, dtype=int)
        np.add.at(counts, (gold[gold >= 0], predicted[gold >= 0]), 1)
        return counts.tolist()

    def label_scores(self, predicted: np.ndarray) -> list[dict[str, Any]]:
        """Precision, recall and F1 of every label of the test split, the most frequent first, with its count."""
        gold, names = self.examples.labels[self.test], np.array(self.classes)[predicted]
        rows = []
        for label, count in Counter(gold.tolist()).most_common():
            n_correct, n_predicted = int(((gold == label) & (names == label)).sum()), int((names == label).sum())
            rows.append(
                {
                    "label": label,
                    "count": count,
                    "precision": n_correct / n_predicted if n_predicted else 0.0,
                    "recall": n_correct / count,
                    "f1": 2 * n_correct / (n_predicted + count),
                }
            )
        return rows

    def mistakes(self, predicted: np.ndarray) -> list[dict[str, Any]]:
        """The first test examples that were predicted wrongly, with their sentence, word and both labels."""
        examples, rows = self.examples, []
        for index in np.flatnonzero(predicted != self.gold[self.test])[:MISTAKES]:
            example = self.test[index]
            sentence, encoding = examples.inputs[examples.input_of[example]]
            word = int(examples.word_indices[example])
            form = encoding.tokens[word].text if examples.task.unit == "piece" else sentence.words[word]
            rows.append(
                {
                    "text": sentence.text,
                    "second": " ".join(sentence.second),
                    "word": form if examples.task.unit != "sentence" else "",
                    "label": str(examples.labels[example]),
                    "predicted": self.classes[int(predicted[index])],
                }
            )
        return rows
