"""Probing tasks: which labels a treebank gives to its tokens, pairs of tokens, wordpieces and sentences."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model import Encoding, InputError

from . import sentence_tasks
from .treebank import ROOT, Sentence

N_PREVIOUS = 50  # the most frequent tokens, between which the task "the token before" distinguishes
DISTANCES = ("1", "2", "3", "4", "5", "6 and more")
MAX_DEPTH = 6
PASSAGE = 4  # sentences in which two mentions are looked for

Labels = Iterator[tuple[tuple[int, ...], str]]  # the words (or wordpieces) of an example, and its label


@dataclass(frozen=True)
class ProbingTask:
    """A function from annotation to one label for every token, pair of tokens, wordpiece or sentence."""

    name: str
    title: str
    unit: str  # token, pair, piece or sentence
    needs: str  # the field of Sentence it reads; "words" where text is enough
    label: Callable  # (Sentence, rng), for a piece (Encoding), for a sentence (Sentences, rng) -> their labels
    passage: int = 1  # sentences of a text that are read together
    partner: str = ""  # of pairs: the label that says that the two belong together


def _upos(sentence: Sentence, rng: np.random.Generator) -> Labels:
    yield from (((word,), tag) for word, tag in enumerate(sentence.upos) if tag != "_")


def _relation(sentence: Sentence, rng: np.random.Generator) -> Labels:
    yield from (((word,), relation) for word, relation in enumerate(sentence.relations))


def _direction(sentence: Sentence, rng: np.random.Generator) -> Labels:
    for word, head in enumerate(sentence.heads):
        yield (word,), "root" if head == ROOT else "head before" if head < word else "head after"


def _distance(sentence: Sentence, rng: np.random.Generator) -> Labels:
    for word, head in enumerate(sentence.heads):
        if head != ROOT:
            yield (word,), DISTANCES[min(abs(head - word), len(DISTANCES)) - 1]


def _depth(sentence: Sentence, rng: np.random.Generator) -> Labels:
    for word, depth in enumerate(sentence.depths() if sentence.heads else ()):
        yield (word,), str(depth) if depth < MAX_DEPTH else f"{MAX_DEPTH} and more"


def _feature(name: str) -> Callable[[Sentence, np.random.Generator], Labels]:
    def labels(sentence: Sentence, rng: np.random.Generator) -> Labels:
        yield from (((word,), feats[name]) for word, feats in enumerate(sentence.feats) if name in feats)

    return labels


def _tag(sentence: Sentence, rng: np.random.Generator) -> Labels:
    yield from (((word,), tag) for word, tag in enumerate(sentence.tags))


def _mark(name: str) -> Callable[[Sentence, np.random.Generator], Labels]:
    """The words that have a mark of this name, with the mark as their label."""

    def labels(sentence: Sentence, rng: np.random.Generator) -> Labels:
        yield from (((word,), mark) for word, mark in enumerate(getattr(sentence, name)) if mark)

    return labels


def _coreference(sentence: Sentence, rng: np.random.Generator) -> Labels:
    """Each mention with the last one of its chain before it, and with one of another chain before it.

    The two words of a pair are never the same form: who compares spellings knows nothing.
    """
    forms = [word.lower() for word in sentence.words]
    mentions = [word for word, chain in enumerate(sentence.chains) if chain]
    for position, mention in enumerate(mentions):
        before = [word for word in mentions[:position] if forms[word] != forms[mention]]
        same = [word for word in before if sentence.chains[word] == sentence.chains[mention]]
        other = [word for word in before if sentence.chains[word] != sentence.chains[mention]]
        if same and other:
            yield (mention, same[-1]), "same"
            yield (mention, int(rng.choice(other))), "another"


def _edge(sentence: Sentence, rng: np.random.Generator) -> Labels:
    """Each word with its head, and with a word that is not: as far away as another word's head, so that
    distance and direction alone do not predict the label."""
    offsets = [head - word for word, head in enumerate(sentence.heads) if head != ROOT]
    for word, head in enumerate(sentence.heads):
        if head == ROOT:
            continue
        negatives = [
            word + offset
            for offset in offsets
            if 0 <= word + offset < len(sentence) and word + offset != head and sentence.heads[word + offset] != word
        ]
        if negatives:
            yield (word, head), "edge"
            yield (word, int(rng.choice(negatives))), "no edge"


def _position(encoding: Encoding) -> Labels:
    for token in encoding.tokens:
        if not token.is_special:
            low = (token.position - 1) // 5 * 5
            yield (token.position,), f"{low + 1}–{low + 5}" if low < 40 else "41 and more"


def _segment(encoding: Encoding) -> Labels:
    yield from (((token.position,), "AB"[token.segment]) for token in encoding.tokens if not token.is_special)


def _continues(encoding: Encoding) -> Labels:
    for token in encoding.tokens:
        if not token.is_special:
            yield (token.position,), "continues a word" if token.is_continuation else "begins a word"


def _previous(encoding: Encoding) -> Labels:
    for previous, token in itertools.pairwise(encoding.tokens):
        if not token.is_special:
            yield (token.position,), previous.text


TASKS = {
    task.name: task
    for task in (
        ProbingTask("upos", "part of speech", "token", "upos", _upos),
        ProbingTask("deprel", "relation to the head", "token", "relations", _relation),
        ProbingTask("direction", "where the head is", "token", "heads", _direction),
        ProbingTask("distance", "words to the head", "token", "heads", _distance),
        ProbingTask("depth", "depth in the tree", "token", "heads", _depth),
        ProbingTask("number", "number", "token", "feats", _feature("Number")),
        ProbingTask("tense", "tense", "token", "feats", _feature("Tense")),
        ProbingTask("entity", "type of the name", "token", "entities", _mark("entities")),
        ProbingTask("sense", "sense of an ambiguous word", "token", "senses", _mark("senses")),
        ProbingTask("edge", "is there an edge?", "pair", "heads", _edge, partner="edge"),
        ProbingTask(
            "coreference", "do two words mean the same one?", "pair", "chains", _coreference, PASSAGE, partner="same"
        ),
        ProbingTask("tag", "the file's label of each word", "token", "tags", _tag),
        ProbingTask("label", "the file's label of each sentence or pair", "sentence", "label", sentence_tasks.label),
        ProbingTask("sentiment", "sentiment", "sentence", "sentiment", sentence_tasks.annotation("sentiment")),
        ProbingTask("topic", "topic of the text", "sentence", "topic", sentence_tasks.annotation("topic")),
        ProbingTask("length", "sentence length", "sentence", "words", sentence_tasks.length),
        ProbingTask("treedepth", "depth of the tree", "sentence", "heads", sentence_tasks.tree_depth),
        ProbingTask("top", "what hangs on the root", "sentence", "heads", sentence_tasks.top),
        ProbingTask("maintense", "tense of the main verb", "sentence", "feats", sentence_tasks.main_tense),
        ProbingTask("subject", "number of the subject", "sentence", "feats", sentence_tasks.subject_number),
        ProbingTask("object", "number of the object", "sentence", "feats", sentence_tasks.object_number),
        ProbingTask("content", "which word is in it", "sentence", "words", sentence_tasks.content),
        ProbingTask("shift", "were two words swapped?", "sentence", "words", sentence_tasks.bigram_shift),
        ProbingTask("odd", "was a word replaced?", "sentence", "feats", sentence_tasks.odd_word),
        ProbingTask("inversion", "were two clauses swapped?", "sentence", "heads", sentence_tasks.inversion),
        ProbingTask("position", "position of the token", "piece", "words", _position),
        ProbingTask("segment", "sentence A or B", "piece", "words", _segment),
        ProbingTask("continues", "continuation of a word", "piece", "words", _continues),
        ProbingTask("previous", "the token before", "piece", "words", _previous),
    )
}


def find(name: str) -> ProbingTask:
    """The task with a name."""
    if name not in TASKS:
        raise InputError(f"There is no task {name!r}; there are {', '.join(TASKS)}, and tree.")
    return TASKS[name]


def available(sentences: Sequence[Sentence]) -> list[ProbingTask]:
    """The tasks that these sentences have annotation for; pairs of sentences have one, their own label."""
    if any(sentence.second for sentence in sentences[:1000]):
        return [TASKS["label"]]
    return [task for task in TASKS.values() if any(_annotated(sentence, task.needs) for sentence in sentences[:1000])]


def _annotated(sentence: Sentence, needs: str) -> bool:
    """Whether a sentence has the field, or the annotation, that a task reads."""
    return any(getattr(sentence, needs, ())) or needs in sentence.annotations
