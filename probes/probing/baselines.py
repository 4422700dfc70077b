"""What a probe must beat to mean anything: the majority, the word type, the control task, random weights."""

from collections import Counter, defaultdict

import numpy as np

from model import Bert


def majority(train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of always predicting the most frequent label of the training examples."""
    return float(np.mean(test == Counter(train.tolist()).most_common(1)[0][0]))


def word_type(train: np.ndarray, train_types: np.ndarray, test: np.ndarray, test_types: np.ndarray) -> float:
    """Accuracy of `word_type_labels`."""
    return float(np.mean(word_type_labels(train, train_types, test_types) == test))


def word_type_labels(train: np.ndarray, train_types: np.ndarray, test_types: np.ndarray) -> np.ndarray:
    """Each word type's most frequent label, and the most frequent of all for unknown types: (test examples,)."""
    counts: dict[str, Counter] = defaultdict(Counter)
    for label, form in zip(train.tolist(), train_types.tolist(), strict=True):
        counts[form][label] += 1
    label_of_type = {form: labels.most_common(1)[0][0] for form, labels in counts.items()}
    most_frequent = Counter(train.tolist()).most_common(1)[0][0]
    return np.array([label_of_type.get(form, most_frequent) for form in test_types.tolist()])


def control_labels(word_types: np.ndarray, train: np.ndarray, seed: int) -> np.ndarray:
    """The control task: a random label for every word type, drawn as often as in training, the same at every use.

    Nothing but memorising word types can learn it: word_types (examples,), train labels as numbers -> labels (examples,).
    Hewitt & Liang (2019), 2.
    """
    types, type_of_example = np.unique(word_types, return_inverse=True)
    return np.random.default_rng(seed).choice(train, size=len(types))[type_of_example]


def random_init(bert: Bert, seed: int) -> Bert:
    """A copy of the model's architecture with random weights, never those of the model.

    A model that is itself random was drawn from the first seed of the experiment, and this is drawn from a later one.
    """
    return bert.random_init_copy(seed + 1)
