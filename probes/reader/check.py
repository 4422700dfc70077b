"""What is wrong, or worth a second look, in the reader's texts: trees, tags, relations, entities, chains, senses."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from model import InputProblem

from . import compact_form, features
from .compact_form import ReaderSentence, ReaderText
from .counts import rare_share, word_count

NOMINAL = {"NOUN", "PROPN", "PRON", "NUM", "DET", "ADJ", "SYM"}
PREDICATE = NOMINAL | {"VERB", "AUX", "ADV", "INTJ"}
ALLOWED: Mapping[str, Set[str]] = {
    "nsubj": NOMINAL,
    "nsubj:pass": NOMINAL,
    "nsubj:outer": NOMINAL,
    "obj": NOMINAL | {"INTJ"},
    "iobj": NOMINAL,
    "obl": NOMINAL | {"ADV", "ADP"},
    "obl:agent": NOMINAL,
    "obl:unmarked": NOMINAL,
    "nmod": NOMINAL | {"ADV", "ADP"},
    "nmod:poss": {"PRON", "NOUN", "PROPN", "NUM"},
    "nmod:desc": {"NOUN", "PROPN"},
    "nmod:unmarked": NOMINAL,
    "appos": NOMINAL,
    "vocative": {"NOUN", "PROPN", "PRON", "ADJ"},
    "dislocated": NOMINAL,
    "det": {"DET"},
    "det:predet": {"DET"},
    "nummod": {"NUM"},
    "amod": {"ADJ", "VERB"},
    "aux": {"AUX"},
    "aux:pass": {"AUX"},
    "cop": {"AUX"},
    "case": {"ADP", "PART", "ADJ", "ADV", "VERB"},
    "mark": {"SCONJ", "PART", "ADV", "ADJ", "ADP"},
    "advmod": {"ADV", "PART", "DET", "ADP", "ADJ", "NOUN"},
    "cc": {"CCONJ", "ADV"},
    "cc:preconj": {"CCONJ"},
    "punct": {"PUNCT"},
    "discourse": {"INTJ", "NOUN"},
    "expl": {"PRON"},
    "compound": {"NOUN", "PROPN", "NUM", "ADJ", "VERB", "SYM"},
    "compound:prt": {"ADP"},
    "flat": {"PROPN", "NUM", "NOUN"},
    "acl": PREDICATE,
    "acl:relcl": PREDICATE,
    "advcl": PREDICATE,
    "advcl:relcl": PREDICATE,
    "ccomp": PREDICATE | {"PART"},
    "xcomp": PREDICATE,
    "csubj": PREDICATE,
    "csubj:pass": PREDICATE,
    "parataxis": PREDICATE,
    "root": PREDICATE,
    "conj": PREDICATE | {"ADP", "PART"},
    "orphan": PREDICATE | {"ADP"},
    "fixed": set(compact_form.UPOS) - {"PUNCT"},
}
# the other way round: what a tag may be
RELATIONS_OF: Mapping[str, set[str]] = {
    "PUNCT": {"punct"},
    "AUX": {"aux", "aux:pass", "cop"},
    "CCONJ": {"cc", "cc:preconj", "fixed"},
    "SCONJ": {"mark", "fixed"},
    "PART": {"advmod", "mark", "case", "fixed"},
    "ADP": {"case", "compound:prt", "obl", "fixed", "advmod", "mark"},
    "INTJ": {"discourse", "root", "ccomp", "conj", "parataxis", "obj"},
}
_CLOSED_TABLE = """
DET: the a an every each another some
PRON: my your his her its our their whose i you he she it we they me him us them who whom someone somebody something
  anyone anybody anything everyone everybody everything nobody nothing none myself yourself himself herself itself
  ourselves themselves
DET PRON: this these those which what
ADV DET PRON SCONJ: that
ADV DET: any all
CCONJ DET: both
ADV CCONJ DET: either neither
ADV DET INTJ: no
PART: not n't '
ADP PART SCONJ: to
AUX PART PRON VERB: 's
CCONJ: and or nor
ADP CCONJ: but
SCONJ: if although unless whether
ADP SCONJ: because until than of at from with for without
NOUN SCONJ: while
ADV SCONJ: though
ADP: into during
ADP ADV SCONJ: by in on as
ADV: when where why how here too also always never ago else almost even just
ADV PRON: there
AUX: am would could should might must shall ca wo 'll 'm 've 'd
AUX VERB: is are was were be been 're has does
AUX NOUN VERB: being
ADJ ADV: very more most only enough
NOUN: today tomorrow yesterday tonight o'clock ones lot lots
INTJ: please yes oh
ADJ: many several few other same
ADJ VERB: own used
NOUN NUM PRON: one
ADJ DET: such
ADV NOUN: home
VERB: let
"""
# a closed-class word and the tags it may have
CLOSED: Mapping[str, Sequence[str]] = {
    word: line.split(":")[0].split()
    for line in _CLOSED_TABLE.replace("\n  ", " ").splitlines()
    if line
    for word in line.split(":")[1].split()
}
TITLES = {"mr.", "mrs.", "ms.", "dr.", "miss", "professor", "king", "queen", "president", "captain", "sir", "lady",
          "count", "baron"}
FIXED = {
    "because of", "such as", "due to", "according to", "instead of", "rather than", "next to", "as well", "as well as",
    "of course", "so that", "in order", "in case", "more than", "less than", "up to", "each other", "one another", "kind of",
    "sort of", "how come", "whether or not",
}
CASE_WORDS = {
    "VERB": {"according", "including", "following", "regarding", "concerning"},
    "ADJ": {"due", "such"},
    "ADV": {"instead", "rather", "next"},
    "PART": {"'s", "'"},
}
MARK_WORDS = {"PART": {"to"}, "ADV": {"instead", "rather"}, "ADJ": {"such", "due"}, "ADP": {"in", "than", "rather"}}
LEAVES = {"punct", "aux", "aux:pass", "cop", "cc", "mark", "case", "det"}
CHILDREN_OF_LEAVES = {"fixed", "advmod", "punct", "conj", "cc"}
RIGHTWARD = {"conj", "flat", "fixed", "appos", "acl", "acl:relcl", "compound:prt", "orphan"}
LEFTWARD = {"aux", "aux:pass", "cc", "cc:preconj", "det:predet", "mark"}
SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "csubj:pass")


@dataclass(frozen=True)
class Finding:
    """A mistake, or a doubt that the mark `ok` on the word puts to rest."""

    where: str
    words: str
    is_mistake: bool

    def __str__(self) -> str:
        return f"{self.where}: {'' if self.is_mistake else 'doubt: '}{self.words}"


def check(texts: Iterable[ReaderText], whole: bool = False) -> list[Finding]:
    """Every mistake and every doubt, in the order of the texts."""
    texts = list(texts)
    plan = compact_form.plan()
    findings: list[Finding] = []
    seen: dict[str, str] = {}
    numbers: dict[int, str] = {}
    for text in texts:
        findings += _text(text, plan)
        if text.number in numbers:
            findings.append(
                Finding(f"{text.name}.txt", f"the number {text.number:03} is taken by {numbers[text.number]}.txt", True)
            )
        numbers[text.number] = text.name
        for sentence in text.sentences:
            where, folded = f"{text.name}.txt line {sentence.line}", sentence.text.casefold()
            if folded in seen:
                findings.append(Finding(where, f"the same sentence stands at {seen[folded]}", True))
            seen[folded] = where
    if whole and len(texts) != 150:
        findings.append(Finding("texts", f"there are {len(texts)} of 150 texts", False))
    return findings


def _text(text: ReaderText, plan: Mapping) -> list[Finding]:
    where = f"{text.name}.txt"
    findings: list[Finding] = []
    planned = plan["topics"].get(f"{text.number:03}")
    if planned is None:
        findings.append(Finding(where, f"the number {text.number:03} is not one of 001 to 150", True))
    elif planned != text.topic:
        findings.append(Finding(where, f"the topic is {text.topic}, but the plan says {planned}", True))
    if not 7 <= len(text.sentences) <= 9:
        findings.append(Finding(where, f"has {len(text.sentences)} sentences; 8 are wanted, 7 to 9 allowed", True))
    elif len(text.sentences) != 8:
        findings.append(Finding(where, f"has {len(text.sentences)} sentences instead of 8", False))
    lengths = [word_count(sentence) for sentence in text.sentences]
    mean = sum(lengths) / len(lengths)
    if not 9 <= mean <= 14:
        findings.append(Finding(where, f"sentences have {mean:.1f} words on average; 11 are wanted, 9 to 14 allowed", True))
    share = rare_share([text])
    if not 0.24 <= share <= 0.46:
        findings.append(
            Finding(
                where,
                f"{share:.0%} of the running words are outside the commonest thousand; "
                "about a third is wanted, 24 to 46 % allowed",
                True,
            )
        )
    chains = Counter(
        number for sentence in text.sentences for token in sentence.tokens for number in (token.coref, token.group) if number
    )
    for number, mentions in sorted(chains.items()):
        if mentions < 2:
            findings.append(Finding(where, f"chain {number} has one mention only; singletons are not marked", True))
    if chains and max(chains) != len(chains):
        findings.append(Finding(where, f"chains are numbered up to {max(chains)}, but there are {len(chains)}", True))
    if len(chains) < 2:
        findings.append(Finding(where, "has fewer than two coreference chains", False))
    for sentence in text.sentences:
        findings += _sentence(sentence, where, plan["senses"])
    return findings


def _sentence(sentence: ReaderSentence, file: str, senses: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    findings: list[Finding] = []

    def mistake(word: int | None, words: str) -> None:
        findings.append(Finding(f"{file} line {sentence.line if word is None else sentence.tokens[word].line}", words, True))

    def doubt(word: int | None, words: str) -> None:
        if word is None or not sentence.tokens[word].reviewed:
            findings.append(
                Finding(f"{file} line {sentence.line if word is None else sentence.tokens[word].line}", words, False)
            )

    heads = [token.head for token in sentence.tokens]
    if heads.count(-1) != 1:
        mistake(None, f"the sentence has {heads.count(-1)} roots instead of one")
        return findings
    for word in range(len(heads)):
        if _has_cycle(heads, word):
            mistake(word, f"{sentence.tokens[word].form!r} leads in a circle instead of to the root")
            return findings
    crossing = next((word for word in range(len(heads)) if _crosses(heads, word)), None)
    if crossing is not None and "nonprojective" not in sentence.flags:
        token = sentence.tokens[crossing]
        mistake(
            crossing,
            f"the arc from {_form(sentence, token.head)!r} to {token.form!r} crosses another; "
            "correct it, or write nonprojective in the header",
        )
    if crossing is None and "nonprojective" in sentence.flags:
        mistake(None, "the header says nonprojective, but no arcs cross")
    for word in range(len(heads)):
        _relation(sentence, word, mistake, doubt)
    _entities(sentence, mistake, doubt)
    _senses(sentence, senses, mistake, doubt)
    _typography(sentence, mistake, doubt)
    try:
        feats = sentence.feats
    except InputProblem as problem:
        mistake(None, str(problem))
        return findings
    for word, token in enumerate(sentence.tokens):
        if token.upos in ("VERB", "AUX") and token.relation not in ("fixed", "case") and "VerbForm" not in feats[word]:
            mistake(word, f"the rules found no verb form for {token.form!r}; write feat=VerbForm=…")
        if token.relation == "amod" and token.upos == "VERB" and feats[word].get("VerbForm") not in ("Part", "Ger"):
            mistake(word, f"{token.form!r} is amod and VERB, but no participle")
    tense, number = features.main_tense(sentence.words, feats), features.main_number(sentence.words, feats)
    if tense != sentence.tense:
        mistake(None, f"the header says the main verb is {sentence.tense}, the tree says {tense}")
    if number is not None and number != sentence.number:
        mistake(None, f"the header says the subject is {sentence.number}, the tree says {number}")
    return findings


def _form(sentence: ReaderSentence, word: int) -> str:
    return "ROOT" if word < 0 else sentence.tokens[word].form


def _has_cycle(heads: Sequence[int], word: int) -> bool:
    for _ in heads:
        word = heads[word]
        if word < 0:
            return False
    return True


def _crosses(heads: Sequence[int], word: int) -> bool:
    """Whether a word between this one and its head hangs outside what the head dominates."""
    head = heads[word]
    if head < 0:
        return False
    for between in range(min(word, head) + 1, max(word, head)):
        above = between
        while above >= 0 and above != head:
            above = heads[above]
        if above != head:
            return True
    return False


Say = Callable[[int | None, str], None]


def _relation(sentence: ReaderSentence, word: int, mistake: Say, doubt: Say) -> None:
    token, words = sentence.tokens[word], sentence.words
    form, tag, relation, head = words.forms[word], token.upos, token.relation, token.head
    children = {other: words.relations[other] for other in words.children(word)}
    relations = set(children.values())
    if (relation == "root") != (head < 0):
        mistake(word, f"{form!r} has relation {relation} and head {head + 1}: head 0 and root belong together")
        return
    if head == word:
        mistake(word, f"{form!r} is its own head")
        return
    fixed_head = "fixed" in relations
    if tag not in ALLOWED[relation]:
        mistake(word, f"{form!r} is {tag}, but {relation} takes {', '.join(sorted(ALLOWED[relation]))}")
    if tag in RELATIONS_OF and relation not in RELATIONS_OF[tag] and not fixed_head:
        say = mistake if tag in ("PUNCT", "INTJ") else doubt
        say(word, f"{form!r} is {tag} with relation {relation}; usual are {', '.join(sorted(RELATIONS_OF[tag]))}")
    allowed = CLOSED.get(form, [])
    if allowed and tag not in allowed and relation != "fixed" and not (tag == "PROPN" and token.entity):
        doubt(word, f"{form!r} is {tag}; this word is {' or '.join(allowed)}")
    if head >= 0:
        above, above_tag = words.forms[head], words.upos[head]
        if relation in RIGHTWARD and head > word:
            mistake(word, f"{relation} hangs on a word to its left, but {form!r} hangs on {above!r} to its right")
        if relation in LEFTWARD and head < word and not (relation in ("aux", "aux:pass") and above in _INVERTED):
            mistake(word, f"{relation} hangs on a word to its right, but {form!r} hangs on {above!r} to its left")
        parent = words.relations[head]
        if parent in LEAVES and relation not in CHILDREN_OF_LEAVES:
            mistake(word, f"{form!r} ({relation}) hangs on {above!r}, which is {parent} and takes no such dependents")
        if parent in ("aux", "aux:pass", "cop", "punct") and relation != "fixed":
            mistake(word, f"{form!r} ({relation}) hangs on {above!r}, which is {parent}; it belongs on the predicate")
        if parent == "fixed":
            mistake(word, f"{form!r} hangs on {above!r}, which is part of a fixed expression; use its first word")
        _pair(sentence, word, relation, head, above, above_tag, mistake, doubt)
    _node(sentence, word, children, relations, mistake, doubt)


def _is_clause(sentence: ReaderSentence, word: int) -> bool:
    """Whether a word is a predicate: a verb, or something with a copula or a subject, or a fragment at the top."""
    words = sentence.words
    relations = {words.relations[child] for child in words.children(word)}
    return (
        words.upos[word] in ("VERB", "AUX", "ADJ", "ADV", "INTJ")
        or bool(relations & {"cop", "nsubj", "nsubj:pass", "nsubj:outer", "expl", "csubj", "orphan"})
        or words.relations[word] in ("root", "ccomp", "parataxis", "advcl", "xcomp", "csubj")
    )


def _pair(
    sentence: ReaderSentence, word: int, relation: str, head: int, above: str, above_tag: str, mistake: Say, doubt: Say
) -> None:
    """A word and its head."""
    words = sentence.words
    form, tag = words.forms[word], words.upos[word]
    case = words.children(word, "case")
    siblings = {words.relations[child] for child in words.children(head)}
    if relation in ("nsubj", "nsubj:pass") and not (above_tag in ("VERB", "AUX", "ADJ") or siblings & {"cop", "orphan"}):
        doubt(word, f"{form!r} is {relation} of {above!r} ({above_tag}), which has no copula")
    if relation == "nsubj" and "aux:pass" in siblings:
        mistake(word, f"{form!r} is nsubj of the passive {above!r}; write nsubj:pass")
    if relation == "nsubj:pass" and "aux:pass" not in siblings:
        doubt(word, f"{form!r} is nsubj:pass, but {above!r} has no aux:pass")
    if relation == "nsubj:outer" and "cop" not in siblings:
        mistake(word, f"{form!r} is nsubj:outer, but {above!r} has no copula")
    if (
        relation in ("obj", "iobj", "compound:prt")
        and above_tag not in ("VERB", "AUX")
        and above != "worth"
        and "orphan" not in siblings
    ):
        mistake(word, f"{form!r} is {relation} of {above!r}, which is {above_tag}, not VERB")
    if relation in ("obl", "obl:unmarked", "obl:agent") and not _is_clause(sentence, head):
        doubt(word, f"{form!r} is {relation} of {above!r} ({above_tag}), which is no predicate; nmod?")
    if (
        relation in ("nmod", "nmod:unmarked", "nmod:poss", "nmod:desc")
        and above_tag in ("VERB", "AUX", "ADV")
        and above not in ("once", "twice")
    ):
        mistake(word, f"{form!r} is {relation} of {above!r}, which is {above_tag}; obl, or another head")
    if relation in ("obl", "nmod") and not case and tag != "ADP":
        mistake(word, f"{form!r} is {relation} without a preposition; {relation}:unmarked, or the case is missing")
    if relation in ("obl:unmarked", "nmod:unmarked", "nmod:desc") and case:
        mistake(word, f"{form!r} is {relation}, but has the preposition {words.forms[case[0]]!r}")
    if relation == "obl:agent" and not any(words.forms[child] == "by" for child in case):
        mistake(word, f"{form!r} is obl:agent without 'by'")
    if relation == "nmod:poss" and tag != "PRON" and not any(words.forms[child] in ("'s", "'") for child in case):
        mistake(word, f"{form!r} is nmod:poss, but no possessive pronoun and without 's")
    if relation == "case" and above_tag in ("VERB", "AUX"):
        mistake(word, f"{form!r} is case of the {above_tag} {above!r}; before a clause it is SCONJ with mark")
    if relation == "case" and tag in CASE_WORDS and form not in CASE_WORDS[tag]:
        mistake(word, f"{form!r} is {tag} and case; of {tag} only {', '.join(sorted(CASE_WORDS[tag]))} can be")
    if relation == "case" and tag == "PART" and word < head:
        mistake(word, f"the possessive {form!r} stands after its noun")
    if (
        relation == "case"
        and tag == "ADP"
        and word > head
        and above not in ("who", "whom", "what", "which", "that", "where", "how")
        and above_tag != "DET"
    ):
        doubt(word, f"{form!r} is case of {above!r} to its left")
    if relation == "mark" and tag in MARK_WORDS and form not in MARK_WORDS[tag]:
        mistake(word, f"{form!r} is {tag} and mark; a subordinating word is SCONJ")
    if relation == "mark" and not _is_clause(sentence, head):
        doubt(word, f"{form!r} is mark of {above!r} ({above_tag}), which is no clause")
    if (
        relation in ("det", "det:predet", "amod", "nummod")
        and above_tag not in NOMINAL
        and not (relation == "det" and above_tag == "ADV")
    ):
        mistake(word, f"{form!r} is {relation} of {above!r}, which is {above_tag}")
    if relation == "cop" and form not in features.BE:
        mistake(word, f"{form!r} is cop; only forms of 'be' are")
    if relation == "cop" and above_tag in ("VERB", "AUX") and "nsubj:outer" not in siblings:
        mistake(word, f"{form!r} is cop of the {above_tag} {above!r}; aux or aux:pass")
    if relation == "aux:pass" and form not in features.BE | features.GET:
        mistake(word, f"{form!r} is aux:pass; only forms of 'be' and 'get' are")
    if (
        relation == "aux"
        and form not in features.BE | features.HAVE | features.DO | features.MODALS
    ):
        mistake(word, f"{form!r} is aux; only be, have, do and modals are")
    if relation in ("aux", "aux:pass") and above_tag not in ("VERB", "AUX") and "cop" not in siblings:
        mistake(word, f"{form!r} is {relation} of {above!r}, which is {above_tag} without a copula")
    if relation in ("acl", "acl:relcl", "appos") and above_tag not in NOMINAL:
        mistake(word, f"{form!r} is {relation} of {above!r}, which is {above_tag}; advcl?")
    if (
        relation in ("acl", "acl:relcl")
        and above_tag == "ADJ"
        and above not in ("many", "few", "several", "most", "more", "much", "other", "enough", "little", "first", "last")
    ):
        doubt(word, f"{form!r} is {relation} of the adjective {above!r}")
    if relation == "advcl" and not _is_clause(sentence, head):
        doubt(word, f"{form!r} is advcl of {above!r} ({above_tag}), which is no predicate")
    if relation in ("ccomp", "xcomp", "csubj") and not _is_clause(sentence, head):
        doubt(word, f"{form!r} is {relation} of {above!r} ({above_tag}), which is no predicate")
    if relation == "xcomp" and words.children(word, *SUBJECTS):
        mistake(word, f"{form!r} is xcomp, but has a subject of its own; ccomp")
    if relation == "expl" and form not in ("it", "there"):
        mistake(word, f"{form!r} is expl; only 'it' and 'there' are")
    if relation == "expl" and form == "there" and above_tag != "VERB":
        mistake(word, f"existential 'there' hangs on 'be', a VERB here, but {above!r} is {above_tag}")
    if (
        relation == "expl"
        and form == "it"
        and not siblings & {"csubj", "ccomp", "advcl:relcl", "csubj:pass", "advcl", "xcomp"}
    ):
        mistake(word, "'it' is expl, but there is no clause it stands for; nsubj")
    if relation == "compound" and (above_tag not in NOMINAL or head < word):
        doubt(word, f"{form!r} is compound of {above!r} ({above_tag})")
    if relation == "flat" and not (above_tag == "PROPN" or tag == "NUM"):
        doubt(word, f"{form!r} is flat on {above!r} ({above_tag})")
    if relation == "fixed":
        run = " ".join(words.forms[part] for part in [head, *words.children(head, "fixed")])
        if run not in FIXED:
            mistake(word, f"{run!r} is not on the list of fixed expressions")
    if relation == "advmod" and tag in ("ADJ", "NOUN", "ADP") and not words.children(word, "fixed"):
        mistake(word, f"{form!r} is {tag} and advmod; without a fixed expression an advmod is ADV")
    if relation == "advmod" and tag == "DET" and form not in ("all", "both", "each", "any", "either", "neither"):
        mistake(word, f"{form!r} is DET and advmod")
    if (
        relation == "obl"
        and tag == "ADP"
        and not (words.antecedent(head) is not None or words.upos[head] in ("VERB", "ADJ"))
    ):
        doubt(word, f"{form!r} is ADP and obl: a stranded preposition?")
    if relation == "root" or (
        relation == "punct" and word == len(sentence) - 1 and words.relations[head] != "root" and form in (".", "?", "!")
    ):
        mistake(word, f"the last {form!r} hangs on {above!r} instead of the root")
    if relation == "nmod:desc" and head < word:
        mistake(word, f"{form!r} is nmod:desc, but stands after {above!r}")
    if relation == "iobj" and not siblings & {"obj", "ccomp", "xcomp"} and above not in _TELL:
        doubt(word, f"{form!r} is iobj of {above!r}, which has no obj or clause")
    if (
        relation == "conj"
        and tag == "VERB"
        and above_tag in ("NOUN", "PROPN")
        and "cop" not in siblings
        and words.relations[head] not in ("root", "ccomp")
    ):
        doubt(word, f"the verb {form!r} is conj of the noun {above!r}")


_INVERTED = {"who", "what", "which", "where", "how", "when", "why", "here", "there", "now", "attached"}
_TELL = {
    "tell",
    "tells",
    "told",
    "telling",
    "ask",
    "asks",
    "asked",
    "asking",
    "show",
    "shows",
    "showed",
    "teach",
    "teaches",
    "taught",
    "promise",
    "promised",
}


def _node(
    sentence: ReaderSentence, word: int, children: Mapping[int, str], relations: set[str], mistake: Say, doubt: Say
) -> None:
    """A word and all that hangs on it."""
    words = sentence.words
    form, tag, counted = words.forms[word], words.upos[word], Counter(children.values())
    for single in ("nsubj", "nsubj:pass", "obj", "cop", "aux:pass", "nsubj:outer", "iobj", "expl"):
        if counted[single] > 1:
            mistake(word, f"{form!r} has {counted[single]} dependents {single}")
    if sum(counted[name] for name in SUBJECTS) > 1:
        mistake(word, f"{form!r} has more than one subject")
    if counted["obj"] and counted["ccomp"]:
        doubt(word, f"{form!r} has both obj and ccomp; the person told is iobj")
    if "aux:pass" in relations and tag not in ("VERB", "AUX"):
        mistake(word, f"{form!r} is {tag}, but has aux:pass")
    if tag == "VERB" and form in features.BE and "expl" not in relations:
        doubt(word, f"{form!r} is VERB; 'be' is a VERB only in existential 'there is'")
    if tag == "AUX" and relations & {"obj", "xcomp", "ccomp"} and "orphan" not in relations:
        doubt(word, f"{form!r} is AUX with dependents {', '.join(sorted(relations & {'obj', 'xcomp', 'ccomp'}))}")
    if "acl:relcl" in relations and tag == "VERB":
        mistake(word, f"{form!r} is VERB with acl:relcl; advcl:relcl")
    to = [other for other in children if words.forms[other] == "to" and words.upos[other] == "PART"]
    if any(children[other] != "mark" for other in to):
        mistake(word, "infinitive 'to' is mark of its verb")
    if to and tag not in ("VERB", "AUX") and "cop" not in relations:
        mistake(word, f"infinitive 'to' hangs on {form!r}, which is {tag}; to + noun is ADP with case")
    if sentence.tokens[word].group and "conj" not in relations:
        mistake(word, f"{form!r} has group=, but no conjunct")
    if "fixed" in relations:
        fixed = [other for other, name in children.items() if name == "fixed"]
        if fixed != list(range(word + 1, word + 1 + len(fixed))):
            mistake(word, f"the fixed expression at {form!r} is not one run of words")


def _entities(sentence: ReaderSentence, mistake: Say, doubt: Say) -> None:
    before = ""
    for word, token in enumerate(sentence.tokens):
        if token.entity == "+" and not before:
            mistake(word, f"ent=+ on {token.form!r} continues nothing")
        if token.upos == "PROPN" and not token.entity and token.form.lower() not in TITLES:
            doubt(word, f"the name {token.form!r} is in no entity")
        if token.entity == "PER" and token.form.lower() in TITLES:
            doubt(word, f"the title {token.form!r} stays outside the entity")
        if token.entity and token.upos in ("PUNCT", "DET", "VERB", "AUX"):
            doubt(word, f"{token.form!r} ({token.upos}) is in an entity")
        if (
            token.form[0].isupper()
            and word
            and token.upos not in ("PROPN", "PRON", "ADJ", "INTJ")
            and sentence.tokens[word - 1].form != '"'
            and not token.entity
            and token.relation != "nmod:desc"
        ):
            doubt(word, f"{token.form!r} has a capital letter inside the sentence, but is {token.upos}")
        if token.upos == "PROPN" and not token.form[0].isupper():
            doubt(word, f"the name {token.form!r} has no capital letter")
        if token.coref and token.relation in ("case", "det", "aux", "cop", "mark", "cc", "punct", "expl", "flat"):
            mistake(word, f"coref= stands on {token.form!r} ({token.relation}), which is no head of a mention")
        before = token.entity


def sense_word(form: str, senses: Mapping[str, Mapping[str, str]]) -> str:
    """The one of the thirty words this form belongs to, or nothing."""
    form = form.lower()
    irregular = {
        "flew": "fly",
        "flown": "fly",
        "flies": "fly",
        "rang": "ring",
        "rung": "ring",
        "lit": "light",
        "sprang": "spring",
        "sprung": "spring",
        "tying": "tie",
        "kinder": "kind",
        "kindest": "kind",
        "fairer": "fair",
        "fairest": "fair",
    }
    if form in irregular:
        return irregular[form]
    for word in senses:
        endings = {"", "s", "es", "ed", "ing", word[-1] + "ed", word[-1] + "ing", "er", "est"}
        if form == word or (form.startswith(word) and form[len(word) :] in endings - {"er"}):
            if word in ("left", "mine", "right", "kind", "fair") and form not in (word, word + "s"):
                continue
            return word
        if word.endswith("e") and form in (word + "d", word[:-1] + "ing") and word not in ("mine", "date"):
            return word
    return ""


def _senses(sentence: ReaderSentence, senses: Mapping[str, Mapping[str, str]], mistake: Say, doubt: Say) -> None:
    for word, token in enumerate(sentence.tokens):
        own = sense_word(token.form, senses)
        if token.sense:
            name, _, sense = token.sense.partition(".")
            if sense not in senses.get(name, {}):
                mistake(word, f"{token.sense!r} is no sense on the list")
            elif own != name and token.form.lower() not in ("lighter", "lightest"):
                doubt(word, f"{token.form!r} does not look like a form of {name!r}")
        elif own and token.upos != "PROPN":
            doubt(word, f"{token.form!r} is one of the thirty words and has no sense")


def _typography(sentence: ReaderSentence, mistake: Say, doubt: Say) -> None:
    forms = sentence.forms
    if forms.count('"') % 2:
        mistake(None, "quotation marks open and close within a sentence, but their number is odd")
    for word, form in enumerate(forms):
        if any(letter in form for letter in "“”‘’"):
            mistake(word, f"{form!r} has a curly quotation mark; straight ones are used")
        if form.lower() in ("cannot", "gonna", "wanna") or (
            len(form) > 3 and form.lower().endswith(("n't", "'s", "'ll", "'ve", "'re", "'d", "'m"))
        ):
            mistake(word, f"{form!r} is two tokens")
    if forms[-1] not in (".", "?", "!", '"', "...", ":", ",", ")"):
        mistake(len(forms) - 1, f"the sentence ends with {forms[-1]!r} instead of a mark")
    first = next((form for form in forms if form not in ('"', "(", "–")), "")
    if first[:1].islower():
        mistake(0, f"the sentence begins with the small letter of {first!r}")
    if not 2 <= word_count(sentence) <= 24:
        doubt(None, f"the sentence has {word_count(sentence)} words; 4 to 22 are wanted")


def rare_pairs(texts: Iterable[ReaderText]) -> list[str]:
    """Words whose tag and relation are seldom in the reader, to be looked at again."""
    tokens = [(text.name, sentence, token) for text in texts for sentence in text.sentences for token in sentence.tokens]
    if len(tokens) < 6000:  # too few to know what is seldom
        return []
    pairs = Counter((token.upos, token.relation) for _, _, token in tokens)
    tags = {}
    for _, _, token in tokens:
        tags.setdefault(token.form.lower(), Counter())[token.upos, token.relation] += 1
    lines = []
    for name, sentence, token in tokens:
        seldom = pairs[token.upos, token.relation] <= 2
        own = tags[token.form.lower()]
        odd = own[token.upos, token.relation] == 1 and sum(own.values()) >= 8
        if (seldom or odd) and not token.reviewed:
            lines.append(f"{name}.txt line {token.line}: {token.form} {token.upos} {token.relation} in {sentence.text!r}")
    return lines


def report(paths: Sequence[Path], whole: bool) -> int:
    """Print all findings of the files and a line for each text; 1 when there is a mistake."""
    texts, broken = [], 0
    for path in paths:
        try:
            texts.append(compact_form.parse(path.read_text("utf-8"), path.name))
        except InputProblem as problem:
            print(problem)
            broken += 1
    findings = check(texts, whole=whole)
    others: list[ReaderText] = []
    if not whole:  # alike sentences may stand in texts that were not named
        named = {text.number for text in texts}
        for path in compact_form.files():
            if path.name not in {named_path.name for named_path in paths}:
                try:
                    others.append(compact_form.parse(path.read_text("utf-8"), path.name))
                except InputProblem:
                    continue
        seen = {sentence.text.casefold(): other.name for other in others for sentence in other.sentences}
        findings += [
            Finding(
                f"{text.name}.txt line {sentence.line}",
                f"the same sentence stands in {seen[sentence.text.casefold()]}.txt",
                True,
            )
            for text in texts
            for sentence in text.sentences
            if sentence.text.casefold() in seen
        ]
        findings += [
            Finding(f"{other.name}.txt", f"the number {other.number:03} is used twice", True)
            for other in others
            if other.number in named
        ]
    for finding in findings:
        print(finding)
    names = tuple(f"{text.name}.txt" for text in texts)
    for line in rare_pairs([*texts, *others]):
        if line.startswith(names):
            print(f"rare: {line}")
    for text in texts:
        lengths = [word_count(sentence) for sentence in text.sentences]
        senses = sum(bool(token.sense) for sentence in text.sentences for token in sentence.tokens)
        print(
            f"{text.name}: {len(lengths)} sentences, {sum(lengths) / len(lengths):.1f} words on average "
            f"({min(lengths)} to {max(lengths)}), {rare_share([text]):.0%} outside the commonest thousand, {senses} senses"
        )
    mistakes = broken + sum(finding.is_mistake for finding in findings)
    print(f"{len(texts)} texts, {mistakes} mistakes, {len(findings) - mistakes + broken} doubts")
    return int(mistakes > 0)
