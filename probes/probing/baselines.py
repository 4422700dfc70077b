"""What a probe must beat to mean anything: majority, word type, control task; and how sure its score is."""

from collections import Counter, defaultdict

import numpy as np

from model import Bert

from .. import statistics


def majority(train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of always giving the most frequent label of the training examples."""
    return float(np.mean(test == Counter(train.tolist()).most_common(1)[0][0]))


def word_type(train: np.ndarray, train_keys: np.ndarray, test: np.ndarray, test_keys: np.ndarray) -> float:
    """Accuracy of giving each word form its most frequent label, and the most frequent of all to unseen forms."""
    counts: dict[str, Counter] = defaultdict(Counter)
    for label, key in zip(train.tolist(), train_keys.tolist(), strict=True):
        counts[key][label] += 1
    best = {key: seen.most_common(1)[0][0] for key, seen in counts.items()}
    common = Counter(train.tolist()).most_common(1)[0][0]
    said = [best.get(key, common) for key in test_keys.tolist()]
    return float(np.mean(np.array(said) == test))


def control(keys: np.ndarray, train: np.ndarray, seed: int) -> np.ndarray:
    """The control task: every word form draws one label, by the labels' shares in training, and keeps it everywhere.

    Nothing but memory can learn it: keys (examples,), train labels as numbers -> labels (examples,).
    Hewitt & Liang (2019), 2.
    """
    types, which = np.unique(keys, return_inverse=True)
    drawn = np.random.default_rng(seed).choice(train, size=len(types))
    return drawn[which]


def random_init(bert: Bert, seed: int) -> Bert:
    """A copy of the model's architecture with random weights, never those of the model.

    A model that is itself random was drawn from the first seed of the experiment, and this is drawn from a later one.
    """
    return bert.twin(seed + 1)


def grouped(right: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many answers of each sentence are right, and of how many: right and groups (examples,) -> (sentences,) each."""
    _, which = np.unique(groups, return_inverse=True)
    return np.bincount(which, weights=right).astype(int), np.bincount(which)


def interval(right: np.ndarray, groups: np.ndarray, seed: int = 0) -> tuple[float, float]:
    """95 % interval of a mean: right (examples,), drawn anew by whole sentences, groups (examples,)."""
    return statistics.bootstrap(*grouped(right, groups), seed)
