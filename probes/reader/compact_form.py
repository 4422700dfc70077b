"""The reader: short texts of everyday English annotated for this project, from their compact form to CoNLL-U.

`python -m probes.reader check [files]` validates, `show NNN` prints trees, `counts` all counts, `conllu` the treebank.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from model import InputProblem

from ..probing.treebank import Sentence, Treebank, conllu
from . import features

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
NO_SPACE_BEFORE = {".", ",", ";", ":", "?", "!", ")", "]", "%", "...", "n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "'"}
NO_SPACE_AFTER = {"(", "[", "$", "£", "€"}
FILE_NAME = re.compile(r"(\d{3})-[a-z0-9]+(?:-[a-z0-9]+)*\.txt")


@dataclass(frozen=True)
class ReaderToken:
    """A word of a sentence with everything its line says; `head` is the index of its head, -1 for the root."""

    form: str
    upos: str
    head: int
    relation: str
    line: int
    entity: str = ""  # PER, LOC ... on the first word, + on the others
    coref: int = 0
    group: int = 0  # chain of the coordination that begins here
    sense: str = ""
    override: tuple[tuple[str, str], ...] = ()
    space_before: bool | None = None  # None goes by the rule
    reviewed: bool = False  # a doubt about it was looked at


@dataclass(frozen=True)
class ReaderSentence:
    """A sentence of a text: its tokens and what its header says."""

    tokens: tuple[ReaderToken, ...]
    sentiment: str
    tense: str
    number: str
    flags: frozenset[str]
    line: int

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(token.form for token in self.tokens)

    @cached_property
    def words(self) -> features.Words:
        """The columns the feature rules look at."""
        return features.Words(
            [token.form.lower() for token in self.tokens],
            [token.upos for token in self.tokens],
            [token.head for token in self.tokens],
            [token.relation for token in self.tokens],
            [dict(token.override) for token in self.tokens],
            self.tense,
        )

    @cached_property
    def feats(self) -> list[dict[str, str]]:
        return features.features(self.words)

    @cached_property
    def spaces(self) -> list[bool]:
        """Whether a blank stands before each token."""
        spaces, is_open, glued = [], False, True
        for token in self.tokens:
            closes = token.form == '"' and is_open
            rule = not (glued or (token.form in NO_SPACE_BEFORE and token.form != '"') or closes)
            spaces.append(rule if token.space_before is None else token.space_before)
            if token.form == '"':
                is_open = not is_open
            glued = token.form in NO_SPACE_AFTER or (token.form == '"' and is_open)
        return spaces

    @property
    def text(self) -> str:
        return "".join(" " * space + token.form for space, token in zip(self.spaces, self.tokens, strict=True)).strip()

    def entities(self) -> list[tuple[int, int, str]]:
        """First word, last word and type of each entity."""
        spans: list[tuple[int, int, str]] = []
        for word, token in enumerate(self.tokens):
            if token.entity == "+":
                start, _, kind = spans.pop()
                spans.append((start, word, kind))
            elif token.entity:
                spans.append((word, word, token.entity))
        return spans


@dataclass(frozen=True)
class ReaderText:
    """One text of the reader."""

    name: str  # 001-lost-key
    number: int
    title: str
    topic: str
    sentences: tuple[ReaderSentence, ...]

    @property
    def split(self) -> str:
        return split(self.number)


@dataclass(frozen=True)
class Reader:
    """All texts, in order of their numbers."""

    texts: tuple[ReaderText, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def conllu(self) -> str:
        return "".join(text_conllu(text) for text in self.texts)

    def treebank(self) -> Treebank:
        """The texts as a Treebank with their split."""
        sentences: list[Sentence] = []
        for text in self.texts:
            sentences += [
                replace(sentence, split=text.split) for sentence in conllu(text_conllu(text).splitlines(), text.name)
            ]
        return Treebank("reader", tuple(sentences), hashlib.sha256(self.conllu().encode()).hexdigest()[:16])


def split(number: int) -> str:
    """train, dev or test by the last digit of a text's number: texts stay whole, 70 / 10 / 20."""
    return {4: "test", 9: "test", 7: "dev"}.get(number % 10, "train")


def plan(folder: Path = FOLDER) -> dict:
    """Topics by number, senses by word, words by range: what the writers agreed on."""
    return json.loads((folder / "plan.json").read_text("utf-8"))


def common_words(folder: Path = FOLDER) -> frozenset[str]:
    """The thousand commonest word forms of plain modern English."""
    return frozenset((folder / "common_words.txt").read_text("utf-8").split())


def files(folder: Path = FOLDER) -> list[Path]:
    return sorted((folder / "texts").glob("*.txt"))


def read(paths: Iterable[Path] | None = None) -> Reader:
    """The texts of some files, or all that ship; an InputProblem names file and line of the first mistake in the form."""
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
        raise InputProblem(f"{name} is not named like 001-lost-key.txt.")
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
                raise InputProblem(
                    f"{where}: only '# title: …' and '# topic: …' may stand before the first sentence, once each."
                )
            heads[key.strip()] = value.strip()
        elif line.startswith("= ") and not header:
            header, header_line = line[1:].split(), number
        elif header and line.split()[0].isdecimal():
            tokens.append(_token(line.split(), len(tokens) + 1, number, where))
        else:
            raise InputProblem(
                f"{where}: expected a token line 'index form UPOS head relation' after a header '= sentiment tense number', "
                f"and a blank line between sentences, but found {line.strip()[:40]!r}."
            )
    for key in ("title", "topic"):
        if key not in heads:
            raise InputProblem(f"{name} lacks its '# {key}: …' line.")
    if heads["topic"] not in TOPICS:
        raise InputProblem(f"{name}: the topic {heads['topic']!r} is none of {', '.join(TOPICS)}.")
    if not sentences:
        raise InputProblem(f"{name} holds no sentence.")
    return ReaderText(name.removesuffix(".txt"), int(match[1]), heads["title"], heads["topic"], tuple(sentences))


def _sentence(header: Sequence[str], tokens: Sequence[ReaderToken], where: str, line: int) -> ReaderSentence:
    if len(header) < 3 or header[0] not in SENTIMENTS or header[1] not in TENSES or header[2] not in NUMBERS:
        raise InputProblem(
            f"{where}: the header must be '= {'|'.join(SENTIMENTS)} {'|'.join(TENSES)} {'|'.join(NUMBERS)}', "
            f"but is {' '.join(header)!r}."
        )
    unknown = [flag for flag in header[3:] if flag not in FLAGS]
    if unknown:
        raise InputProblem(f"{where}: {unknown[0]!r} is no flag of a sentence; there are {', '.join(FLAGS)}.")
    if not tokens:
        raise InputProblem(f"{where}: the sentence has no words.")
    for token in tokens:
        if token.head >= len(tokens):
            raise InputProblem(
                f"{where}: word {token.form!r} has head {token.head + 1}, but the sentence has {len(tokens)} words."
            )
    return ReaderSentence(tuple(tokens), header[0], header[1], header[2], frozenset(header[3:]), line)


def _token(parts: Sequence[str], expected: int, line: int, where: str) -> ReaderToken:
    if len(parts) < 5:
        raise InputProblem(f"{where}: a token line is 'index form UPOS head relation', but this has {len(parts)} parts.")
    index, form, upos, head, relation, *marks = parts
    if int(index) != expected:
        raise InputProblem(f"{where}: word {form!r} has index {index} where {expected} was expected.")
    if upos not in UPOS:
        raise InputProblem(f"{where}: {upos!r} is no part of speech in use here.")
    if not head.isdecimal():
        raise InputProblem(f"{where}: the head of {form!r} must be a word number, but is {head!r}.")
    if relation not in RELATIONS:
        raise InputProblem(f"{where}: {relation!r} is no relation in use here.")
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
            raise InputProblem(
                f"{where}: {mark!r} is no mark; there are ent=, coref=, group=, sense=, feat=, -space, +space and ok."
            )
    return ReaderToken(form, upos, int(head) - 1, relation, line, **values)


def text_conllu(text: ReaderText) -> str:
    """One text as CoNLL-U with its annotations in MISC and in comments."""
    lines = [f"# newdoc id = {text.name}", f"# title = {text.title}", f"# split = {text.split}"]
    for number, sentence in enumerate(text.sentences, 1):
        lines += [
            f"# sent_id = {text.name}-{number}",
            f"# text = {sentence.text}",
            f"# topic = {text.topic}",
            f"# sentiment = {sentence.sentiment}",
            f"# tense = {sentence.tense}",
            f"# subject_number = {sentence.number}",
        ]
        if "garden" in sentence.flags:
            lines.append("# garden_path = Yes")
        following = [*sentence.spaces[1:], True]
        kind = ""
        for word, token in enumerate(sentence.tokens):
            kind = {"": "", "+": kind}.get(token.entity, token.entity)
            misc = [f"Entity={'I' if token.entity == '+' else 'B'}-{kind}"] if token.entity else []
            misc += [f"Coref={token.coref}"] * bool(token.coref) + [f"CorefGroup={token.group}"] * bool(token.group)
            misc += [f"Sense={token.sense}"] * bool(token.sense) + ["SpaceAfter=No"] * (not following[word])
            feats = "|".join(f"{name}={value}" for name, value in sentence.feats[word].items())
            lines.append(
                "\t".join(
                    [
                        str(word + 1),
                        token.form,
                        "_",
                        token.upos,
                        "_",
                        feats or "_",
                        str(token.head + 1),
                        token.relation,
                        "_",
                        "|".join(misc) or "_",
                    ]
                )
            )
        lines.append("")
    return "\n".join(lines) + "\n"


def show(text: ReaderText) -> str:
    """The sentences of a text with tree and features, to be re-read."""
    lines = [f"{text.name}  {text.title}  ({text.topic}, {text.split})"]
    for sentence in text.sentences:
        header = " ".join([sentence.sentiment, sentence.tense, sentence.number, *sorted(sentence.flags)])
        lines.append(f"\n{sentence.text}   [{header}]")
        for word, token in enumerate(sentence.tokens):
            head = "ROOT" if token.head < 0 else sentence.tokens[token.head].form
            marks = [
                token.entity,
                f"coref {token.coref}" * bool(token.coref),
                f"group {token.group}" * bool(token.group),
                token.sense,
            ]
            feats = "|".join(f"{name}={value}" for name, value in sentence.feats[word].items())
            tree = f"{word + 1:2} {token.form:14} {token.upos:6} {token.relation:13} <- {head:14}"
            lines.append(f"  {tree} {feats}  {' '.join(filter(None, marks))}")
    return "\n".join(lines)
