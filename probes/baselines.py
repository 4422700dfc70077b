"""What a probe must beat to mean anything: majority, word type, control task; and how sure its score is."""

from collections import Counter, defaultdict

import numpy as np


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


def interval(right: np.ndarray, groups: np.ndarray, seed: int = 0, draws: int = 1000) -> tuple[float, float]:
    """95 % bootstrap interval of a mean: right (examples,), drawn anew by whole sentences, groups (examples,)."""
    _, which = np.unique(groups, return_inverse=True)
    hits, sizes = np.bincount(which, weights=right), np.bincount(which)
    drawn = np.random.default_rng(seed).multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=draws)
    low, high = np.percentile(drawn @ hits / (drawn @ sizes), [2.5, 97.5])
    return float(low), float(high)
