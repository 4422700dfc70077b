"""Morphological features of the reader's words by rule and lexicon, from form, tag and tree, as in UD English-EWT."""

from collections.abc import Mapping, Sequence

from .clause import Words
from .verb_features import add_predicate, noun_agreement
from .word_forms import (
    ADVERBS,
    BE,
    COMPARATIVES,
    DEGREE_ADVERBS,
    DETERMINERS,
    ENDING_SUBJECT,
    INTERROGATIVE,
    NOT_COMPARATIVE,
    NOT_SUPERLATIVE,
    ORDINALS,
    PAIRS_ONLY,
    PLURAL_NAMES,
    PLURALS,
    PRONOUNS,
    RELATIVE,
    SINGULAR_IN_S,
    SUPERLATIVES,
    WILL,
)


def features(words: Words) -> list[dict[str, str]]:
    """The features of each word: {"Number": "Sing", ...}; an InputError names a word of which the rules cannot know."""
    feats: list[dict[str, str]] = [{} for _ in words.forms]
    for word, tag in enumerate(words.upos):
        if tag not in ("VERB", "AUX"):
            feats[word] = _overridden(_nominal(words, word), words.overrides[word])
    # a predicate first, then what is coordinated with it: "has washed and dried"
    for word in sorted(range(len(words.forms)), key=lambda word: (words.relations[word] == "conj", word)):
        chain = words.chain(word)
        if words.relations[word] not in ("aux", "aux:pass", "cop") and chain:
            add_predicate(words, feats, word, chain)
    for word, tag in enumerate(words.upos):
        if tag in ("VERB", "AUX"):
            feats[word] = _overridden(feats[word], words.overrides[word])
    return feats


def _overridden(feats: Mapping[str, str], override: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in sorted({**feats, **override}.items(), key=lambda pair: pair[0].lower()) if value}


def _parsed(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split("|"))


def _nominal(words: Words, word: int) -> dict[str, str]:
    form, tag = words.forms[word], words.upos[word]
    if tag in ("NOUN", "PROPN"):
        return {"Number": "Plur" if _is_plural(form, tag) else "Sing"} | (
            {"NumForm": "Word", "NumType": "Frac"} if form in ("half", "halves") else {}
        )
    if tag == "PRON":
        return _pronoun(words, word)
    if tag == "DET":
        if form in ("each", "one") and any(
            words.forms[child] in ("other", "another") for child in words.children(word, "fixed")
        ):
            return {"PronType": "Rcp"}
        return _parsed(DETERMINERS[form]) if form in DETERMINERS else {}
    if tag == "ADJ":
        if form in ORDINALS or (form[0].isdigit() and form[-2:] in ("st", "nd", "rd", "th")):
            return {"Degree": "Pos", "NumForm": "Combi" if form[0].isdigit() else "Word", "NumType": "Ord"}
        return {"Degree": degree(form)}
    if tag == "ADV":
        if form in ADVERBS:
            relative = (
                form in RELATIVE and words.antecedent(words.heads[word]) is not None if words.heads[word] >= 0 else False
            )
            return {"PronType": "Rel"} if relative else _parsed(ADVERBS[form])
        if form in ORDINALS:
            return {"NumForm": "Word", "NumType": "Ord"}
        if degree(form) != "Pos":
            return {"Degree": degree(form)}
        return {"Degree": "Pos"} if form in DEGREE_ADVERBS else {}
    if tag == "NUM":
        return {"NumForm": "Digit" if any(letter.isdigit() for letter in form) else "Word", "NumType": "Card"}
    if tag == "PART":
        return {"Polarity": "Neg"} if form in ("not", "n't") else {}
    if tag == "INTJ":
        return {"Polarity": {"yes": "Pos", "yeah": "Pos", "no": "Neg"}[form]} if form in ("yes", "yeah", "no") else {}
    if tag == "CCONJ":
        return {"Polarity": "Neg"} if form in ("nor", "neither") else {}
    if tag == "SYM" and form == "%":
        return {"Number": "Sing"}
    return {}


def _is_plural(form: str, tag: str) -> bool:
    if tag == "PROPN":
        return form in PLURAL_NAMES
    if form in PLURALS or form in PAIRS_ONLY:
        return True
    return (
        form.endswith("s")
        and not form.endswith(("ss", "us", "is"))
        and form not in SINGULAR_IN_S
        and len(form) > 2
        and form != "'s"
    )


def degree(form: str) -> str:
    """Pos, Cmp or Sup by the ending of an adjective or adverb."""
    if form in COMPARATIVES or (form.endswith("er") and len(form) > 4 and form not in NOT_COMPARATIVE):
        return "Cmp"
    if form in SUPERLATIVES or (form.endswith("est") and len(form) > 4 and form not in NOT_SUPERLATIVE):
        return "Sup"
    return "Pos"


def _pronoun(words: Words, word: int) -> dict[str, str]:
    form, relation, head = words.forms[word], words.relations[word], words.heads[word]
    if form == "there":
        return {}
    if form == "her":
        case = {"Case": "Gen", "Poss": "Yes"} if relation == "nmod:poss" else {"Case": "Acc"}
        return {**case, "Gender": "Fem", "Number": "Sing", "Person": "3", "PronType": "Prs"}
    if form == "his":
        case = {"Case": "Gen"} if relation == "nmod:poss" else {}
        return {**case, "Gender": "Masc", "Number": "Sing", "Person": "3", "Poss": "Yes", "PronType": "Prs"}
    if form in ("you", "it"):
        nominative = relation in (*ENDING_SUBJECT, "expl", "vocative", "root") or (
            relation == "conj" and words.relations[head] in ENDING_SUBJECT
        )
        own = {"Person": "2"} if form == "you" else {"Gender": "Neut", "Number": "Sing", "Person": "3"}
        return {"Case": "Nom" if nominative else "Acc", **own, "PronType": "Prs"}
    if form in INTERROGATIVE or (form == "that" and _in_relative(words, word)):
        free = bool(words.children(word, "acl:relcl"))
        kind = "Rel" if free or (form in RELATIVE and _in_relative(words, word)) else "Int"
        return {"PronType": kind} | ({"Poss": "Yes"} if form == "whose" else {})
    if form == "one" and words.children(word, "fixed"):
        return {"PronType": "Rcp"}
    return _parsed(PRONOUNS[form]) if form in PRONOUNS else {}


def _in_relative(words: Words, word: int) -> bool:
    """Whether this word is the relative word of a relative clause: first in it, or after its preposition."""
    if words.relations[word] == "det":
        return False
    head = words.heads[word]
    while head >= 0:
        if words.relations[head] in ("acl:relcl", "advcl:relcl"):
            return words.heads[head] < word and _first_of(words, word, head)
        head = words.heads[head]
    return False


def _first_of(words: Words, word: int, clause: int) -> bool:
    """Whether nothing of the clause stands before this word but punctuation, its preposition and what it belongs to."""
    inside = [other for other in range(word) if other != word and _dominated(words, other, clause)]
    return all(words.relations[other] in ("punct", "case") or _dominated(words, word, other) for other in inside)


def _dominated(words: Words, word: int, above: int) -> bool:
    while word >= 0:
        if word == above:
            return True
        word = words.heads[word]
    return False


def main_tense(words: Words, feats: Sequence[Mapping[str, str]]) -> str:
    """past, pres, fut or none: the finite verb of the main clause."""
    root = list(words.heads).index(-1)
    chain = words.children(root, "cop") if words.children(root, "nsubj:outer") else words.chain(root)
    if not chain:
        return "none"
    first = feats[chain[0]]
    form = words.forms[chain[0]]
    if first.get("VerbForm") != "Fin" or first.get("Mood") == "Imp":
        return "none"
    if words.upos[chain[0]] == "AUX" and form in WILL:
        return "fut"
    if "Tense" not in first:
        return "none"
    going = words.forms[root] == "going" and any(words.has_to(child) for child in words.children(root, "xcomp"))
    if going and first["Tense"] == "Pres":
        return "fut"
    return first["Tense"].lower()


def main_number(words: Words, feats: Sequence[Mapping[str, str]]) -> str | None:
    """sing, plur or none: the subject of the main clause; None where the rules cannot know."""
    root = list(words.heads).index(-1)
    subject = next(iter(words.children(root, "nsubj:outer")), words.subject(root))
    if subject is None:
        return "none"
    agree = noun_agreement(words, feats, subject, root)
    if agree.get("Person") == "2":
        return "none"
    if "Number" not in agree or feats[subject].get("PronType") in ("Int", "Neg"):
        finite = [feats[verb] for verb in words.chain(root)[:1] if feats[verb].get("VerbForm") == "Fin"]
        agree = finite[0] if finite and words.forms[words.chain(root)[0]] in BE | {"has", "does"} else {}
    return {"Sing": "sing", "Plur": "plur"}.get(agree.get("Number", ""))
