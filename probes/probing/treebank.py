"""Annotated sentences from files: CoNLL-U treebanks, SentEval, CSV and TSV tables."""

import csv
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from model import InputError
from model.pretraining.corpus import decode_utf8
from model.short_repr import ShortRepr

ROOT = -1  # the head of the word that has none
SPLITS = {"tr": "train", "va": "dev", "te": "test", "train": "train", "dev": "dev", "test": "test"}
WORD_COLUMNS = ("token", "word", "form")
LINE_END = re.compile(r"\r?\n")  # str.splitlines also cuts at U+2028, U+0085, form feeds …, which stand inside words
DOCUMENT = re.compile(r"#\s*newdoc\b")
ANNOTATION = re.compile(r"#\s*(sentiment|topic|text)\s*=\s*(\S.*?)\s*$")  # of a whole sentence, in a comment


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence and their annotation; a tuple is empty where the source has none."""

    words: tuple[str, ...]
    upos: tuple[str, ...] = ()  # universal part of speech of each word
    feats: tuple[Mapping[str, str], ...] = ()  # {"Number": "Sing", ...} of each word
    heads: tuple[int, ...] = ()  # index of each word's head in `words`, or ROOT
    relations: tuple[str, ...] = ()  # relation of each word to its head, subtypes left out
    tags: tuple[str, ...] = ()  # the label of each word in a file of one token a line
    label: str = ""  # the label of the whole sentence
    split: str = ""  # train, dev or test, where the source says so
    second: tuple[str, ...] = ()  # the words of sentence B, where the label is that of a pair
    document: str = ""  # the document it stands in, where the source names documents
    entities: tuple[str, ...] = ()  # type of the entity each word is part of, "" outside
    chains: tuple[str, ...] = ()  # coreference chain of each word that heads a mention, "" elsewhere; of one document
    senses: tuple[str, ...] = ()  # sense of each ambiguous word, "" elsewhere
    annotations: Mapping[str, str] = field(default_factory=dict)  # sentiment, topic … of the whole sentence

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def root(self) -> int | None:
        """The index of the word without a head, or None in a sentence without a tree."""
        return self.heads.index(ROOT) if self.heads else None

    def depths(self) -> list[int]:
        """Edges between each word and the root."""
        depths = [-1] * len(self)
        for word in range(len(self)):
            path = []
            while word != ROOT and depths[word] < 0:
                path.append(word)
                word = self.heads[word]
            above = -1 if word == ROOT else depths[word]
            for step, descendant in enumerate(reversed(path), 1):
                depths[descendant] = above + step
        return depths

    def distances(self) -> np.ndarray:
        """Edges between any two words in the tree: (words, words)."""
        # from the root down, a word is one edge farther than its head from every word visited before it
        depths, distances = self.depths(), np.zeros((len(self), len(self)), dtype=np.int64)
        order = sorted(range(len(self)), key=depths.__getitem__)
        for index, word in enumerate(order[1:], 1):
            visited = order[:index]
            distances[word, visited] = distances[visited, word] = distances[self.heads[word], visited] + 1
        return distances


@dataclass(frozen=True, repr=False)
class Treebank(ShortRepr):
    """Sentences from one source, with its name and a digest of its content, so that a result can name its data."""

    name: str
    sentences: tuple[Sentence, ...]
    digest: str

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def pairs(self) -> bool:
        """Whether its labels are those of two sentences."""
        return any(sentence.second for sentence in self.sentences)


def read(path: str | Path) -> Treebank:
    """A file, or a folder whose files are named after train, dev and test."""
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return parse(decode_utf8(path.read_bytes(), path.name), path.name)


def _folder(path: Path) -> Treebank:
    files = [
        (split, file)
        for file in sorted(path.iterdir())
        if file.suffix in (".conllu", ".txt", ".csv", ".tsv")
        for split in ("train", "dev", "test")
        if split in file.stem.lower()
    ]
    if not files:
        raise InputError(f"{path} holds no .conllu, .txt, .csv or .tsv file named after train, dev or test.")
    return join(path.name, [(split, read(file)) for split, file in files])


def join(name: str, treebanks: Iterable[tuple[str, Treebank]]) -> Treebank:
    """Files for train, dev and test as one: a sentence is of the split its file is for, whatever split it names itself."""
    sentences, digests = [], []
    for split, treebank in treebanks:
        sentences += [replace(sentence, split=split) for sentence in treebank.sentences]
        digests.append(f"{split} {treebank.digest}")
    return Treebank(name, tuple(sentences), _digest("\n".join(digests)))


def parse(text: str, name: str) -> Treebank:
    """The content of a file -> its sentences; its first line shows which format it is in."""
    lines = LINE_END.split(text)
    first = next((line for line in lines if line.strip()), "")
    if not first:
        raise InputError(f"{name} is empty.")
    if name.endswith(".conllu") or first.startswith("#") or first.count("\t") == 9:
        sentences = conllu(lines, name)
    elif first.split("\t")[0] in SPLITS and first.count("\t") == 2:
        sentences = senteval(lines, name)
    else:
        sentences = table(lines, name)
    treebank = Treebank(name, tuple(sentences), _digest(text))
    if not len(treebank):
        raise InputError(f"{name} holds no sentence.")
    return treebank


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def conllu(lines: Iterable[str], name: str = "the text") -> Iterator[Sentence]:
    """Sentences of a Universal Dependencies treebank: ten columns a word, a blank line after each sentence."""
    rows: list[list[str]] = []
    annotations: dict[str, str] = {}
    start, document, documents = 1, "", 0
    for number, line in enumerate([*lines, ""], 1):
        if not line.strip():
            if rows:
                yield replace(_tree(rows, start, name), document=document, annotations=annotations)
            rows, annotations = [], {}
        elif DOCUMENT.match(line):
            documents += 1
            document = f"{name} {documents}"  # ids may be missing, or stand in several files
        elif line.startswith("#"):
            if match := ANNOTATION.match(line):
                annotations[match[1]] = match[2]
        else:
            row = line.split("\t")
            if len(row) != 10:
                raise InputError(f"Line {number} of {name} has {len(row)} columns; CoNLL-U has 10, separated by tabs.")
            if row[0].isdecimal():  # 3-4 is a contraction of words that follow, 3.1 a word that is not there
                if not rows:
                    start = number
                if int(row[0]) != len(rows) + 1 or not (row[6].isdecimal() or row[6] == "_"):
                    raise InputError(
                        f"Line {number} of {name} is out of order: word {row[0]!r} with head "
                        f"{row[6]!r} where word {len(rows) + 1} was expected."
                    )
                rows.append(row)
            elif not row[0].replace("-", ".").replace(".", "", 1).isdecimal():
                raise InputError(f"Line {number} of {name} starts with {row[0]!r}, which is no word number.")


def _tree(rows: list[list[str]], line: int, name: str) -> Sentence:
    words, upos, heads, relations = (tuple(row[column] for row in rows) for column in (1, 3, 6, 7))
    feats = tuple(
        {} if row[5] == "_" else dict(part.split("=", 1) for part in row[5].split("|") if "=" in part) for row in rows
    )
    marks = _marks(rows)
    if "_" in heads:
        return Sentence(words, upos, feats, **marks)
    sentence = Sentence(
        words,
        upos,
        feats,
        tuple(int(head) - 1 for head in heads),
        tuple(relation.split(":")[0] for relation in relations),
        **marks,
    )
    if not _is_tree(sentence.heads):
        raise InputError(f"The sentence from line {line} of {name} on is no tree: every word must lead to one root.")
    return sentence


def _marks(rows: list[list[str]]) -> dict[str, Any]:
    """Entity types, coreference chains and senses from the column MISC, where any word of the sentence has one."""
    misc = [dict(part.split("=", 1) for part in row[9].split("|") if "=" in part) for row in rows]
    columns = {
        "entities": tuple(word.get("Entity", "").partition("-")[2] for word in misc),  # B-PER, I-PER
        "chains": tuple(word.get("Coref", "") for word in misc),
        "senses": tuple(word.get("Sense", "") for word in misc),
    }
    return {name: column for name, column in columns.items() if any(column)}


def has_fixed_split(sentences: Iterable[Sentence]) -> bool:
    """Whether the source itself says what is trained, tuned and tested on."""
    return {sentence.split for sentence in sentences} == {"train", "dev", "test"}


def passages(sentences: Sequence[Sentence], size: int) -> list[Sentence]:
    """Each `size` sentences of a document that follow each other, as one: words, parts of speech, entities and chains."""
    joined = []
    for document, group in itertools.groupby(sentences, key=lambda sentence: sentence.document):
        members = list(group) if document else []
        for start in range(0, len(members) - size + 1, size):
            part = members[start : start + size]
            columns: dict[str, Any] = {
                name: tuple(mark for one in part for mark in (getattr(one, name) or ("",) * len(one)))
                for name in ("words", "upos", "entities", "chains")
            }
            joined.append(Sentence(**columns, split=part[0].split, document=document))
    return joined


def _is_tree(heads: Sequence[int]) -> bool:
    if heads.count(ROOT) != 1 or max(heads) >= len(heads):
        return False
    for word in range(len(heads)):
        steps = 0
        while word != ROOT:
            word, steps = heads[word], steps + 1
            if steps > len(heads):
                return False
    return True


def senteval(lines: Iterable[str], name: str = "the text") -> Iterator[Sentence]:
    """One sentence a line: split (tr, va, te), label, sentence, separated by tabs. Conneau et al. (2018)."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = line.split("\t")
        if len(row) != 3 or row[0] not in SPLITS or not row[1].strip() or not row[2].strip():
            raise InputError(f"Line {number} of {name} is not split, label and sentence, separated by tabs.")
        yield Sentence(tuple(row[2].split()), label=row[1].strip(), split=SPLITS[row[0]])


def table(lines: Sequence[str], name: str = "the text") -> Iterator[Sentence]:
    """CSV or TSV with a header: `text,label` for sentences, `text,second,label` for pairs, or `token,label` with a blank
    line between sentences."""
    header_line = next((line for line in lines if line.strip()), "")
    comma = "\t" if "\t" in header_line else ","
    header = [cell.strip().lower() for _, cells in _cells([header_line], comma, csv.QUOTE_MINIMAL, name) for cell in cells]
    word = next((column for column in WORD_COLUMNS if column in header), None)
    if "label" not in header or (word is None and "text" not in header):
        raise InputError(
            f"{name} needs a first line with the columns text,label (a sentence a line), text,second,label "
            f"(a pair a line) or token,label (a word a line), but starts with {header_line.strip()[:60]!r}."
        )
    # a quoted text may run over several lines; a file of tokens may hold a lone quotation mark as a word
    rows = _cells(lines, comma, csv.QUOTE_MINIMAL if word is None else csv.QUOTE_NONE, name)
    next((row for _, row in rows if any(row)), None)
    yield from (_texts(rows, header, name) if word is None else _tokens(rows, header, word, name))


def _cells(lines: Sequence[str], comma: str, quoting: int, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, with the number of the line it begins in."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=comma, quoting=quoting)  # pyright: ignore[reportArgumentType]  # csv's constants
    while True:
        number = reader.line_num + 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"Line {number} of {name} cannot be read as a table: {error}.") from None


def _texts(rows: Iterable[tuple[int, list[str]]], header: list[str], name: str) -> Iterator[Sentence]:
    text, label = header.index("text"), header.index("label")
    split, second = (header.index(column) if column in header else None for column in ("split", "second"))
    for number, row in rows:
        if any(cell.strip() for cell in row):
            _check(row, header, number, name)
            if not row[text].strip() or not row[label].strip():
                raise InputError(f"Line {number} of {name} lacks a text or a label.")
            if second is not None and not row[second].strip():
                raise InputError(f"Line {number} of {name} lacks its second sentence.")
            yield Sentence(
                tuple(row[text].split()),
                label=row[label].strip(),
                split="" if split is None else SPLITS.get(row[split].strip().lower(), ""),
                second=() if second is None else tuple(row[second].split()),
            )


def _tokens(rows: Iterable[tuple[int, list[str]]], header: list[str], word: str, name: str) -> Iterator[Sentence]:
    token, label = header.index(word), header.index("label")
    words: list[str] = []
    tags: list[str] = []
    for number, row in rows:
        if any(cell.strip() for cell in row):
            _check(row, header, number, name)
            if not row[token].strip() or not row[label].strip():
                raise InputError(f"Line {number} of {name} lacks a token or a label.")
            words.append(row[token].strip())
            tags.append(row[label].strip())
        elif words:
            yield Sentence(tuple(words), tags=tuple(tags))
            words, tags = [], []
    if words:
        yield Sentence(tuple(words), tags=tuple(tags))


def _check(row: list[str], header: list[str], number: int, name: str) -> None:
    if len(row) != len(header):
        raise InputError(f"Line {number} of {name} has {len(row)} columns, its first line has {len(header)}.")
