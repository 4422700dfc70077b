"""An exam in next-sentence prediction: true pairs of a text against false ones of three kinds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from model import Bert, Encoding, InputProblem, smallworld
from model.pretraining import corpus

from .. import nextsentence
from . import lexical_overlap, metrics
from .metrics import Marks

TRUE = "next"
# what stands in the place of the true B
KINDS = {
    "another": "a sentence from another document",
    "same": "a sentence from the same document",
    "swapped": "the true pair in the wrong order",
}
DOCUMENTS = 5_000  # read from a file; more would only make the draw slower
WORDS = range(3, 81)  # a shorter or longer sentence is not asked about
CANDIDATES = 8  # false sentences drawn, of which the one nearest in length to the true B is taken
WORLD = "the small world"


@dataclass(frozen=True)
class Question:
    """One pair, and whether B truly follows A; false pairs say how they were made."""

    place: int  # questions about the same place of the text have the same number
    a: str
    b: str
    kind: str

    @property
    def truth(self) -> bool:
        return self.kind == TRUE


def documents(source: corpus.Source) -> list[list[str]]:
    """The sentences of each document, of the first few thousand."""
    return list(islice(corpus.documents(source), DOCUMENTS))


def world(seed: int = 1_000_003, count: int = 400) -> list[list[str]]:
    """Stories of the small world, where the order of the sentences is planted; of a seed no model learned from."""
    return [[sentence.text for sentence in story.sentences] for story in smallworld.stories(seed, count)]


def questions(texts: Sequence[Sequence[str]], count: int, seed: int = 0) -> list[Question]:
    """At most `count` true pairs and as many false ones of each kind the text allows, about the same sentences A."""
    fits = [[len(sentence.split()) in WORDS for sentence in document] for document in texts]
    places = [(number, at) for number, fit in enumerate(fits) for at in range(len(fit) - 1) if fit[at] and fit[at + 1]]
    if not places:
        raise InputProblem("No two sentences of a usual length follow each other in this text, so there is nothing to "
                           "ask about.")
    generator = np.random.default_rng(seed)
    flat = [(number, at) for number, fit in enumerate(fits) for at in np.flatnonzero(fit)]
    asked: list[Question] = []
    for place, index in enumerate(generator.permutation(len(places))[:count]):
        number, at = places[index]
        a, b = texts[number][at], texts[number][at + 1]
        far = (flat[draw] for draw in generator.integers(len(flat), size=4 * CANDIDATES))
        near = [other for other in generator.permutation(np.flatnonzero(fits[number])) if other not in (at, at + 1)]
        asked += [Question(place, a, b, TRUE), Question(place, b, a, "swapped")]
        for kind, pool in (("another", [texts[home][other] for home, other in far if home != number]),
                           ("same", [texts[number][other] for other in near])):
            fit = [sentence for sentence in pool if sentence not in (a, b)][:CANDIDATES]
            if fit:
                nearest = min(fit, key=lambda sentence: abs(len(sentence.split()) - len(b.split())))
                asked.append(Question(place, a, nearest, kind))
    return asked


def missing(kinds: Iterable[str]) -> dict[str, str]:
    """Which kinds of false pairs are not among these, and why a text cannot give them."""
    reasons = {"another": "The text is one document: separate documents by blank lines to get false pairs from others.",
               "same": "No document has a third sentence to take instead of the true one.", "swapped": ""}
    found = set(kinds)
    return {kind: reasons[kind] for kind in KINDS if kind not in found}


def packed(bert: Bert, asked: Sequence[Question]) -> list[Encoding]:
    """Every question as the model reads it; sentences in an unknown script are refused, not answered at random."""
    bert.need_nsp()
    encodings = [bert.tokenizer.encode(question.a, question.b) for question in asked]
    pieces = [piece for encoding in encodings for piece in encoding.ids]
    unknown = pieces.count(bert.tokenizer.unknown)
    if unknown > len(pieces) / 4:
        raise InputProblem(f"{unknown / len(pieces):.0%} of this text is not in the vocabulary of the model: choose a "
                           "model for this script.")
    return encodings


def answers(asked: Sequence[Question], margins: np.ndarray) -> pd.DataFrame:
    """Questions and what was answered: place, a, b, kind, truth, margin, probability (of IsNext) and overlap."""
    return pd.DataFrame({
        "place": [question.place for question in asked],
        "a": [question.a for question in asked], "b": [question.b for question in asked],
        "kind": [question.kind for question in asked], "truth": [question.truth for question in asked],
        "margin": margins, "probability": nextsentence.probabilities(margins),
        "overlap": [lexical_overlap.shared(question.a, question.b) for question in asked]})


def sit(bert: Bert, asked: Sequence[Question]) -> pd.DataFrame:
    """The model's answers to all questions."""
    return answers(asked, nextsentence.margins(bert, packed(bert, asked)))


def marked(answered: pd.DataFrame, kind: str) -> tuple[Marks, Marks]:
    """The marks of the model, and of shared words alone, on the true pairs against one kind of false ones."""
    part = sheet(answered, kind)
    truth = part["truth"].to_numpy(bool)
    by_words = metrics.fitted(part["overlap"].to_numpy(float), truth)
    return metrics.given(part["probability"].to_numpy(float), truth), metrics.given(by_words, truth)


def sheet(answered: pd.DataFrame, kind: str) -> pd.DataFrame:
    """One exam: the false pairs of a kind and the true ones about the same places of the text."""
    false = answered[answered["kind"] == kind]
    true = answered[(answered["kind"] == TRUE) & answered["place"].isin(false["place"])]
    return pd.DataFrame(pd.concat([true, false], ignore_index=True))


def worst(answered: pd.DataFrame, kind: str, count: int = 10) -> pd.DataFrame:
    """The mistakes the model was surest of, surest first."""
    part = sheet(answered, kind)
    sure = np.where(part["truth"], 1 - part["probability"], part["probability"])
    ranked = part.assign(sure=sure).sort_values("sure", ascending=False, kind="stable")
    return ranked.head(min(count, int((sure > 0.5).sum())))
