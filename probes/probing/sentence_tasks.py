"""Labels of whole sentences: what SentEval asks, from a dependency tree or from the words alone.

Conneau et al. (2018). Each function takes the sentences in the order they will be used and gives, for each, the
sentence to read (changed, where the task is to notice a change) with its label, or None where it has none.
The order of constituents under the top node becomes, without constituents, the order of what hangs on the root.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from .treebank import Sentence

Labelled = Iterator[tuple[Sentence, str] | None]

LENGTHS = ((4, "1–4"), (8, "5–8"), (12, "9–12"), (16, "13–16"), (20, "17–20"), (25, "21–25"), (10_000, "26 and more"))
DEEPEST = 7
ORDERS = 19  # as many orders have a name of their own as in SentEval; the rest are "another"
CONTENT = 50  # words to tell apart
CONTENT_UPOS = {"NOUN", "VERB", "ADJ", "PROPN", "ADV"}


def label(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """What the file says."""
    yield from ((sentence, sentence.label) if sentence.label else None for sentence in sentences)


def length(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Number of words, in bins."""
    for sentence in sentences:
        yield sentence, next(name for most, name in LENGTHS if len(sentence) <= most)


def tree_depth(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Edges from the root to the deepest word."""
    for sentence in sentences:
        deepest = max(sentence.depths()) if sentence.heads else 0
        yield (sentence, str(deepest) if deepest < DEEPEST else f"{DEEPEST} and more") if sentence.heads else None


def top(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """The relations that hang on the root, in order, the root's own part of speech among them."""
    orders = [_order(sentence) for sentence in sentences]
    named = {order for order, _ in Counter(order for order in orders if order).most_common(ORDERS)}
    for sentence, order in zip(sentences, orders, strict=True):
        yield (sentence, order if order in named else "another") if order else None


def _order(sentence: Sentence) -> str:
    root = sentence.root
    if root is None:
        return ""
    return " ".join(sentence.upos[root] if word == root and sentence.upos else relation
                    for word, relation in enumerate(sentence.relations)
                    if (sentence.heads[word] == root or word == root) and relation != "punct")


def main_tense(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Tense of the root, or of an auxiliary of it."""
    for sentence in sentences:
        if not sentence.heads or not sentence.feats:
            yield None
            continue
        root = sentence.root
        carriers = [word for word, head in enumerate(sentence.heads)
                    if word == root or (head == root and sentence.relations[word] in ("aux", "cop"))]
        found = [sentence.feats[word]["Tense"] for word in carriers
                 if "Tense" in sentence.feats[word] and sentence.feats[word].get("VerbForm", "Fin") == "Fin"]
        yield (sentence, found[0]) if found else None


def subject_number(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Number of the root's subject."""
    yield from _number_of("nsubj", sentences)


def object_number(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Number of the root's object."""
    yield from _number_of("obj", sentences)


def _number_of(relation: str, sentences: Sequence[Sentence]) -> Labelled:
    for sentence in sentences:
        found = [sentence.feats[word]["Number"] for word, head in enumerate(sentence.heads)
                 if sentence.feats and head == sentence.root and sentence.relations[word] == relation
                 and "Number" in sentence.feats[word]]
        yield (sentence, found[0]) if found else None


def content(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Which one of some frequent content words the sentence holds; none where it holds two of them."""
    counts = Counter(word.lower() for sentence in sentences for place, word in enumerate(sentence.words)
                     if len(word) > 3 and (not sentence.upos or sentence.upos[place] in CONTENT_UPOS))
    known = {word for word, _ in counts.most_common(CONTENT)}
    for sentence in sentences:
        found = {word.lower() for word in sentence.words} & known
        yield (sentence, found.pop()) if len(found) == 1 else None


def bigram_shift(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Whether two neighbouring words changed places, in half of the sentences."""
    for sentence in sentences:
        places = [place for place in range(len(sentence) - 1)
                  if sentence.words[place].lower() != sentence.words[place + 1].lower()]
        if len(sentence) < 4 or not places:
            yield None
        elif draw.random() < 0.5:
            yield sentence, "as written"
        else:
            place, words = int(draw.choice(places)), list(sentence.words)
            words[place], words[place + 1] = words[place + 1], words[place]
            yield Sentence(tuple(words)), "two words swapped"


def odd_word(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Whether a noun or verb gave way to another of the same form, in half of the sentences."""
    kinds: dict[tuple, list[str]] = defaultdict(list)
    for sentence in sentences:
        for place, kind in _kinds(sentence):
            kinds[kind].append(sentence.words[place])
    various = {kind for kind, words in kinds.items() if len(set(words)) > 1}
    for sentence in sentences:
        places = [(place, kind) for place, kind in _kinds(sentence) if kind in various]
        if not places:
            yield None
        elif draw.random() < 0.5:
            yield sentence, "as written"
        else:
            place, kind = places[int(draw.integers(len(places)))]
            other = sentence.words[place]
            while other == sentence.words[place]:
                other = kinds[kind][int(draw.integers(len(kinds[kind])))]
            words = (*sentence.words[:place], other, *sentence.words[place + 1:])
            yield replace(sentence, words=words), "a word replaced"


def _kinds(sentence: Sentence) -> list[tuple[int, tuple]]:
    return [(place, (tag, *sorted(sentence.feats[place].items()))) for place, tag in enumerate(sentence.upos)
            if tag in ("NOUN", "VERB") and sentence.feats]


def inversion(sentences: Sequence[Sentence], draw: np.random.Generator) -> Labelled:
    """Whether two coordinated main clauses changed places, in half of the sentences that have two."""
    for sentence in sentences:
        parts = _clauses(sentence)
        if parts is None:
            yield None
        elif draw.random() < 0.5:
            yield sentence, "as written"
        else:
            first, joint, second, end = parts
            yield Sentence((*second, *joint, *first, *end)), "clauses swapped"


def _clauses(sentence: Sentence) -> tuple[tuple[str, ...], ...] | None:
    """First clause, conjunction, second clause and final mark of a sentence whose root is joined to one more clause."""
    root = sentence.root
    if root is None:
        return None
    joined = [word for word, head in enumerate(sentence.heads)
              if head == root and sentence.relations[word] == "conj" and word > root]
    if len(joined) != 1:
        return None
    inside = [_under(sentence, word, joined[0]) for word in range(len(sentence))]
    start, subjects = inside.index(True), {joined[0], root}
    end = len(sentence) - 1 if sentence.relations[-1] == "punct" else len(sentence)
    if not all(inside[start:end]) or any(inside[:start]) or sentence.relations[start] != "cc":
        return None
    if subjects - {head for word, head in enumerate(sentence.heads) if sentence.relations[word] == "nsubj"}:
        return None
    comma = start - 1 if sentence.relations[start - 1] == "punct" else start
    words = sentence.words
    return words[:comma], words[comma:start + 1], words[start + 1:end], words[end:]


def _under(sentence: Sentence, word: int, ancestor: int) -> bool:
    while word not in (ancestor, -1):
        word = sentence.heads[word]
    return word == ancestor
