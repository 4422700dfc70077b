"""What is wrong, or worth a second look, in the arc between a word and its head."""

from collections import Counter
from collections.abc import Callable, Mapping

from .tag_rules import (
    ALLOWED,
    CASE_WORDS,
    CHILDREN_OF_LEAVES,
    CLOSED,
    FIXED,
    INVERTED,
    LEAVES,
    LEFTWARD,
    MARK_WORDS,
    NOMINAL,
    RELATIONS_OF,
    RIGHTWARD,
    SUBJECTS,
    TELL,
)
from .texts import ReaderSentence
from .word_forms import BE, DO, GET, HAVE, MODALS

Say = Callable[[int | None, str], None]  # a word, or the sentence, and what is wrong with it


def check_relation(sentence: ReaderSentence, word: int, mistake: Say, doubt: Say) -> None:
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
        if relation in LEFTWARD and head < word and not (relation in ("aux", "aux:pass") and above in INVERTED):
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
    if relation == "cop" and form not in BE:
        mistake(word, f"{form!r} is cop; only forms of 'be' are")
    if relation == "cop" and above_tag in ("VERB", "AUX") and "nsubj:outer" not in siblings:
        mistake(word, f"{form!r} is cop of the {above_tag} {above!r}; aux or aux:pass")
    if relation == "aux:pass" and form not in BE | GET:
        mistake(word, f"{form!r} is aux:pass; only forms of 'be' and 'get' are")
    if relation == "aux" and form not in BE | HAVE | DO | MODALS:
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
    if relation == "iobj" and not siblings & {"obj", "ccomp", "xcomp"} and above not in TELL:
        doubt(word, f"{form!r} is iobj of {above!r}, which has no obj or clause")
    if (
        relation == "conj"
        and tag == "VERB"
        and above_tag in ("NOUN", "PROPN")
        and "cop" not in siblings
        and words.relations[head] not in ("root", "ccomp")
    ):
        doubt(word, f"the verb {form!r} is conj of the noun {above!r}")


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
    if tag == "VERB" and form in BE and "expl" not in relations:
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
