"""The texts of the reader with their annotation, and the same as CoNLL-U."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

from model.short_repr import ShortRepr

from ..probing.treebank import Sentence, Treebank, conllu
from .clause import Words
from .features import features

NO_SPACE_BEFORE = {".", ",", ";", ":", "?", "!", ")", "]", "%", "...", "n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "'"}
NO_SPACE_AFTER = {"(", "[", "$", "£", "€"}


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
    def words(self) -> Words:
        """The columns the feature rules look at."""
        return Words(
            [token.form.lower() for token in self.tokens],
            [token.upos for token in self.tokens],
            [token.head for token in self.tokens],
            [token.relation for token in self.tokens],
            [dict(token.override) for token in self.tokens],
            self.tense,
        )

    @cached_property
    def feats(self) -> list[dict[str, str]]:
        return features(self.words)

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


@dataclass(frozen=True, repr=False)
class ReaderText(ShortRepr):
    """One text of the reader."""

    name: str  # 001-lost-key
    number: int
    title: str
    topic: str
    sentences: tuple[ReaderSentence, ...]

    @property
    def split(self) -> str:
        return split(self.number)


@dataclass(frozen=True, repr=False)
class Reader(ShortRepr):
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
