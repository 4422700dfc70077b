"""The reader's pairs: a label that neither sentence gives away alone, nor how many words the two share.

`python -m tests.probes.reader.test_pairs` prints the baselines that stand on their card.
"""

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import probes
from probes.probing import treebank

PAIRS = Path(probes.__file__).parent / "bundled" / "reader" / "pairs.csv"
LABELS = ("follows", "contradicts", "unrelated")
NEGATIVE = set("no not never nobody nothing neither hardly cannot without none".split())


def read() -> pd.DataFrame:
    return pd.read_csv(PAIRS, encoding="utf-8")


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return read()


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+", text.lower()))


def overlap(pairs: pd.DataFrame) -> np.ndarray:
    """What A shares with B: words, share of B's words, share of all words, and the length of A, (pairs, 4)."""
    both = [(words(a), words(b)) for a, b in zip(pairs["text"], pairs["second"], strict=True)]
    return np.array([(len(a & b), len(a & b) / len(b), len(a & b) / len(a | b), len(a)) for a, b in both])


def by_label(pairs: pd.DataFrame, values: np.ndarray) -> dict[str, float]:
    """The mean of a value of each pair, (pairs,), with each label."""
    return {label: float(values[(pairs["label"] == label).to_numpy()].mean()) for label in LABELS}


def accuracy(classifier, inputs, pairs: pd.DataFrame) -> float:
    """In 5 × 10 parts, no triple in two of them."""
    return float(
        np.mean(
            [
                cross_val_score(
                    classifier,
                    inputs,
                    pairs["label"],
                    groups=pairs["second"],
                    cv=GroupKFold(10, shuffle=True, random_state=seed),
                )
                for seed in range(5)
            ]
        )
    )


def bag_of_words(pairs: pd.DataFrame, column: str) -> float:
    classifier = make_pipeline(CountVectorizer(token_pattern=r"\w+"), LogisticRegression(max_iter=1000))
    return accuracy(classifier, pairs[column], pairs)


def by_overlap(pairs: pd.DataFrame) -> float:
    return accuracy(make_pipeline(StandardScaler(), LogisticRegression()), overlap(pairs), pairs)


class TestPairs:
    def test_every_second_sentence_occurs_once_with_each_label(self, pairs):
        assert list(pairs.columns) == ["text", "second", "label", "split"]
        assert len(pairs) == 600 and pairs["second"].nunique() == 200
        assert all(sorted(labels) == sorted(LABELS) for _, labels in pairs.groupby("second")["label"])

    def test_a_triple_lies_in_one_part(self, pairs):
        parts = pairs.groupby("second")["split"].agg(set)
        assert Counter(next(iter(part)) for part in parts if len(part) == 1) == {"train": 140, "dev": 20, "test": 40}

    def test_sentences_have_five_to_fourteen_words(self, pairs):
        lengths = {text: len(text.split()) for text in [*pairs["text"], *pairs["second"]]}
        assert {text for text, length in lengths.items() if not 5 <= length <= 14} == set()

    def test_no_sentence_comes_back_in_another_role(self, pairs):
        assert pairs["text"].is_unique and not set(pairs["text"]) & set(pairs["second"])

    def test_no_two_triples_are_nearly_alike(self, pairs):
        owner = dict(zip(pairs["text"], pairs["second"], strict=True)) | {text: text for text in pairs["second"]}
        bags = [(text, words(text)) for text in owner]
        alike = [
            (a, b)
            for (a, first), (b, second) in combinations(bags, 2)
            if owner[a] != owner[b] and 2 * len(first & second) >= len(first | second)
        ]
        assert alike == []

    def test_the_second_sentence_alone_tells_nothing(self, pairs):
        assert bag_of_words(pairs, "second") == pytest.approx(1 / 3, abs=0.05)

    def test_the_first_sentence_alone_tells_next_to_nothing(self, pairs):
        assert bag_of_words(pairs, "text") == pytest.approx(1 / 3, abs=0.05)

    def test_words_in_common_do_not_tell_what_follows_from_what_contradicts(self, pairs):
        shared = by_label(pairs, overlap(pairs)[:, 1])
        assert shared["follows"] == pytest.approx(shared["contradicts"], abs=0.05)

    def test_negation_is_about_as_frequent_with_every_label(self, pairs):
        negative = by_label(pairs, np.array([bool(words(text) & NEGATIVE) for text in pairs["text"]]))
        assert max(negative.values()) - min(negative.values()) < 0.1

    def test_the_file_opens_as_labelled_pairs(self):
        bank = treebank.read(PAIRS)
        parts = Counter(sentence.split for sentence in bank.sentences)
        assert bank.pairs and parts == {"train": 420, "dev": 60, "test": 120}


if __name__ == "__main__":
    table = read()
    print(f"chance                {1 / 3:.1%}")
    print(f"bag of words, A alone {bag_of_words(table, 'text'):.1%}")
    print(f"bag of words, B alone {bag_of_words(table, 'second'):.1%}")
    print(f"overlap of A and B    {by_overlap(table):.1%}")
    for one, other in combinations(LABELS, 2):
        two = table[table["label"].isin([one, other])].reset_index(drop=True)
        print(f"  {one} or {other}: {by_overlap(two):.1%} (chance 50 %)")
    share = by_label(table, overlap(table)[:, 1])
    print("  share of B's words in A:", ", ".join(f"{label} {share[label]:.0%}" for label in LABELS))
