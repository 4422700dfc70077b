"""Labelled examples of a probing task: spans of wordpieces in encoded inputs, each with its label and its split."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model import Bert, Encoding, InputError
from model.short_repr import ShortRepr

from .alignment import align, align_one
from .splits import assign_splits
from .tasks import N_PREVIOUS, ProbingTask
from .treebank import Sentence, has_fixed_split, passages

Span = tuple[int, int]  # the wordpieces from the first up to, not with, the second


@dataclass(frozen=True, repr=False)
class ProbingExamples(ShortRepr):
    """Labelled spans of inputs: example e is about spans[span_indices[e]], and its gold label is labels[e].

    The word type is what the control task and the word-type baseline go by: the form of the word, of the pair's first
    word, of the wordpiece, of the sentence's first word.
    """

    task: ProbingTask
    inputs: tuple[tuple[Sentence, Encoding], ...]
    spans: np.ndarray  # (spans, 3): input, start, end
    span_indices: np.ndarray  # (examples, 1), or (examples, 2) for pairs
    word_indices: np.ndarray  # (examples,) the word or wordpiece an example is about
    labels: np.ndarray  # (examples,) text
    word_types: np.ndarray  # (examples,) text
    splits: np.ndarray  # (examples,) train, dev or test
    skipped: int  # sentences longer than the model reads, among those tried
    duplicates: int  # of all sentences, those that repeat another of their split
    left_out: int  # of all sentences, those of a split that trains which another split holds too

    @property
    def input_of(self) -> np.ndarray:
        """The input of each example: (examples,)."""
        return self.spans[self.span_indices[:, 0], 0]

    @property
    def encodings(self) -> list[Encoding]:
        return [encoding for _, encoding in self.inputs]


@dataclass(frozen=True)
class _Example:
    spans: list[Span]
    word_index: int
    word_type: str
    label: str


@dataclass(frozen=True)
class _LabelledSentence:
    split: str
    sentence: Sentence
    encoding: Encoding | None  # None where the model cannot read it whole
    examples: list[_Example]


def build_examples(
    bert: Bert, sentences: Sequence[Sentence], task: ProbingTask, seed: int = 0, limit: int = 30_000
) -> ProbingExamples:
    """The labelled spans of a task, at most `limit` to train on, a sixth as many to tune and a third to test on."""
    # where the source fixes the split, all seeds read the same sentences: they differ in control task and random weights
    rng = np.random.default_rng(0 if has_fixed_split(sentences) else seed)
    sentences = passages(sentences, task.passage) if task.passage > 1 else sentences
    remaining = {"train": limit, "dev": max(limit // 6, 1), "test": max(limit // 3, 1)}
    assignment = assign_splits(sentences, seed)
    inputs: list[tuple[Sentence, Encoding]] = []
    examples: list[_Example] = []
    span_indices, splits, skipped = [], [], 0
    spans: dict[tuple[int, int, int], int] = {}  # (input, start, end) -> its index
    for labelled in _label(bert, sentences, assignment.names, task, rng):
        if max(remaining.values()) <= 0:
            break
        if labelled.encoding is None:
            skipped += 1
            continue
        if remaining[labelled.split] <= 0 or not labelled.examples:
            continue
        for example in labelled.examples:
            span_indices.append([spans.setdefault((len(inputs), *span), len(spans)) for span in example.spans])
            splits.append(labelled.split)
        examples += labelled.examples
        remaining[labelled.split] -= len(labelled.examples)
        inputs.append((labelled.sentence, labelled.encoding))
    for split in remaining:
        if split not in splits:
            shared = f" {assignment.left_out:,} sentences stand in two splits and were left out of the one that learns."
            raise InputError(
                f"The data give no {split} example of the task “{task.title}”." + (shared if assignment.left_out else "")
            )
    return ProbingExamples(
        task,
        tuple(inputs),
        spans=np.array(list(spans)),
        span_indices=np.array(span_indices),
        word_indices=np.array([example.word_index for example in examples]),
        labels=np.array([example.label for example in examples]),
        word_types=np.array([example.word_type for example in examples]),
        splits=np.array(splits),
        skipped=skipped,
        duplicates=assignment.duplicates,
        left_out=assignment.left_out,
    )


def _label(
    bert: Bert, sentences: Sequence[Sentence], splits: list[str], task: ProbingTask, rng: np.random.Generator
) -> Iterator[_LabelledSentence]:
    """Every sentence of a split with its encoding and its examples, in random order."""
    order = [int(row) for row in rng.permutation(len(sentences)) if splits[row]]
    if task.unit == "sentence":
        yield from _label_whole(bert, sentences, splits, task, order, rng)
    elif task.unit == "piece":
        yield from _label_pieces(bert, sentences, splits, task, order)
    else:
        for row in order:
            yield _label_words(bert, sentences[row], splits[row], task, rng)


def _label_whole(
    bert: Bert,
    sentences: Sequence[Sentence],
    splits: list[str],
    task: ProbingTask,
    order: list[int],
    rng: np.random.Generator,
) -> Iterator[_LabelledSentence]:
    labelled = list(task.label([sentences[row] for row in order], rng))
    for row, pair in zip(order, labelled, strict=True):
        if pair is None:
            continue
        sentence, label = pair
        aligned = align_one(bert, sentence)
        if aligned is None:
            yield _LabelledSentence(splits[row], sentence, None, [])
        else:
            example = _Example([(0, len(aligned.encoding))], 0, sentence.words[0].lower(), label)
            yield _LabelledSentence(splits[row], sentence, aligned.encoding, [example])


def _label_words(
    bert: Bert, sentence: Sentence, split: str, task: ProbingTask, rng: np.random.Generator
) -> _LabelledSentence:
    aligned = align_one(bert, sentence)
    if aligned is None:
        return _LabelledSentence(split, sentence, None, [])
    spans = [(int(start), int(end)) for start, end in aligned.spans]
    examples = [
        _Example([spans[word] for word in words], words[0], sentence.words[words[0]].lower(), label)
        for words, label in task.label(sentence, rng)
        if all(spans[word][0] < spans[word][1] for word in words)
    ]
    return _LabelledSentence(split, sentence, aligned.encoding, examples)


def _label_pieces(
    bert: Bert, sentences: Sequence[Sentence], splits: list[str], task: ProbingTask, order: list[int]
) -> Iterator[_LabelledSentence]:
    frequent = None
    if task.name == "previous":
        sample = align(bert, [sentences[row] for row in order[:2000]]).sentences
        counts = Counter(label for aligned in sample for _, label in task.label(aligned.encoding))
        frequent = {label for label, _ in counts.most_common(N_PREVIOUS)}
    for row in order:
        sentence = sentences[row]
        if task.name == "segment":
            if row + 1 >= len(sentences) or splits[row + 1] != splits[row]:
                continue
            encoding = _encode_pair(bert, sentence, sentences[row + 1])
        else:
            aligned = align_one(bert, sentence)
            encoding = None if aligned is None else aligned.encoding
        examples = []
        if encoding is not None:
            examples = [
                _Example([(position, position + 1)], position, encoding.tokens[position].text, label)
                for (position,), label in task.label(encoding)
                if frequent is None or label in frequent
            ]
        yield _LabelledSentence(splits[row], sentence, encoding, examples)


def _encode_pair(bert: Bert, first: Sentence, second: Sentence) -> Encoding | None:
    encoding = bert.tokenizer.encode(first.text, second.text)
    if any(encoding.truncated) or len(encoding) > bert.config.max_position_embeddings:
        return None
    return encoding
