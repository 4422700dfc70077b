"""Lessons: questions to predict first, each then answered by the model at hand, whichever it is.

A lesson is a TOML file that a teacher can write: a title, and questions with options. Nothing in it says what the model
will answer (but for kind "known", which asks about BERT itself): that is measured when the question is asked.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from model import Bert, Edits, InputError
from model.tokenizer import MASK

from . import cloze, heads, nextsentence
from .cloze import query


@dataclass(frozen=True)
class QuizItem:
    """One question; layers and heads are 0-based here, and 1-based in the file and on screen.

    kind          what is measured for each option: see `KINDS`
    introduction  what to know before, in a sentence or two; `after` is what to think about once the model has answered
    text          sentence A, with one [MASK] for kind "word"; `second` is sentence B
    word          whose attention (kind "looks") or whose state (kind "near") is measured
    direction     "left" or "right": attention to one side only; `heads_off` are heads that are switched off
    page          the page to try it oneself, with more of its address in `link`
    """

    kind: str
    prompt: str
    options: tuple[str, ...]
    introduction: str = ""
    after: str = ""
    text: str = ""
    second: str = ""
    word: str = ""
    layer: int | None = None
    head: int | None = None
    direction: str = "both"
    heads_off: frozenset[tuple[int, int]] = frozenset()
    answer: str = ""
    page: str = ""
    link: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    title: str
    about: str
    questions: tuple[QuizItem, ...]
    minutes: int = 10
    source: str = ""


@dataclass(frozen=True)
class QuizAnswer:
    """What was measured for a question, one value an option; the greatest is the model's answer."""

    values: tuple[float, ...]  # in the order of the options
    unit: str  # "share", "number", "cosine", or nothing where the answer is known
    own: str = ""  # the model's first word behind the [MASK]

    @property
    def best(self) -> int:
        return int(np.argmax(self.values))


def answer(bert: Bert, question: QuizItem) -> QuizAnswer:
    """The model's answer to a question, measured for each option."""
    return KINDS[question.kind](bert, question)


def _word(bert: Bert, question: QuizItem) -> QuizAnswer:
    """P(option) behind the mask, with the edits of the question."""
    bert.require_mlm()
    encoding = bert.tokenizer.encode(question.text, question.second or None)
    option_ids = [cloze.to_piece_ids(bert, option) for option in question.options]
    for option, ids in zip(question.options, option_ids, strict=True):
        if len(ids) > 1:
            raise InputError(
                f"“{option}” is {len(ids)} wordpieces in this model's vocabulary; "
                "options of this kind of question must be single wordpieces."
            )
    _check_heads(bert, question.heads_off)
    predicted = cloze.probabilities(
        bert,
        encoding,
        cloze.mask_positions(bert, encoding),
        Edits(heads_off=question.heads_off, direction=question.direction),
    )[0]
    first_word = str(cloze.top_k(bert, predicted, 1)["word"][0])
    return _measured((predicted[ids[0]] for ids in option_ids), "share", first_word)


def _sentence(bert: Bert, question: QuizItem) -> QuizAnswer:
    """The pseudo-likelihoods of the options, scaled to sum to one."""
    bert.require_mlm()
    scores = cloze.score(bert, question.options)
    likelihoods = np.exp(scores - scores.max())
    return _measured(likelihoods / likelihoods.sum(), "share")


def _follows(bert: Bert, question: QuizItem) -> QuizAnswer:
    """P(IsNext) of each option as sentence B."""
    return _measured((nextsentence.probability(bert, question.text, option) for option in question.options), "share")


def _pair(bert: Bert, question: QuizItem) -> QuizAnswer:
    """P(IsNext) and P(NotNext) of the pair: the first option is yes."""
    probability = nextsentence.probability(bert, question.text, question.second)
    return _measured((probability, 1 - probability), "share")


def _looks(bert: Bert, question: QuizItem) -> QuizAnswer:
    """The attention of one head from a word to each option, a word of the text or [CLS] or [SEP]."""
    assert question.layer is not None and question.head is not None
    _check_heads(bert, {(question.layer, question.head)})
    trace = bert.trace(question.text, question.second or None)
    spans = heads.word_spans(trace.encoding)
    texts = heads.word_texts(trace.encoding, spans)
    weights = heads.merge_wordpieces(trace.attention[question.layer, question.head], spans)
    row = weights[_places(bert, texts, question.word)[0]]
    return _measured((row[_places(bert, texts, option)].sum() for option in question.options), "share")


def _pieces(bert: Bert, question: QuizItem) -> QuizAnswer:
    """The number of wordpieces of each option."""
    return _measured((len(cloze.to_piece_ids(bert, option)) for option in question.options), "number")


def _near(bert: Bert, question: QuizItem) -> QuizAnswer:
    """Cosine of the word's state in the text and in each option, at one layer or at the last."""
    last = bert.config.num_hidden_layers
    layer = last if question.layer is None else question.layer
    if layer > last:
        raise InputError(f"This question is about layer {layer}; the model has {last}.")
    state, *option_states = (_state(bert, text, question.word, layer) for text in (question.text, *question.options))
    return _measured((state @ option_state for option_state in option_states), "cosine")


def _known(_: Bert, question: QuizItem) -> QuizAnswer:
    """1 for the option that is right by definition or by the paper, 0 for the others."""
    return _measured((option == question.answer for option in question.options), "")


def _measured(values: Iterable, unit: str, own: str = "") -> QuizAnswer:
    return QuizAnswer(tuple(float(value) for value in values), unit, own)


KINDS: dict[str, Callable[[Bert, QuizItem], QuizAnswer]] = {
    "word": _word,
    "sentence": _sentence,
    "follows": _follows,
    "pair": _pair,
    "looks": _looks,
    "pieces": _pieces,
    "near": _near,
    "known": _known,
}
NEEDED = {
    "word": ("text",),
    "follows": ("text",),
    "pair": ("text", "second"),
    "looks": ("text", "word", "layer", "head"),
    "near": ("text", "word"),
    "known": ("answer",),
}


def _places(bert: Bert, texts: list[str], word: str) -> list[int]:
    """The indices of a word among the words of a text, spelled as the model spells it; there must be one.

    Where a cased model has it in another case only, that is the word meant.
    """
    ids = bert.tokenizer.piece_ids(word)
    spelling = "" if bert.tokenizer.unknown_id in ids else query.join_pieces(bert, ids)
    indices = [index for index, text in enumerate(texts) if text == spelling] or [
        index for index, text in enumerate(texts) if text.casefold() == spelling.casefold()
    ]
    if not indices:
        raise InputError(f"“{word}” is not a word of the text to this model; a question about a word needs it there.")
    return indices


def _state(bert: Bert, text: str, word: str, layer: int) -> np.ndarray:
    """The mean state of a word's wordpieces in a text, of length one: (hidden,)."""
    trace = bert.trace(text)
    spans = heads.word_spans(trace.encoding)
    start, stop = spans[_places(bert, heads.word_texts(trace.encoding, spans), word)[0]]
    mean = trace.hidden[layer, start:stop].mean(0)
    return mean / np.linalg.norm(mean)


def _check_heads(bert: Bert, layer_heads: Set[tuple[int, int]]) -> None:
    """Refuse heads that the model does not have."""
    for layer, head in layer_heads:
        if layer >= bert.config.num_hidden_layers or head >= bert.config.num_attention_heads:
            raise InputError(
                f"This question is about layer {layer + 1}, head {head + 1}; the model has "
                f"{bert.config.num_hidden_layers} layers of {bert.config.num_attention_heads} heads."
            )


def load(file: Path) -> Lesson:
    """A lesson from its file."""
    try:
        return parse(file.read_text(encoding="utf-8"), file.name)
    except UnicodeDecodeError:
        raise InputError(f"{file.name} is not a text in UTF-8.") from None


def parse(text: str, name: str) -> Lesson:
    """A lesson from the text of a TOML file; an error names the number of the question."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not TOML: {error}.") from None
    tables = table.pop("question", [])
    if not isinstance(tables, list) or not tables:
        raise InputError(f"{name} has no [[question]].")
    questions = tuple(_question(question, f"Question {number} of {name}") for number, question in enumerate(tables, 1))
    return Lesson(**_validate(Lesson, table, name, ("title", "about")), questions=questions)


def _question(table: dict[str, Any], where: str) -> QuizItem:
    table = _validate(QuizItem, table, where, ("kind", "prompt", "options"))
    kind, options = table["kind"], table["options"]
    if kind not in KINDS:
        raise InputError(f"{where}: kind is one of {', '.join(KINDS)}, not “{kind}”.")
    for name in NEEDED.get(kind, ()):
        if name not in table:
            raise InputError(f"{where}: a question of kind “{kind}” needs {name}.")
    if not all(isinstance(option, str) for option in options) or not 2 <= len(set(options)) == len(options) <= 9:
        raise InputError(f"{where}: options are two to nine different texts.")
    if not re.fullmatch("[a-z-]*", table.get("page", "")):
        raise InputError(f"{where}: page is a name as in an address, such as next-sentence.")
    if kind == "pair" and len(options) != 2:
        raise InputError(f"{where}: a question of kind “pair” has two options, the first for “B follows A”.")
    if kind == "word" and table["text"].count(MASK) != 1:
        raise InputError(f"{where}: the text needs {MASK} in one place.")
    if kind == "known" and table["answer"] not in options:
        raise InputError(f"{where}: the answer is not among the options.")
    for name, base in (("layer", 0 if kind == "near" else 1), ("head", 1)):  # states begin at 0, the embeddings
        if name in table:
            table[name] -= base
            if table[name] < 0:
                raise InputError(f"{where}: {name} begins at {base}.")
    table["heads_off"] = frozenset(_head(value, where) for value in table.get("heads_off", ()))
    return QuizItem(**table | {"options": tuple(options)})  # pyright: ignore[reportArgumentType]  # TOML's values; checked above


def _head(value: Any, where: str) -> tuple[int, int]:
    """[3, 1] in the file is head 1 of layer 3."""
    match value:
        case [int(layer), int(head)] if layer > 0 and head > 0:
            return layer - 1, head - 1
    raise InputError(f"{where}: heads_off is a list of heads such as [[3, 1], [3, 2]], layer and head.")


_TYPES = {"options": list, "heads_off": list, "link": dict, "layer": int, "head": int, "minutes": int}


def _validate(kind: type, table: dict[str, Any], where: str, needed: tuple[str, ...]) -> dict[str, Any]:
    """The table, with everything that is needed and nothing that is unknown, each of its type."""
    known = {field.name for field in fields(kind)} - {"questions"}
    for name in needed:
        if name not in table:
            raise InputError(f"{where}: {name} is missing.")
    for name, value in table.items():
        if name not in known:
            raise InputError(f"{where}: “{name}” is not known; there are {', '.join(sorted(known))}.")
        if not isinstance(value, _TYPES.get(name, str)):
            raise InputError(f"{where}: {name} is not {'a number' if _TYPES.get(name) is int else 'of the right form'}.")
    return dict(table)
