"""Lessons: questions to predict first, each then answered by the model at hand, whichever it is.

A lesson is a TOML file that a teacher can write: a title, and questions with options. Nothing in it says what the model
will answer (but for kind "known", which asks about BERT itself): that is measured when somebody asks.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from model import Bert, Edits, InputProblem

from . import cloze, heads, nextsentence
from .cloze import query

MASK = "[MASK]"


@dataclass(frozen=True)
class Question:
    """One question; layers and heads are 0-based here, and 1-based in the file and on screen.

    kind     what is measured for each option: see `KINDS`
    read     what to know before, in a sentence or two; `after` is what to think about once the model has answered
    text     sentence A, with one [MASK] for kind "word"; `second` is sentence B
    word     whose attention (kind "looks") or whose state (kind "near") is asked for
    sight    "left" or "right": the model may look to one side only; `off` are heads that are switched off
    page     the page to look for oneself, with more of its address in `look`
    """

    kind: str
    ask: str
    options: tuple[str, ...]
    read: str = ""
    after: str = ""
    text: str = ""
    second: str = ""
    word: str = ""
    layer: int | None = None
    head: int | None = None
    sight: str = "both"
    off: frozenset[tuple[int, int]] = frozenset()
    answer: str = ""
    page: str = ""
    look: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    title: str
    about: str
    questions: tuple[Question, ...]
    minutes: int = 10
    source: str = ""


@dataclass(frozen=True)
class Answer:
    """One value an option, in their order; what the values are (share, number, cosine, or nothing that was measured);
    and the word that the model would put there itself, if it was asked for one."""

    values: tuple[float, ...]
    unit: str
    own: str = ""

    @property
    def best(self) -> int:
        return int(np.argmax(self.values))


def answer(bert: Bert, question: Question) -> Answer:
    """What the model says to a question: a value for each option, of which the greatest is its answer."""
    return KINDS[question.kind](bert, question)


def _word(bert: Bert, question: Question) -> Answer:
    """P(option) behind the mask, with the edits of the question."""
    bert.need_mlm()
    encoding = bert.tokenizer.encode(question.text, question.second or None)
    wanted = [cloze.spelled(bert, option) for option in question.options]
    long = [option for option, ids in zip(question.options, wanted, strict=True) if len(ids) > 1]
    if long:
        raise InputProblem(f"This question needs a model that knows “{long[0]}” as one wordpiece.")
    _check_heads(bert, question.off)
    predicted = cloze.probabilities(bert, encoding, cloze.masks(bert, encoding),
                                    Edits(heads_off=question.off, sight=question.sight))[0]
    return _measured((predicted[ids[0]] for ids in wanted), "share", str(cloze.listed(bert, predicted, 1)["word"][0]))


def _sentence(bert: Bert, question: Question) -> Answer:
    """How the model would bet if one of the options were the sentence: their pseudo-likelihoods, scaled to sum to one."""
    bert.need_mlm()
    scores = cloze.score(bert, question.options)
    shares = np.exp(scores - scores.max())
    return _measured(shares / shares.sum(), "share")


def _follows(bert: Bert, question: Question) -> Answer:
    """P(IsNext) of each option as sentence B."""
    return _measured((nextsentence.probability(bert, question.text, option) for option in question.options), "share")


def _pair(bert: Bert, question: Question) -> Answer:
    """P(IsNext) and P(NotNext) of the pair: the first option says yes."""
    share = nextsentence.probability(bert, question.text, question.second)
    return _measured((share, 1 - share), "share")


def _looks(bert: Bert, question: Question) -> Answer:
    """How much of its attention one head of a word gives to each option, a word of the text or [CLS] or [SEP]."""
    assert question.layer is not None and question.head is not None
    _check_heads(bert, {(question.layer, question.head)})
    trace = bert.trace(question.text, question.second or None)
    weights, texts = heads.words(trace.attention[question.layer, question.head], trace.encoding)
    row = weights[_places(bert, texts, question.word)[0]]
    return _measured((row[_places(bert, texts, option)].sum() for option in question.options), "share")


def _pieces(bert: Bert, question: Question) -> Answer:
    """Into how many wordpieces each option is cut."""
    return _measured((len(cloze.spelled(bert, option)) for option in question.options), "number")


def _near(bert: Bert, question: Question) -> Answer:
    """Cosine of the word's state in the text and in each option, at one layer or at the last."""
    last = bert.config.num_hidden_layers
    layer = last if question.layer is None else question.layer
    if layer > last:
        raise InputProblem(f"This question is about layer {layer}; the model has {last}.")
    here, *there = (_state(bert, text, question.word, layer) for text in (question.text, *question.options))
    return _measured((here @ state for state in there), "cosine")


def _known(_: Bert, question: Question) -> Answer:
    """One for the option that is right, by definition or by the paper."""
    return _measured((option == question.answer for option in question.options), "")


def _measured(values: Iterable, unit: str, own: str = "") -> Answer:
    return Answer(tuple(float(value) for value in values), unit, own)


KINDS: dict[str, Callable[[Bert, Question], Answer]] = {
    "word": _word, "sentence": _sentence, "follows": _follows, "pair": _pair, "looks": _looks, "pieces": _pieces,
    "near": _near, "known": _known}
NEEDED = {"word": ("text",), "follows": ("text",), "pair": ("text", "second"), "looks": ("text", "word", "layer", "head"),
          "near": ("text", "word"), "known": ("answer",)}


def _places(bert: Bert, texts: list[str], word: str) -> list[int]:
    """Where a word stands among the words of a text; somewhere it must.

    It is spelled as the model spells it; where a cased model reads it with another case only, that is the word meant.
    """
    ids = bert.tokenizer.pieces(word)
    spelled = "" if bert.tokenizer.unknown in ids else query.spelling(bert, ids)
    found = ([place for place, text in enumerate(texts) if text == spelled]
             or [place for place, text in enumerate(texts) if text.casefold() == spelled.casefold()])
    if not found:
        raise InputProblem(f"“{word}” is not a word that this model finds in the text.")
    return found


def _state(bert: Bert, text: str, word: str, layer: int) -> np.ndarray:
    """The mean state of a word's pieces in a text, of length one."""
    trace = bert.trace(text)
    groups, texts = heads.grouped(trace.encoding)
    mean = trace.hidden[layer, groups[_places(bert, texts, word)[0]]].mean(0)
    return mean / np.linalg.norm(mean)


def _check_heads(bert: Bert, asked: set[tuple[int, int]] | frozenset[tuple[int, int]]) -> None:
    for layer, head in asked:
        if layer >= bert.config.num_hidden_layers or head >= bert.config.num_attention_heads:
            raise InputProblem(f"This question is about layer {layer + 1}, head {head + 1}; the model has "
                               f"{bert.config.num_hidden_layers} layers of {bert.config.num_attention_heads} heads.")


def load(file: Path) -> Lesson:
    """A lesson from its file."""
    try:
        return parse(file.read_text(encoding="utf-8"), file.name)
    except UnicodeDecodeError:
        raise InputProblem(f"{file.name} is not a text in UTF-8.") from None


def parse(text: str, name: str) -> Lesson:
    """A lesson from the text of a TOML file; what is wrong with it is said with the number of the question."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputProblem(f"{name} is not TOML: {error}.") from None
    asked = table.pop("question", [])
    if not isinstance(asked, list) or not asked:
        raise InputProblem(f"{name} has no [[question]].")
    questions = tuple(_question(each, f"Question {number} of {name}") for number, each in enumerate(asked, 1))
    return Lesson(**_checked(Lesson, table, name, ("title", "about")), questions=questions)


def _question(table: dict[str, Any], where: str) -> Question:
    table = _checked(Question, table, where, ("kind", "ask", "options"))
    kind, options = table["kind"], table["options"]
    if kind not in KINDS:
        raise InputProblem(f"{where}: kind is one of {', '.join(KINDS)}, not “{kind}”.")
    for name in NEEDED.get(kind, ()):
        if name not in table:
            raise InputProblem(f"{where}: a question of kind “{kind}” needs {name}.")
    if not all(isinstance(option, str) for option in options) or not 2 <= len(set(options)) == len(options) <= 9:
        raise InputProblem(f"{where}: options are two to nine different texts.")
    if not re.fullmatch("[a-z-]*", table.get("page", "")):
        raise InputProblem(f"{where}: page is the name of a page as in its address, such as next-sentence.")
    if kind == "pair" and len(options) != 2:
        raise InputProblem(f"{where}: a question of kind “pair” has two options, the first for “B follows A”.")
    if kind == "word" and table["text"].count(MASK) != 1:
        raise InputProblem(f"{where}: the text needs {MASK} in one place.")
    if kind == "known" and table["answer"] not in options:
        raise InputProblem(f"{where}: the answer is not among the options.")
    for name, base in (("layer", 0 if kind == "near" else 1), ("head", 1)):  # states begin at 0, the embeddings
        if name in table:
            table[name] -= base
            if table[name] < 0:
                raise InputProblem(f"{where}: {name} begins at {base}.")
    table["off"] = frozenset(_head(each, where) for each in table.get("off", ()))
    return Question(**table | {"options": tuple(options)})


def _head(said: Any, where: str) -> tuple[int, int]:
    """[3, 1] in the file is head 1 of layer 3."""
    match said:
        case [int(layer), int(head)] if layer > 0 and head > 0:
            return layer - 1, head - 1
    raise InputProblem(f"{where}: off is a list of heads such as [[3, 1], [3, 2]], layer and head.")


_TYPES = {"options": list, "off": list, "look": dict, "layer": int, "head": int, "minutes": int}


def _checked(kind: type, table: dict[str, Any], where: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """The table, with everything that is needed and nothing that is unknown, each of its type."""
    known = {each.name for each in fields(kind)} - {"questions"}
    for name in needed:
        if name not in table:
            raise InputProblem(f"{where}: {name} is missing.")
    for name, value in table.items():
        if name not in known:
            raise InputProblem(f"{where}: “{name}” is not known; there are {', '.join(sorted(known))}.")
        if not isinstance(value, _TYPES.get(name, str)):
            raise InputProblem(f"{where}: {name} is not {'a number' if _TYPES.get(name) is int else 'of the right form'}.")
    return dict(table)
