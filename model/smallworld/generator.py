"""A pen writes a sentence word by word, from left to right; every choice on the way has a known probability.

The same grammar is therefore read in two ways: with dice it tells stories, and with `derivations` it lists every way
in which it could have written the words that can be seen, which is all that the best possible predictor needs.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .sentences import ROOT, Word

# Chooses one of some options: their probabilities; the word each would write at once, where it would; the word seen.
Chooser = Callable[[Sequence[float], Sequence[str] | None, str | None], int]


def dice(generator: random.Random) -> Chooser:
    """Choose by chance."""
    def choose(chances: Sequence[float], forms: Sequence[str] | None, seen: str | None) -> int:
        point = generator.random()
        for index, chance in enumerate(chances):
            point -= chance
            if point < 0:
                return index
        return len(chances) - 1
    return choose


class Contradiction(Exception):
    """What the pen was about to write is not what can be seen."""


class Pen:
    """Writes one sentence of a story with a plan; what the plan leaves open is settled when it is first needed."""

    def __init__(self, choose: Chooser, plan: dict[str, Any], priors: Mapping[str, Callable[["Pen"], Mapping]],
                 seen: Sequence[str | None] | None = None):
        self.plan, self._choose, self._priors = plan, choose, priors
        self.seen = seen  # the words that can be seen, None where one is hidden; None when writing freely
        self._words: list[tuple] = []
        self._labels: dict[str, int] = {"root": ROOT}

    def one_of(self, options: Mapping | Sequence, forms: Sequence[str] | None = None) -> Any:
        """One of equally likely options, or of options with their weights."""
        weights = list(options.values()) if isinstance(options, Mapping) else [1.0] * len(options)
        total, values = sum(weights), list(options)
        return values[self._choose([weight / total for weight in weights], forms, self.next_seen)]

    def settle(self, name: str, forms: Callable[[Any], str] | None = None) -> Any:
        """What the plan says of `name`; settled now, by its chances in this world, if it was open."""
        if name not in self.plan:
            options = self._priors[name](self)
            self.plan[name] = self.one_of(options, [forms(value) for value in options] if forms else None)
        return self.plan[name]

    def pick(self, options: Mapping | Sequence) -> str:
        """One of some words that is about to be written."""
        return self.one_of(options, list(options))

    def write(self, form: str, upos: str, deprel: str, head: str, lemma: str | None = None, feats: str = "",
              label: str | None = None, referent: str | None = None) -> None:
        """The next word; `head` is the label of a word that stands or will stand in this sentence."""
        if self.seen is not None:
            place = len(self._words)
            if place >= len(self.seen) or self.seen[place] not in (None, form.lower()):
                raise Contradiction
        if label:
            self._labels[label] = len(self._words)
        self._words.append((form, lemma or form.lower(), upos, feats, head, deprel, referent))

    @property
    def forms(self) -> list[str]:
        return [word[0].lower() for word in self._words]

    @property
    def next_seen(self) -> str | None:
        """The word that can be seen at the place written next, if there is one."""
        place = len(self._words)
        return self.seen[place] if self.seen is not None and place < len(self.seen) else None

    def words(self) -> tuple[Word, ...]:
        """What was written, with every head found and the first letter a capital."""
        finished = [Word(form, lemma, upos, feats, self._labels[head], deprel, referent)
                    for form, lemma, upos, feats, head, deprel, referent in self._words]
        first = finished[0]
        return (Word(first.form[0].upper() + first.form[1:], first.lemma, first.upos, first.feats, first.head,
                     first.deprel, first.referent), *finished[1:])


@dataclass(frozen=True)
class Derivation:
    """One way the grammar could have written what can be seen, and how probable that way was."""

    words: tuple[str, ...]
    chance: float
    plan: dict[str, Any]


class Script:
    """Makes the choices of one way after another: all but the last are repeated, the last is made differently."""

    def __init__(self):
        self._open: list[list[int]] = []  # at each choice: the options still to try, the present one last
        self.begin()

    def begin(self) -> None:
        self._depth, self.chance = 0, 1.0

    def choose(self, chances: Sequence[float], forms: Sequence[str] | None, seen: str | None) -> int:
        if self._depth == len(self._open):
            options = [index for index in reversed(range(len(chances))) if chances[index] > 0 and
                       (seen is None or forms is None or forms[index].lower() == seen)]
            if not options:
                raise Contradiction
            self._open.append(options)
        index = self._open[self._depth][-1]
        self._depth += 1
        self.chance *= chances[index]
        return index

    def advance(self) -> bool:
        """Turn to the next way; False when all have been tried."""
        while self._open:
            self._open[-1].pop()
            if self._open[-1]:
                return True
            self._open.pop()
        return False


def derivations(write: Callable[[Pen], None], plan: Mapping[str, Any], priors: Mapping,
                seen: Sequence[str | None] | None) -> Iterator[Derivation]:
    """Every way to write a sentence that agrees with the words seen; with `seen` None, every sentence there is.

    The grammar is run again for every way; an option whose first word is not the one seen is never tried.
    """
    script, more = Script(), True
    while more:
        script.begin()
        pen = Pen(script.choose, dict(plan), priors, seen)
        try:
            write(pen)
            if seen is None or len(pen.forms) == len(seen):
                yield Derivation(tuple(pen.forms), script.chance, pen.plan)
        except Contradiction:
            pass
        more = script.advance()
