"""Train, dev and test without a text in two of them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from model import InputError

from .treebank import Sentence

MIN_TEXTS = 10  # different sentences, to train, tune and test on


@dataclass(frozen=True)
class SplitAssignment:
    """The split of each sentence, and what was done so that no text is in two of them."""

    names: list[str]  # train, dev, test, or "" for a sentence that is left out
    duplicates: int  # sentences that repeat another of their split
    left_out: int  # sentences of train that are in dev or test too, and of dev that are in test


def normalised_text(sentence: Sentence) -> str:
    """What makes two sentences (or pairs) the same text: their letters and signs, whatever their case and spacing."""
    return "\n".join("".join("".join(words).split()).casefold() for words in (sentence.words, sentence.second))


def assign_splits(sentences: Sequence[Sentence], seed: int) -> SplitAssignment:
    """Train, dev or test for every sentence, no text in two of them: as the source says, missing ones drawn from train.

    A tenth of the words is drawn, document by document, or text by text where the source names no documents or so few
    that they cannot make a tenth. Equal texts stay together. Documents that share a sentence need not (shared sentences
    join nearly all stories of the small world, and a seventh of a treebank of e-mails): the copy in train, or the one in
    dev where the other is in test, is left out. The draw depends on seed and text, not on the order of the file.
    """
    texts = [normalised_text(sentence) for sentence in sentences]
    distinct = len(set(texts))
    if distinct < MIN_TEXTS:
        raise InputError(
            f"{distinct} different sentences are too few to learn from, tune and test on: it takes {MIN_TEXTS}."
        )
    names = [sentence.split or "train" for sentence in sentences]
    reserved = {text for text, name in zip(texts, names, strict=True) if name != "train"}
    pool = [row for row, name in enumerate(names) if name == "train" and texts[row] not in reserved]
    tenth = sum(_n_words(sentences[row]) for row in pool) / 10
    for name in ("test", "dev"):
        if name not in names:
            for row in _draw(sentences, texts, pool, tenth, seed):
                names[row] = name
            pool = [row for row in pool if names[row] == "train"]
    return _without_overlap(names, texts)


def count_shared(sentences: Sequence[Sentence]) -> int:
    """How many sentences are in two of the splits that the source names, and will be left out of the one that trains."""
    names = [sentence.split or "train" for sentence in sentences]
    return _without_overlap(names, [normalised_text(sentence) for sentence in sentences]).left_out


def _draw(sentences: Sequence[Sentence], texts: Sequence[str], pool: Sequence[int], tenth: float, seed: int) -> list[int]:
    """Rows of the pool with about `tenth` words: whole documents, or all rows of a text."""
    by_document: dict[str, list[int]] = {}
    by_text: dict[str, list[int]] = {}
    for row in pool:
        by_document.setdefault(sentences[row].document or f"\n{texts[row]}", []).append(row)
        by_text.setdefault(texts[row], []).append(row)
    for groups in (by_document, by_text):
        rows, words = [], 0
        for group in sorted(groups.values(), key=lambda group: _hash(seed, sorted(texts[row] for row in group))):
            size = sum(_n_words(sentences[row]) for row in group)
            if words < tenth and words + size <= 1.5 * tenth:
                rows += group
                words += size
        if words > tenth / 2:
            return rows
    return min(by_text.values(), key=len) if len(by_text) > 1 else []


def _n_words(sentence: Sentence) -> int:
    return len(sentence.words) + len(sentence.second)


def _hash(seed: int, texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\n".join([str(seed), *texts]).encode("utf-8", "surrogatepass")).digest()


def _without_overlap(names: list[str], texts: Sequence[str]) -> SplitAssignment:
    """Leave out what a later split of train, dev, test holds too."""
    texts_of = {split: {text for text, name in zip(texts, names, strict=True) if name == split} for split in ("dev", "test")}
    later = {"train": texts_of["dev"] | texts_of["test"], "dev": texts_of["test"], "test": set()}
    assigned = ["" if text in later[name] else name for text, name in zip(texts, names, strict=True)]
    left_out = assigned.count("")
    distinct = len({text for text, name in zip(texts, assigned, strict=True) if name})
    return SplitAssignment(assigned, duplicates=len(assigned) - left_out - distinct, left_out=left_out)
