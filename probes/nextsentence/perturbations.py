"""Perturbations of a pair, one change at a time: which cue does the next-sentence head follow?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from model import Bert, Encoding, smallworld
from model.pretraining import corpus

from . import lexical_overlap, prediction

SAMPLES = 8  # inputs of each perturbation that is random
LARGE, SMALL = 0.2, 0.05  # changes of P(IsNext) that are called large and small

# one sentence each about something else, for a B that A has nothing to do with
TOPICS = (
    "The glacier had lost almost half of its ice since the first survey.",
    "Fold the egg whites into the batter and bake the cake for forty minutes.",
    "The goalkeeper dropped the ball, and the crowd behind the net fell silent.",
    "Parliament passed the tax law by a single vote late on Thursday.",
    "Each cell copies its chromosomes before it divides.",
    "The orchestra tuned its violins while the conductor turned the pages.",
    "Two engineers repaired the telescope and pointed it at the moon.",
    "Merchants carried silk and pepper along this road for a thousand years.",
    "The bank raised its interest rates to slow the rise of prices.",
    "Wolves hunt in packs and share the food with their young.",
    "The king signed the treaty, and the soldiers left the castle.",
    "Her new phone ran out of battery in the middle of the call.",
    "The potter pressed his thumbs into the wet clay and turned the wheel.",
    "Most of the passengers slept while the plane crossed the ocean.",
)


@dataclass(frozen=True)
class Perturbation:
    """One way to change a pair: the changed inputs, or what would be needed to have one."""

    name: str
    title: str
    cue: str  # what the head follows if this change matters
    encodings: tuple[Encoding, ...] = ()
    shown: str = ""  # the first changed input, as text
    missing: str = ""


@dataclass(frozen=True)
class PerturbationResult:
    """P(IsNext) after one change, for each of its inputs."""

    perturbation: Perturbation
    probabilities: np.ndarray  # (inputs,)

    @property
    def mean(self) -> float:
        return float(self.probabilities.mean()) if len(self.probabilities) else float("nan")

    @property
    def lowest(self) -> float | None:
        """The smallest P(IsNext) of its inputs; None where there is none."""
        return float(self.probabilities.min()) if len(self.probabilities) else None

    @property
    def highest(self) -> float | None:
        """The largest P(IsNext) of its inputs; None where there is none."""
        return float(self.probabilities.max()) if len(self.probabilities) else None

    def __repr__(self) -> str:
        return f"PerturbationResult({self.perturbation.name!r}, {len(self.probabilities)} inputs, mean {self.mean:.3f})"


def evaluate(bert: Bert, a: str, b: str, text: str = "") -> list[PerturbationResult]:
    """The pair as it is, then every perturbation, in shared batches."""
    perturbations = build(bert, a, b, text)
    encodings = [encoding for perturbation in perturbations for encoding in perturbation.encodings]
    probabilities = prediction.to_probability(prediction.logit_differences(bert, encodings))
    ends = np.cumsum([len(perturbation.encodings) for perturbation in perturbations])
    return [
        PerturbationResult(perturbation, part)
        for perturbation, part in zip(perturbations, np.split(probabilities, ends[:-1]), strict=True)
    ]


def changes(results: Sequence[PerturbationResult]) -> list[tuple[PerturbationResult, float]]:
    """Each possible perturbation with the change of P(IsNext) from the pair as it is, the first of the results."""
    base = results[0].mean
    return [(result, result.mean - base) for result in results[1:] if len(result.probabilities)]


def large_changes(results: Sequence[PerturbationResult]) -> list[tuple[PerturbationResult, float]]:
    """The perturbations that change P(IsNext) by LARGE or more, the largest first."""
    large = [(result, change) for result, change in changes(results) if abs(change) >= LARGE]
    return sorted(large, key=lambda pair: -abs(pair[1]))


def small_changes(results: Sequence[PerturbationResult]) -> list[tuple[PerturbationResult, float]]:
    """The perturbations that change P(IsNext) by less than SMALL."""
    return [(result, change) for result, change in changes(results) if abs(change) < SMALL]


def largest_change(results: Sequence[PerturbationResult]) -> tuple[PerturbationResult, float]:
    """The perturbation that changes P(IsNext) most, and the change."""
    return max(changes(results), key=lambda pair: abs(pair[1]))


def table(results: Sequence[PerturbationResult]) -> pd.DataFrame:
    """name, title, probability, change, inputs, low, high, example; NaN where a perturbation was not possible."""
    base = results[0].mean
    return pd.DataFrame(
        [
            {
                "name": result.perturbation.name,
                "title": result.perturbation.title,
                "probability": result.mean,
                "change": result.mean - base,
                "inputs": len(result.probabilities),
                "low": result.lowest,
                "high": result.highest,
                "example": result.perturbation.missing or result.perturbation.shown,
            }
            for result in results
        ]
    )


def build(bert: Bert, a: str, b: str, text: str = "") -> list[Perturbation]:
    """The pair and all its perturbations; `text` is where the pair comes from, if it is known."""
    pair, tokenizer = prediction.encode_pair(bert, a, b), bert.tokenizer
    ids = [[t.id for t in pair.tokens if t.segment == segment and not t.is_special] for segment in (0, 1)]
    elsewhere, nearby, orders = off_topic(bert, a, b), same_document(a, b, text), shuffles(pair)
    perturbations = [
        Perturbation("pair", "The pair as it is", "", (pair,)),
        Perturbation("swapped", "A and B swapped", "which sentence comes first", (tokenizer.encode_ids(ids[1], ids[0]),)),
        Perturbation(
            "topic",
            "B from another topic",
            "what B is about",
            tuple(tokenizer.encode(a, other) for other in elsewhere),
            missing="" if elsewhere else "No sentence of another topic consists of words in this model's vocabulary.",
        ),
        Perturbation(
            "nearby",
            "B from the same text, but not next",
            "whether B comes at once or elsewhere in the text",
            tuple(tokenizer.encode(a, other) for other in nearby),
            missing="" if nearby else "This needs the text that A comes from, with at least one more sentence.",
        ),
        Perturbation(
            "shuffled",
            "B with its words shuffled",
            "the order of the words in B",
            tuple(tokenizer.encode_ids(ids[0], other) for other in orders),
            missing="" if orders else "B has too few different words to shuffle; at least two are needed.",
        ),
        Perturbation("repeated", "B repeated from A", "whether B says something new", (tokenizer.encode(a, a),)),
        Perturbation("segment", "One segment id for both", "the segment ids", (one_segment(pair),)),
        Perturbation("separator", "No [SEP] between them", "the [SEP] between the sentences", (unseparated(pair),)),
        Perturbation("no A", "A empty", "whether there is an A", (tokenizer.encode_ids([], ids[1]),)),
        Perturbation("no B", "B empty", "whether there is a B", (tokenizer.encode_ids(ids[0], []),)),
    ]
    return [
        replace(perturbation, shown=" ".join(t.text for t in perturbation.encodings[0].tokens))
        if perturbation.encodings
        else perturbation
        for perturbation in perturbations
    ]


def one_segment(pair: Encoding) -> Encoding:
    """The same tokens with every segment id 0, as when the segments were forgotten."""
    return replace(pair, tokens=tuple(replace(token, segment=0) for token in pair.tokens))


def unseparated(pair: Encoding) -> Encoding:
    """[CLS] A B [SEP]: without the [SEP] in the middle, the segment ids as they were."""
    middle = next(token.position for token in pair.tokens if token.is_special and token.position > 0)
    tokens = [token for token in pair.tokens if token.position != middle]
    return replace(pair, tokens=tuple(replace(token, position=position) for position, token in enumerate(tokens)))


def shuffles(pair: Encoding, count: int = SAMPLES, seed: int = 0) -> list[list[int]]:
    """The wordpieces of B in other orders of its words; the pieces of a word and the last punctuation mark stay put."""
    pieces = [token for token in pair.tokens if token.segment == 1 and not token.is_special]
    words: dict[int | None, list[int]] = {}
    for token in pieces:
        words.setdefault(token.word, []).append(token.id)
    groups = list(words.values())
    last = [groups.pop()] if groups and not any(character.isalnum() for character in pieces[-1].text) else []
    original = [piece for group in groups + last for piece in group]
    if len({tuple(group) for group in groups}) < 2:
        return []
    rng, orders = np.random.default_rng(seed), []
    while len(orders) < count:
        shuffled = [groups[index] for index in rng.permutation(len(groups))] + last
        ids = [piece for group in shuffled for piece in group]
        if ids != original:
            orders.append(ids)
    return orders


def off_topic(bert: Bert, a: str, b: str, count: int = SAMPLES) -> list[str]:
    """Sentences that share no content word with the pair and consist of words the model knows, near B in length."""
    topic, length = lexical_overlap.content_words(a) | lexical_overlap.content_words(b), len(b.split())
    stories = [sentence.text for story in smallworld.stories(0, 40) for sentence in story.sentences]
    for source in (TOPICS, stories):
        texts = [text for text in source if not lexical_overlap.content_words(text) & topic and _readable(bert, text)]
        if texts:
            return sorted(dict.fromkeys(texts), key=lambda text: abs(len(text.split()) - length))[:count]
    return []


def same_document(a: str, b: str, text: str, count: int = SAMPLES) -> list[str]:
    """Sentences of the text that A stands in, other than A, B and the one that truly follows, spread over the text."""
    sentences = [sentence for line in text.splitlines() for sentence in corpus.split_sentences(line)]
    normalised = [_normalise(sentence) for sentence in sentences]
    a, b = _normalise(a), _normalise(b)
    if a not in normalised:
        return []
    excluded = {a, b} | {successor for sentence, successor in pairwise(normalised) if sentence == a}
    others = [sentence for sentence, words in zip(sentences, normalised, strict=True) if words not in excluded]
    indices = np.unique(np.linspace(0, len(others) - 1, min(count, len(others))).astype(int)) if others else []
    return [others[index] for index in indices]


def _normalise(sentence: str) -> str:
    """The words of a sentence in small letters, without punctuation."""
    return " ".join(lexical_overlap.WORD.findall(sentence.lower()))


def _readable(bert: Bert, text: str) -> bool:
    """Whether the vocabulary has most of the words whole: spelled-out letters would perturb something else."""
    return len(bert.tokenizer.piece_ids(text)) <= 1.5 * (len(text.split()) + 1)
