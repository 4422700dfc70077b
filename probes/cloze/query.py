"""What a reader does to a text before asking: words masked, kept but asked for, or replaced by others."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from model import Bert, Encoding, InputProblem

from .. import cloze

KINDS = ("mask", "ask", "replace")


@dataclass(frozen=True, order=True)
class Mark:
    """The pieces from start up to stop, and what happens to them; `word` takes their place in "replace"."""

    start: int
    stop: int
    kind: str
    word: str = ""


@dataclass(frozen=True)
class Blank:
    """A place to predict, in the input as the model reads it; `true` is empty where the text itself has [MASK]."""

    start: int
    stop: int
    kept: bool
    true: tuple[int, ...]

    @property
    def positions(self) -> range:
        return range(self.start, self.stop)


@dataclass(frozen=True)
class Question:
    """An input before and after masking, of one length, and the places asked for, from left to right."""

    open: Encoding
    encoding: Encoding
    blanks: tuple[Blank, ...]

    @property
    def positions(self) -> list[int]:
        return [position for blank in self.blanks for position in blank.positions]

    @property
    def masked(self) -> list[int]:
        """The positions where the model itself reads [MASK]."""
        return [position for blank in self.blanks if not blank.kept for position in blank.positions]


def question(bert: Bert, encoding: Encoding, marks: Sequence[Mark]) -> Question:
    """Apply marks to an input; a word replaced by one of more or fewer pieces moves what follows."""
    marks = fitting(encoding, marks)
    given = [Mark(t.position, t.position + 1, "mask") for t in encoding.tokens if t.id == bert.tokenizer.mask
             and not any(mark.start <= t.position < mark.stop for mark in marks)]
    now, blanks, moved = encoding, [], 0
    for mark in sorted([*marks, *given]):
        start, stop = mark.start + moved, mark.stop + moved
        if mark.kind == "replace":
            ids = cloze.spelled(bert, mark.word)
            now = cloze.spliced(bert, now, start, stop, ids)
            moved += len(ids) - (stop - start)
        else:
            true = tuple(encoding.ids[mark.start:mark.stop])
            blanks.append(Blank(start, stop, mark.kind == "ask", () if bert.tokenizer.mask in true else true))
    if not blanks:
        raise InputProblem("No word is chosen: mask one, or write [MASK] where one is missing.")
    hidden = [position for blank in blanks if not blank.kept for position in blank.positions]
    return Question(now, cloze.masked(bert, now, hidden), tuple(blanks))


def fitting(encoding: Encoding, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that lie on words of this input and not on one another; an old address may carry others."""
    kept: list[Mark] = []
    for mark in sorted(marks):
        inside = 0 < mark.start < mark.stop < len(encoding) and mark.kind in KINDS
        if inside and not any(t.special for t in encoding.tokens[mark.start:mark.stop]) and (
                not kept or kept[-1].stop <= mark.start):
            kept.append(mark)
    return kept


def first_guess(encoding: Encoding) -> list[Mark]:
    """A word to begin with: the last of sentence A that is longer than a letter."""
    words = [t for t in encoding.tokens if t.segment == 0 and not t.special and len(t.text) > 1 and t.text.isalpha()]
    if not words:
        return []
    word = [t.position for t in encoding.tokens if t.word == words[-1].word]
    return [Mark(word[0], word[-1] + 1, "mask")]


def standing(bert: Bert, asked: Question, blank: Blank, word: str) -> cloze.Standing:
    """How a word does in a blank: by its own number of masks, or, where the word was kept, as the model sees it."""
    if not blank.kept:
        return cloze.standing(bert, asked.encoding, blank.start, blank.stop, word)
    ids = cloze.spelled(bert, word)
    if len(ids) != len(blank.positions):
        raise InputProblem(f"{word} is spelled with {len(ids)} wordpieces, the kept word with {len(blank.positions)}: "
                           "mask the word instead of keeping it to compare them.")
    predicted = cloze.probabilities(bert, asked.encoding, blank.positions)
    each = tuple(float(row[piece]) for row, piece in zip(predicted, ids, strict=True))
    rank = int(cloze.rank(predicted, ids)[0]) if len(ids) == 1 else None
    return cloze.Standing(word, tuple(bert.tokenizer.words[piece] for piece in ids), each, rank)


def spelling(bert: Bert, ids: Sequence[int]) -> str:
    """Pieces joined to the word they spell."""
    return "".join(bert.tokenizer.words[piece].removeprefix("##") if place else bert.tokenizer.words[piece]
                   for place, piece in enumerate(ids))


def written(marks: Sequence[Mark]) -> str:
    """Marks as a short text for an address: 3-4m.7-8rdog"""
    return ".".join(f"{m.start}-{m.stop}{m.kind[0]}{quote(m.word, safe='').replace('.', '%2E')}" for m in sorted(marks))


def read(text: str) -> list[Mark]:
    """The marks in an address; what is not a mark is left out."""
    found = []
    for part in text.split("."):
        head, _, tail = part.partition("-")
        stop = tail[: len(tail) - len(tail.lstrip("0123456789"))]
        kind = {name[0]: name for name in KINDS}.get(tail[len(stop): len(stop) + 1])
        if head.isascii() and head.isdigit() and stop.isascii() and stop and kind:
            found.append(Mark(int(head), int(stop), kind, unquote(tail[len(stop) + 1:])))
    return found
