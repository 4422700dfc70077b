"""The compact form in which the reader's texts are written: its inventories, and how a file is parsed."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from model import InputError

from .texts import Reader, ReaderSentence, ReaderText, ReaderToken

FOLDER = Path(__file__).parents[1] / "bundled" / "reader"
TOPICS = (
    "home",
    "school",
    "street",
    "work",
    "nature",
    "science",
    "history",
    "letters",
    "dialogue",
    "news",
    "recipe",
    "story",
)
SENTIMENTS, TENSES, NUMBERS = ("positive", "neutral", "negative"), ("past", "pres", "fut", "none"), ("sing", "plur", "none")
FLAGS = ("garden", "nonprojective")
ENTITIES = ("PER", "LOC", "ORG", "DATE", "OTHER")
UPOS = (
    "NOUN",
    "PROPN",
    "PRON",
    "DET",
    "ADJ",
    "NUM",
    "VERB",
    "AUX",
    "ADP",
    "SCONJ",
    "PART",
    "CCONJ",
    "ADV",
    "INTJ",
    "SYM",
    "PUNCT",
)
RELATIONS = tuple(
    """
    root nsubj nsubj:pass nsubj:outer csubj csubj:pass obj iobj ccomp xcomp obl obl:agent obl:unmarked advcl
    advcl:relcl advmod aux aux:pass cop mark case cc cc:preconj conj det det:predet nummod amod nmod nmod:poss
    nmod:desc nmod:unmarked acl acl:relcl appos compound compound:prt flat fixed expl discourse vocative dislocated
    parataxis orphan punct
    """.split()
)
FILE_NAME = re.compile(r"(\d{3})-[a-z0-9]+(?:-[a-z0-9]+)*\.txt")


def plan(folder: Path = FOLDER) -> dict:
    """Topics by number, senses by word, words by range: what the writers agreed on."""
    return json.loads((folder / "plan.json").read_text("utf-8"))


def common_words(folder: Path = FOLDER) -> frozenset[str]:
    """The thousand commonest word forms of plain modern English."""
    return frozenset((folder / "common_words.txt").read_text("utf-8").split())


def files(folder: Path = FOLDER) -> list[Path]:
    return sorted((folder / "texts").glob("*.txt"))


def read(paths: Iterable[Path] | None = None) -> Reader:
    """The texts of some files, or all that ship; an InputError names file and line of the first mistake in the form."""
    return Reader(
        tuple(
            sorted(
                (parse(path.read_text("utf-8"), path.name) for path in (files() if paths is None else paths)),
                key=lambda text: text.number,
            )
        )
    )


def parse(source: str, name: str) -> ReaderText:
    """One file in the compact form -> its text."""
    match = FILE_NAME.fullmatch(name)
    if not match:
        raise InputError(f"{name} is not named like 001-lost-key.txt.")
    heads: dict[str, str] = {}
    sentences: list[ReaderSentence] = []
    header: list[str] = []
    header_line = 0
    tokens: list[ReaderToken] = []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        where = f"{name} line {number}"
        if not line.strip():
            if header:
                sentences.append(_sentence(header, tokens, f"{name} line {header_line}", header_line))
            header, tokens = [], []
        elif line.startswith("#") and not header:
            key, colon, value = line[1:].partition(":")
            if not colon or key.strip() not in ("title", "topic") or not value.strip() or sentences or key.strip() in heads:
                raise InputError(
                    f"{where}: only '# title: …' and '# topic: …' may stand before the first sentence, once each."
                )
            heads[key.strip()] = value.strip()
        elif line.startswith("= ") and not header:
            header, header_line = line[1:].split(), number
        elif header and line.split()[0].isdecimal():
            tokens.append(_token(line.split(), len(tokens) + 1, number, where))
        else:
            raise InputError(
                f"{where}: expected a token line 'index form UPOS head relation' after a header '= sentiment tense number', "
                f"and a blank line between sentences, not {line.strip()[:40]!r}."
            )
    for key in ("title", "topic"):
        if key not in heads:
            raise InputError(f"{name} lacks its '# {key}: …' line.")
    if heads["topic"] not in TOPICS:
        raise InputError(f"{name}: the topic {heads['topic']!r} is none of {', '.join(TOPICS)}.")
    if not sentences:
        raise InputError(f"{name} holds no sentence.")
    return ReaderText(name.removesuffix(".txt"), int(match[1]), heads["title"], heads["topic"], tuple(sentences))


def _sentence(header: Sequence[str], tokens: Sequence[ReaderToken], where: str, line: int) -> ReaderSentence:
    if len(header) < 3 or header[0] not in SENTIMENTS or header[1] not in TENSES or header[2] not in NUMBERS:
        raise InputError(
            f"{where}: the header must be '= {'|'.join(SENTIMENTS)} {'|'.join(TENSES)} {'|'.join(NUMBERS)}', "
            f"but is {' '.join(header)!r}."
        )
    unknown = [flag for flag in header[3:] if flag not in FLAGS]
    if unknown:
        raise InputError(f"{where}: {unknown[0]!r} is no flag of a sentence; there are {', '.join(FLAGS)}.")
    if not tokens:
        raise InputError(f"{where}: the sentence has no words.")
    for token in tokens:
        if token.head >= len(tokens):
            raise InputError(
                f"{where}: word {token.form!r} has head {token.head + 1}, but the sentence has {len(tokens)} words."
            )
    return ReaderSentence(tuple(tokens), header[0], header[1], header[2], frozenset(header[3:]), line)


def _token(parts: Sequence[str], expected: int, line: int, where: str) -> ReaderToken:
    if len(parts) < 5:
        raise InputError(f"{where}: a token line is 'index form UPOS head relation', but this has {len(parts)} parts.")
    index, form, upos, head, relation, *marks = parts
    if int(index) != expected:
        raise InputError(f"{where}: word {form!r} has index {index} where {expected} was expected.")
    if upos not in UPOS:
        raise InputError(f"{where}: {upos!r} is no part of speech in use here.")
    if not head.isdecimal():
        raise InputError(f"{where}: the head of {form!r} must be a word number, but is {head!r}.")
    if relation not in RELATIONS:
        raise InputError(f"{where}: {relation!r} is no relation in use here.")
    values: dict = {}
    for mark in marks:
        name, _, value = mark.partition("=")
        if mark in ("-space", "+space"):
            values["space_before"] = mark == "+space"
        elif mark == "ok":
            values["reviewed"] = True
        elif name == "ent" and value in (*ENTITIES, "+"):
            values["entity"] = value
        elif name in ("coref", "group") and value.isdecimal() and int(value):
            values[name] = int(value)
        elif name == "sense" and value:
            values["sense"] = value
        elif name == "feat" and all("=" in part for part in value.split(",")):
            values["override"] = tuple((part.split("=")[0], part.split("=")[1]) for part in value.split(","))
        else:
            raise InputError(
                f"{where}: {mark!r} is no mark; there are ent=, coref=, group=, sense=, feat=, -space, +space and ok."
            )
    return ReaderToken(form, upos, int(head) - 1, relation, line, **values)
