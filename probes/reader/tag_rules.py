"""Which tags, relations and words go together in Universal Dependencies, as the reader uses them."""

from collections.abc import Mapping, Sequence, Set

from .compact_form import UPOS

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
    "fixed": set(UPOS) - {"PUNCT"},
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
TITLES = {
    "mr.",
    "mrs.",
    "ms.",
    "dr.",
    "miss",
    "professor",
    "king",
    "queen",
    "president",
    "captain",
    "sir",
    "lady",
    "count",
    "baron",
}
FIXED = {
    "because of",
    "such as",
    "due to",
    "according to",
    "instead of",
    "rather than",
    "next to",
    "as well",
    "as well as",
    "of course",
    "so that",
    "in order",
    "in case",
    "more than",
    "less than",
    "up to",
    "each other",
    "one another",
    "kind of",
    "sort of",
    "how come",
    "whether or not",
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
INVERTED = {"who", "what", "which", "where", "how", "when", "why", "here", "there", "now", "attached"}
TELL = {
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
