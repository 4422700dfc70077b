"""A next-sentence benchmark: true pairs of a text against negative ones of three kinds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from model import Bert, Encoding, InputError, smallworld
from model.pretraining import corpus

from . import lexical_overlap, metrics, prediction
from .metrics import BinaryMetrics

TRUE = "next"
# what stands in the place of the true B
NEGATIVE_KINDS = {
    "another": "a sentence from another document",
    "same": "a sentence from the same document",
    "swapped": "the true pair in the wrong order",
}
MAX_DOCUMENTS = 5_000  # of a file; more would only make the sampling slower
WORDS = range(3, 81)  # in a sentence; a shorter or longer one is in no pair
CANDIDATES = 8  # negative sentences sampled, of which the one nearest in length to the true B is used
WORLD, READER = "the small world", "the reader"


@dataclass(frozen=True)
class BenchmarkPair:
    """One pair and its kind: the true next sentence, or one of NEGATIVE_KINDS."""

    place: int  # pairs about the same place of the text have the same number
    a: str
    b: str
    kind: str

    @property
    def truth(self) -> bool:
        return self.kind == TRUE


def documents(source: corpus.Source) -> list[list[str]]:
    """The sentences of each document, of the first few thousand."""
    return list(islice(corpus.documents(source), MAX_DOCUMENTS))


def world(seed: int = 1_000_003, count: int = 400) -> list[list[str]]:
    """Stories of the small world, where the order of the sentences is planted; of a seed that trained no model."""
    return [[sentence.text for sentence in story.sentences] for story in smallworld.stories(seed, count)]


def reader() -> list[list[str]]:
    """The texts of the reader, eight sentences each."""
    from ..reader import compact_form

    return [[sentence.text for sentence in text.sentences] for text in compact_form.read().texts]


BUNDLED = {WORLD: world, READER: reader}


def sample_pairs(texts: Sequence[Sequence[str]], count: int, seed: int = 0) -> list[BenchmarkPair]:
    """At most `count` true pairs and as many negative ones of each kind the text allows, about the same sentences A."""
    usable = [[len(sentence.split()) in WORDS for sentence in document] for document in texts]
    places = [
        (document, index)
        for document, usable_here in enumerate(usable)
        for index in range(len(usable_here) - 1)
        if usable_here[index] and usable_here[index + 1]
    ]
    if not places:
        raise InputError(
            f"No two sentences of {WORDS.start} to {WORDS.stop - 1} words follow each other in this text; "
            "a benchmark needs at least one such pair."
        )
    rng = np.random.default_rng(seed)
    sentences = [
        (document, index)
        for document, usable_here in enumerate(usable)
        for index, is_usable in enumerate(usable_here)
        if is_usable
    ]
    pairs: list[BenchmarkPair] = []
    for place, row in enumerate(map(int, rng.permutation(len(places))[:count])):
        document, index = places[row]
        a, b = texts[document][index], texts[document][index + 1]
        elsewhere = [sentences[row] for row in map(int, rng.integers(len(sentences), size=4 * CANDIDATES))]
        nearby = [
            other for other in map(int, rng.permutation(np.flatnonzero(usable[document]))) if other not in (index, index + 1)
        ]
        pairs += [BenchmarkPair(place, a, b, TRUE), BenchmarkPair(place, b, a, "swapped")]
        for kind, pool in (
            ("another", [texts[home][other] for home, other in elsewhere if home != document]),
            ("same", [texts[document][other] for other in nearby]),
        ):
            candidates = [sentence for sentence in pool if sentence not in (a, b)][:CANDIDATES]
            if candidates:
                nearest = min(candidates, key=lambda sentence: abs(len(sentence.split()) - len(b.split())))
                pairs.append(BenchmarkPair(place, a, nearest, kind))
    return pairs


def missing(kinds: Iterable[str]) -> dict[str, str]:
    """Which kinds of negative pairs are not among these, and why a text has none."""
    reasons = {
        "another": "The text is one document; negative pairs from another need blank lines between documents.",
        "same": "No document has a third sentence to stand in place of the true one.",
        "swapped": "",
    }
    present = set(kinds)
    return {kind: reasons[kind] for kind in NEGATIVE_KINDS if kind not in present}


def encode_pairs(bert: Bert, pairs: Sequence[BenchmarkPair]) -> list[Encoding]:
    """Every pair as the model reads it; a text in an unknown script is refused, not answered at random."""
    bert.require_nsp()
    encodings = [bert.tokenizer.encode(pair.a, pair.b) for pair in pairs]
    pieces = [piece for encoding in encodings for piece in encoding.ids]
    unknown = pieces.count(bert.tokenizer.unknown_id)
    if unknown > len(pieces) / 4:
        raise InputError(
            f"{unknown / len(pieces):.0%} of this text is not in the vocabulary of the model; "
            "a benchmark needs three quarters of it."
        )
    return encodings


def answers(pairs: Sequence[BenchmarkPair], logit_differences: np.ndarray) -> pd.DataFrame:
    """Pairs and predictions: place, a, b, kind, truth, logit_difference, probability (of IsNext) and overlap."""
    return pd.DataFrame(
        {
            "place": [pair.place for pair in pairs],
            "a": [pair.a for pair in pairs],
            "b": [pair.b for pair in pairs],
            "kind": [pair.kind for pair in pairs],
            "truth": [pair.truth for pair in pairs],
            "logit_difference": logit_differences,
            "probability": prediction.to_probability(logit_differences),
            "overlap": [lexical_overlap.jaccard(pair.a, pair.b) for pair in pairs],
        }
    )


def evaluate(bert: Bert, pairs: Sequence[BenchmarkPair]) -> pd.DataFrame:
    """The model's predictions for all pairs, the table of `answers`."""
    return answers(pairs, prediction.logit_differences(bert, encode_pairs(bert, pairs)))


def metrics_of(answers: pd.DataFrame, kind: str) -> tuple[BinaryMetrics, BinaryMetrics]:
    """The metrics of the model, and of lexical overlap alone, on the true pairs against one kind of negative ones."""
    table = subset(answers, kind)
    truth = table["truth"].to_numpy(bool)
    by_overlap = metrics.cross_fitted(table["overlap"].to_numpy(float), truth)
    return metrics.binary(table["probability"].to_numpy(float), truth), metrics.binary(by_overlap, truth)


def subset(answers: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The negative pairs of a kind and the true ones about the same places of the text."""
    negative = answers[answers["kind"] == kind]
    true = answers[(answers["kind"] == TRUE) & answers["place"].isin(negative["place"])]
    return pd.DataFrame(pd.concat([true, negative], ignore_index=True))


def confident_errors(answers: pd.DataFrame, kind: str, count: int = 10) -> pd.DataFrame:
    """The wrong predictions of highest confidence, highest first."""
    table = subset(answers, kind)
    confidence = np.where(table["truth"], 1 - table["probability"], table["probability"])
    ranked = table.assign(confidence=confidence).sort_values("confidence", ascending=False, kind="stable")
    return ranked.head(min(count, int((confidence > 0.5).sum())))
