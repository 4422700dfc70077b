"""Labels of whole sentences: the tasks of SentEval, from a dependency tree or from the words alone.

Conneau et al. (2018). Each function takes the sentences in the order they will be used and yields, for each, the
sentence to encode (changed, where the task is to detect a change) with its label, or None where it has none.
The order of constituents under the top node becomes, without constituents, the order of the dependents of the root.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .treebank import Sentence

LabelledSentences = Iterator[tuple[Sentence, str] | None]

LENGTHS = ((4, "1–4"), (8, "5–8"), (12, "9–12"), (16, "13–16"), (20, "17–20"), (25, "21–25"), (10_000, "26 and more"))
MAX_DEPTH = 7
N_ORDERS = 19  # classes of their own, as in SentEval; the rest are "another"
N_CONTENT = 50  # words, a class each
CONTENT_UPOS = {"NOUN", "VERB", "ADJ", "PROPN", "ADV"}


def label(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """The label in the file."""
    yield from ((sentence, sentence.label) if sentence.label else None for sentence in sentences)


def annotation(name: str) -> Callable[[Sequence[Sentence], np.random.Generator], LabelledSentences]:
    """What the source says of the whole sentence under this name."""

    def labels(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
        for sentence in sentences:
            yield (sentence, sentence.annotations[name]) if name in sentence.annotations else None

    return labels


def length(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Number of words, in bins."""
    for sentence in sentences:
        yield sentence, next(name for longest, name in LENGTHS if len(sentence) <= longest)


def tree_depth(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Edges from the root to the deepest word."""
    for sentence in sentences:
        deepest = max(sentence.depths()) if sentence.heads else 0
        yield (sentence, str(deepest) if deepest < MAX_DEPTH else f"{MAX_DEPTH} and more") if sentence.heads else None


def top(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """The relations of the root's dependents, in order, the root's own part of speech among them."""
    orders = [_order(sentence) for sentence in sentences]
    frequent = {order for order, _ in Counter(order for order in orders if order).most_common(N_ORDERS)}
    for sentence, order in zip(sentences, orders, strict=True):
        yield (sentence, order if order in frequent else "another") if order else None


def _order(sentence: Sentence) -> str:
    root = sentence.root
    if root is None:
        return ""
    return " ".join(
        sentence.upos[root] if word == root and sentence.upos else relation
        for word, relation in enumerate(sentence.relations)
        if (sentence.heads[word] == root or word == root) and relation != "punct"
    )


def main_tense(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Tense of the root, or of an auxiliary of it."""
    for sentence in sentences:
        if not sentence.heads or not sentence.feats:
            yield None
            continue
        root = sentence.root
        carriers = [
            word
            for word, head in enumerate(sentence.heads)
            if word == root or (head == root and sentence.relations[word] in ("aux", "cop"))
        ]
        tenses = [
            sentence.feats[word]["Tense"]
            for word in carriers
            if "Tense" in sentence.feats[word] and sentence.feats[word].get("VerbForm", "Fin") == "Fin"
        ]
        yield (sentence, tenses[0]) if tenses else None


def subject_number(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Number of the root's subject."""
    yield from _number_of("nsubj", sentences)


def object_number(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Number of the root's object."""
    yield from _number_of("obj", sentences)


def _number_of(relation: str, sentences: Sequence[Sentence]) -> LabelledSentences:
    for sentence in sentences:
        numbers = [
            sentence.feats[word]["Number"]
            for word, head in enumerate(sentence.heads)
            if sentence.feats
            and head == sentence.root
            and sentence.relations[word] == relation
            and "Number" in sentence.feats[word]
        ]
        yield (sentence, numbers[0]) if numbers else None


def content(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Which one of some frequent content words the sentence holds; none where it holds two of them."""
    counts = Counter(
        word.lower()
        for sentence in sentences
        for index, word in enumerate(sentence.words)
        if len(word) > 3 and (not sentence.upos or sentence.upos[index] in CONTENT_UPOS)
    )
    frequent = {word for word, _ in counts.most_common(N_CONTENT)}
    for sentence in sentences:
        present = {word.lower() for word in sentence.words} & frequent
        yield (sentence, present.pop()) if len(present) == 1 else None


def bigram_shift(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Whether two neighbouring words changed places, in half of the sentences."""
    for sentence in sentences:
        lower = [word.lower() for word in sentence.words]
        candidates = [word for word in range(len(sentence) - 1) if lower[word] != lower[word + 1]]
        if len(sentence) < 4 or not candidates:
            yield None
        elif rng.random() < 0.5:
            yield sentence, "as written"
        else:
            swapped, words = int(rng.choice(candidates)), list(sentence.words)
            words[swapped], words[swapped + 1] = words[swapped + 1], words[swapped]
            yield Sentence(tuple(words)), "two words swapped"


def odd_word(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Whether a noun or verb was replaced by another of the same morphology, in half of the sentences."""
    vocabulary: dict[tuple, list[str]] = defaultdict(list)
    for sentence in sentences:
        for word, morphology in _morphology(sentence):
            vocabulary[morphology].append(sentence.words[word])
    replaceable = {morphology for morphology, forms in vocabulary.items() if len(set(forms)) > 1}
    for sentence in sentences:
        candidates = [(word, morphology) for word, morphology in _morphology(sentence) if morphology in replaceable]
        if not candidates:
            yield None
        elif rng.random() < 0.5:
            yield sentence, "as written"
        else:
            word, morphology = candidates[int(rng.integers(len(candidates)))]
            forms = vocabulary[morphology]
            substitute = sentence.words[word]
            while substitute == sentence.words[word]:
                substitute = forms[int(rng.integers(len(forms)))]
            words = (*sentence.words[:word], substitute, *sentence.words[word + 1 :])
            yield replace(sentence, words=words), "a word replaced"


def _morphology(sentence: Sentence) -> list[tuple[int, tuple]]:
    """Nouns and verbs with their part of speech and features."""
    return [
        (word, (tag, *sorted(sentence.feats[word].items())))
        for word, tag in enumerate(sentence.upos)
        if tag in ("NOUN", "VERB") and sentence.feats
    ]


def inversion(sentences: Sequence[Sentence], rng: np.random.Generator) -> LabelledSentences:
    """Whether two coordinated main clauses changed places, in half of the sentences that have two."""
    for sentence in sentences:
        clauses = _clauses(sentence)
        if clauses is None:
            yield None
        elif rng.random() < 0.5:
            yield sentence, "as written"
        else:
            first, conjunction, second, end = clauses
            yield Sentence((*second, *conjunction, *first, *end)), "clauses swapped"


def _clauses(sentence: Sentence) -> tuple[tuple[str, ...], ...] | None:
    """First clause, conjunction, second clause and final mark of a sentence whose root is joined to one more clause."""
    root = sentence.root
    if root is None:
        return None
    conjuncts = [
        word
        for word, head in enumerate(sentence.heads)
        if head == root and sentence.relations[word] == "conj" and word > root
    ]
    if len(conjuncts) != 1:
        return None
    inside = [_is_below(sentence, word, conjuncts[0]) for word in range(len(sentence))]
    start, verbs = inside.index(True), {conjuncts[0], root}
    end = len(sentence) - 1 if sentence.relations[-1] == "punct" else len(sentence)
    if not all(inside[start:end]) or any(inside[:start]) or sentence.relations[start] != "cc":
        return None
    if verbs - {head for word, head in enumerate(sentence.heads) if sentence.relations[word] == "nsubj"}:
        return None
    comma = start - 1 if sentence.relations[start - 1] == "punct" else start
    words = sentence.words
    return words[:comma], words[comma : start + 1], words[start + 1 : end], words[end:]


def _is_below(sentence: Sentence, word: int, ancestor: int) -> bool:
    while word not in (ancestor, -1):
        word = sentence.heads[word]
    return word == ancestor
