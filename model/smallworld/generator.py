"""A sentence is built word by word, from left to right; every choice on the way has a known probability.

The same grammar therefore serves twice: with `random_choices` it writes stories, and with `derivations` it enumerates
every derivation of the words observed, which is all that the best possible predictor needs.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .sentences import ROOT, StoryWord

# Chooses an option: their probabilities; the word each would write next, where it would; the word observed there.
Chooser = Callable[[Sequence[float], Sequence[str] | None, str | None], int]


def random_choices(rng: random.Random) -> Chooser:
    """Choose at random, by the probabilities."""

    def choose(probabilities: Sequence[float], forms: Sequence[str] | None, word: str | None) -> int:
        point = rng.random()
        for index, probability in enumerate(probabilities):
            point -= probability
            if point < 0:
                return index
        return len(probabilities) - 1

    return choose


class Contradiction(Exception):
    """The next word is not the one observed."""


class SentenceBuilder:
    """Writes one sentence of a story by a plan; what the plan leaves open is settled when it is first needed."""

    def __init__(
        self,
        choose: Chooser,
        plan: dict[str, Any],
        priors: Mapping[str, Callable[["SentenceBuilder"], Mapping]],
        observation: Sequence[str | None] | None = None,
    ):
        self.plan, self._choose, self._priors = plan, choose, priors
        self.observation = observation  # the words observed, None where one is hidden; None when writing freely
        self._words: list[tuple] = []
        self._labels: dict[str, int] = {"root": ROOT}

    def one_of(self, options: Mapping | Sequence, forms: Sequence[str] | None = None) -> Any:
        """One of equally likely options, or of options with their weights."""
        weights = list(options.values()) if isinstance(options, Mapping) else [1.0] * len(options)
        total, values = sum(weights), list(options)
        return values[self._choose([weight / total for weight in weights], forms, self.next_word)]

    def settle(self, name: str, forms: Callable[[Any], str] | None = None) -> Any:
        """What the plan says of `name`; settled now, by its prior, if it was open."""
        if name not in self.plan:
            options = self._priors[name](self)
            self.plan[name] = self.one_of(options, [forms(value) for value in options] if forms else None)
        return self.plan[name]

    def pick(self, options: Mapping | Sequence) -> str:
        """One of some words, to be written next."""
        return self.one_of(options, list(options))

    def write(
        self,
        form: str,
        upos: str,
        deprel: str,
        head: str,
        lemma: str | None = None,
        feats: str = "",
        label: str | None = None,
        referent: str | None = None,
    ) -> None:
        """The next word; `head` is the label of a word that stands or will stand in this sentence."""
        if self.observation is not None:
            position = len(self._words)
            if position >= len(self.observation) or self.observation[position] not in (None, form.lower()):
                raise Contradiction
        if label:
            self._labels[label] = len(self._words)
        self._words.append((form, lemma or form.lower(), upos, feats, head, deprel, referent))

    @property
    def forms(self) -> list[str]:
        return [word[0].lower() for word in self._words]

    @property
    def next_word(self) -> str | None:
        """The word observed at the position written next, if there is one."""
        position = len(self._words)
        return self.observation[position] if self.observation is not None and position < len(self.observation) else None

    def words(self) -> tuple[StoryWord, ...]:
        """The sentence, with every head as an index and the first letter a capital."""
        words = [
            StoryWord(form, lemma, upos, feats, self._labels[head], deprel, referent)
            for form, lemma, upos, feats, head, deprel, referent in self._words
        ]
        return (replace(words[0], form=words[0].form[0].upper() + words[0].form[1:]), *words[1:])


@dataclass(frozen=True)
class Derivation:
    """One way the grammar could have written the words observed, and its probability."""

    words: tuple[str, ...]
    probability: float
    plan: dict[str, Any]


class ChoiceEnumerator:
    """Makes the choices of one derivation after another, depth first: all but the last are repeated."""

    def __init__(self):
        self._open: list[list[int]] = []  # at each choice: the options still to try, the present one last
        self.begin()

    def begin(self) -> None:
        self._depth, self.probability = 0, 1.0

    def choose(self, probabilities: Sequence[float], forms: Sequence[str] | None, word: str | None) -> int:
        if self._depth == len(self._open):
            options = [
                index
                for index in reversed(range(len(probabilities)))
                if probabilities[index] > 0 and (word is None or forms is None or forms[index].lower() == word)
            ]
            if not options:
                raise Contradiction
            self._open.append(options)
        index = self._open[self._depth][-1]
        self._depth += 1
        self.probability *= probabilities[index]
        return index

    def advance(self) -> bool:
        """Turn to the next derivation; False when all have been tried."""
        while self._open:
            self._open[-1].pop()
            if self._open[-1]:
                return True
            self._open.pop()
        return False


def derivations(
    write: Callable[[SentenceBuilder], None],
    plan: Mapping[str, Any],
    priors: Mapping,
    observation: Sequence[str | None] | None,
) -> Iterator[Derivation]:
    """Every derivation of a sentence that agrees with the observation; with None, of every sentence there is.

    The grammar is run again for each of them; an option whose first word is not the one observed is never tried.
    """
    enumerator, more = ChoiceEnumerator(), True
    while more:
        enumerator.begin()
        builder = SentenceBuilder(enumerator.choose, dict(plan), priors, observation)
        try:
            write(builder)
            if observation is None or len(builder.forms) == len(observation):
                yield Derivation(tuple(builder.forms), enumerator.probability, builder.plan)
        except Contradiction:
            pass
        more = enumerator.advance()
