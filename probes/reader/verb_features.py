"""Features of the verbs of a predicate: agreement with the subject, and the form that each auxiliary governs."""

from collections.abc import Mapping, Sequence

from model import InputError

from .clause import Words
from .word_forms import (
    BARE_IN_ED,
    BARE_IN_ING,
    BARE_IN_S,
    BASES,
    BE,
    DO,
    GET,
    HAVE,
    MODALS,
    PARTICIPLES,
    PASTS,
    RELATIVE,
)

GERUND_RELATIONS = {"acl", "xcomp", "amod", "csubj", "csubj:pass", "ccomp", "compound", "nsubj", "obj", "appos"}
IMPERATIVE_RELATIONS = {"root", "parataxis", "ccomp"}


def agreement(words: Words, feats: Sequence[Mapping[str, str]], predicate: int) -> dict[str, str]:
    """Number and Person of the subject of a predicate; nothing where there is no subject, Person alone for "you"."""
    subject = words.subject(predicate)
    if subject is None:  # a free relative: in "what made it worse" the subject of "made" is its head
        free = words.antecedent(predicate)
        return {"Number": "Sing", "Person": "3"} if free is not None and words.upos[free] == "PRON" else {}
    return noun_agreement(words, feats, subject, predicate)


def noun_agreement(words: Words, feats: Sequence[Mapping[str, str]], subject: int, predicate: int) -> dict[str, str]:
    """Number and Person of a noun phrase as a subject."""
    form, tag = words.forms[subject], words.upos[subject]
    if words.relations[subject] in ("csubj", "csubj:pass") or (words.relations[subject] == "expl" and form == "it"):
        return {"Number": "Sing", "Person": "3"}
    antecedent = words.antecedent(predicate)
    if antecedent is not None and feats[subject].get("PronType") == "Rel" and form in RELATIVE:
        if tag == "PRON" and words.upos[antecedent] in ("NOUN", "PROPN", "PRON", "NUM", "DET", "ADJ", "SYM"):
            return noun_agreement(words, feats, antecedent, words.heads[antecedent]) if antecedent != subject else {}
        return {"Number": "Sing", "Person": "3"}
    parts = [subject, *words.children(subject, "conj")]
    joined = len(parts) > 1 and any(words.forms[cc] == "and" for part in parts for cc in words.children(part, "cc"))
    person = min(feats[part].get("Person", "3") for part in parts) if joined else feats[subject].get("Person", "3")
    if joined:
        return {"Number": "Plur", "Person": person}
    if tag == "NUM":
        return {"Number": "Sing" if form in ("one", "1") or (len(form) == 4 and form.isdigit()) else "Plur", "Person": "3"}
    if form in ("both", "many", "few", "several", "others") and tag in ("DET", "ADJ"):
        return {"Number": "Plur", "Person": "3"}
    if tag in ("DET", "ADJ") and "Number" not in feats[subject]:
        partitive = list(words.children(subject, "nmod"))
        if form in ("all", "some", "most", "any", "half", "more") and partitive:
            return {"Number": feats[partitive[0]].get("Number", "Sing"), "Person": "3"}
        if tag == "DET" and form in ("each", "another", "either", "neither", "every", "which", "what"):
            return {"Number": "Sing", "Person": "3"}
        return {"Person": "3"}
    if feats[subject].get("PronType") in ("Int", "Rel", "Neg") and "Number" not in feats[subject]:
        return {"Number": "Sing", "Person": "3"}
    number = feats[subject].get("Number")
    return ({"Number": number} if number else {}) | {"Person": person}


def add_predicate(words: Words, feats: list[dict[str, str]], word: int, chain: list[int]) -> None:
    """Features of every verb of a predicate: the first may be finite, each other one has the form its neighbour asks for."""
    outer = words.children(word, "nsubj:outer")
    if outer:  # "The trouble is that it leaks": the copula has a subject of its own
        copula = words.children(word, "cop")
        helpers = [verb for verb in chain if verb < copula[0] and words.relations[verb] == "aux"] + copula if copula else []
        chain = [verb for verb in chain if verb not in helpers]
        over = noun_agreement(words, feats, outer[0], word)
        for place, verb in enumerate(helpers):
            feats[verb] = (
                _helper(words, words.forms[verb], verb, helpers, word, over)
                if place == 0
                else _governed(words, word, verb, helpers[place - 1])
            )
        if not chain:
            return
    agree = agreement(words, feats, word)
    for place, verb in enumerate(chain):
        if place == 0:
            feats[verb] = _first(words, feats, word, verb, chain, agree)
        else:
            feats[verb] = _governed(words, word, verb, chain[place - 1])


def _governed(words: Words, predicate: int, verb: int, governor: int) -> dict[str, str]:
    form, before = words.forms[verb], words.forms[governor]
    if form.endswith("ing") and form not in BARE_IN_ING:
        return {"Tense": "Pres", "VerbForm": "Part"}
    if before in DO or (before in MODALS and before != "'d"):
        return {"VerbForm": "Inf"}
    if before == "'d" and form not in PASTS | PARTICIPLES and not form.endswith("ed") and form not in ("been", "had"):
        return {"VerbForm": "Inf"}
    passive = verb == predicate and words.relations[governor] == "aux:pass"
    return {"Tense": "Past", "VerbForm": "Part"} | ({"Voice": "Pass"} if passive else {})


def _finite(tense: str, agree: Mapping[str, str]) -> dict[str, str]:
    return {"Mood": "Ind", **agree, "Tense": tense, "VerbForm": "Fin"}


def _first(
    words: Words, feats: list[dict[str, str]], predicate: int, verb: int, chain: list[int], agree: Mapping[str, str]
) -> dict[str, str]:
    form, tag = words.forms[verb], words.upos[verb]
    if words.has_to(predicate) and form != "'s":
        return {"VerbForm": "Inf"}
    if form in BE or (tag == "AUX" and form in HAVE | DO | GET | MODALS):
        return _helper(words, form, verb, chain, predicate, agree)
    return _bare_verb(words, feats, predicate, verb, agree)


def _helper(
    words: Words, form: str, verb: int, chain: list[int], predicate: int, agree: Mapping[str, str]
) -> dict[str, str]:
    third = {"Number": "Sing", "Person": "3"}
    following = words.forms[chain[1]] if len(chain) > 1 else ""
    is_had = (
        form == "'d"
        and (following in PARTICIPLES | {"been"} or following.endswith("ed"))
        and following not in BASES - {"come"}
    )
    if form in MODALS and not is_had:
        return {"VerbForm": "Fin"}
    if form in ("being", "having", "getting"):
        return (
            {"VerbForm": "Ger"} if words.relations[predicate] in GERUND_RELATIONS else {"Tense": "Pres", "VerbForm": "Part"}
        )
    if form == "been":
        return {"Tense": "Past", "VerbForm": "Part"}
    if form == "be" or (
        form in ("do", "have", "get") and not agree and words.clause_relation(predicate) in IMPERATIVE_RELATIONS
    ):
        imperative = not agree and words.clause_relation(predicate) in IMPERATIVE_RELATIONS
        return {"Mood": "Imp", "VerbForm": "Fin"} if imperative else {"VerbForm": "Inf"}
    if form in ("is", "'s", "has", "does", "gets"):
        return _finite("Pres", third)
    if form == "am" or form == "'m":
        return _finite("Pres", {"Number": "Sing", "Person": "1"})
    if form == "was":
        return _finite("Past", {"Number": "Sing", "Person": agree.get("Person", "3") if agree.get("Person") == "1" else "3"})
    if form in ("are", "'re", "were"):
        person = agree.get("Person", "3")
        return _finite(
            "Past" if form == "were" else "Pres", {"Person": "2"} if person == "2" else {"Number": "Plur", "Person": person}
        )
    return _finite("Past" if form in ("had", "did", "got", "'d") else "Pres", agree)


def _bare_verb(
    words: Words, feats: list[dict[str, str]], predicate: int, verb: int, agree: Mapping[str, str]
) -> dict[str, str]:
    """A full verb without auxiliary: its ending, its subject and its relation say what it is."""
    form, relation = words.forms[verb], words.relations[predicate]
    own_subject = bool(words.children(predicate, "nsubj", "nsubj:pass", "csubj", "csubj:pass", "expl"))
    first = predicate
    while words.relations[first] == "conj":
        first = words.heads[first]
    sister = feats[words.heads[predicate]] if relation == "conj" and words.upos[words.heads[predicate]] == "VERB" else {}
    if form.endswith("ing") and form not in BARE_IN_ING:
        if relation == "conj" and sister.get("VerbForm") in ("Part", "Ger") and sister.get("Tense") != "Past":
            return {name: value for name, value in sister.items() if name in ("Tense", "VerbForm")}
        return {"VerbForm": "Ger"} if relation in GERUND_RELATIONS else {"Tense": "Pres", "VerbForm": "Part"}
    if form.endswith("s") and form not in BARE_IN_S:
        return _finite("Pres", {"Number": "Sing", "Person": "3"})
    participle = form in PARTICIPLES or (form.endswith("ed") and form not in BARE_IN_ED)
    past = form in PASTS or (form.endswith("ed") and form not in BARE_IN_ED)
    base = form in BASES or not (past or participle)
    if form == "thank" and not agree:
        return _finite("Pres", {"Number": "Sing", "Person": "1"})
    if not own_subject and relation == "conj" and sister:
        kind = sister.get("VerbForm"), sister.get("Tense")
        if kind == ("Part", "Past") and participle:
            return {name: value for name, value in sister.items() if name in ("Tense", "VerbForm", "Voice")}
        if kind[0] == "Inf" and base:
            return {"VerbForm": "Inf"}
        if sister.get("Mood") == "Imp" and base:
            return {"Mood": "Imp", "VerbForm": "Fin"}
    if (
        not own_subject
        and relation in ("amod", "acl", "advcl", "xcomp", "compound", "case")
        and participle
        and not (relation == "xcomp" and base and not past)
    ):
        return {"Tense": "Past", "VerbForm": "Part", "Voice": "Pass"}
    if not own_subject and relation in ("xcomp", "advcl", "acl", "csubj", "fixed"):
        return {"VerbForm": "Inf"}
    if not agree and base:
        return {"Mood": "Imp", "VerbForm": "Fin"}
    if past and base:
        return _finite(_tense_of_put(words, predicate, verb, first, agree, sister), agree)
    return _finite("Past" if past else "Pres", agree)


def _tense_of_put(
    words: Words, predicate: int, verb: int, first: int, agree: Mapping[str, str], sister: Mapping[str, str]
) -> str:
    """put, cut, read, lay, saw: both the past of one verb and the plain form of one."""
    if "Tense" in words.overrides[verb]:
        return words.overrides[verb]["Tense"]
    if agree.get("Number") == "Sing" and agree.get("Person") == "3":
        return "Past"
    if words.relations[first] == "root" and words.tense in ("past", "pres"):
        return words.tense.capitalize()
    if sister.get("Tense"):
        return sister["Tense"]
    form = words.forms[verb]
    raise InputError(f"word {verb + 1} {form!r} can be past or present here; write feat=Tense=Past or feat=Tense=Pres")
