"""The words of a sentence with their tree, and what a predicate has in it: subject, auxiliaries, antecedent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What the rules look at: parallel columns of one sentence; heads are indices, -1 for the root."""

    forms: Sequence[str]  # lower case
    upos: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]
    overrides: Sequence[Mapping[str, str]]
    tense: str = ""  # the header's: decides put, cut, let in the main clause

    def children(self, word: int, *relations: str) -> list[int]:
        return [
            child
            for child, head in enumerate(self.heads)
            if head == word and (not relations or self.relations[child] in relations)
        ]

    def chain(self, word: int) -> list[int]:
        """The auxiliaries and the copula of a predicate, from left to right, and the predicate itself if it is a verb."""
        helpers = self.children(word, "aux", "aux:pass", "cop")
        return helpers + ([word] if self.upos[word] in ("VERB", "AUX") else [])

    def has_to(self, word: int) -> bool:
        return any(self.forms[child] == "to" and self.upos[child] == "PART" for child in self.children(word, "mark"))

    def subject(self, word: int) -> int | None:
        """The subject of a predicate, its own or, in a coordination, that of the first conjunct."""
        while True:
            for relations in (("nsubj", "nsubj:pass"), ("csubj", "csubj:pass"), ("expl",)):
                subjects = self.children(word, *relations)
                if subjects:
                    return subjects[0]
            if self.relations[word] != "conj":
                return None
            word = self.heads[word]

    def clause_relation(self, word: int) -> str:
        while self.relations[word] == "conj":
            word = self.heads[word]
        return self.relations[word]

    def antecedent(self, word: int) -> int | None:
        """The noun a relative clause belongs to."""
        while self.relations[word] == "conj":
            word = self.heads[word]
        return self.heads[word] if self.relations[word] in ("acl:relcl", "advcl:relcl") else None
