"""Morphological features of the reader's words by rule and lexicon, from form, tag and tree, as in UD English-EWT."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model import InputProblem

# base past participle
IRREGULAR = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become|begin began begun
bend bent bent|bet bet bet|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke broken
breed bred bred|bring brought brought|build built built|burn burnt burnt|burst burst burst|buy bought bought
cast cast cast|catch caught caught|choose chose chosen|cling clung clung|come came come|cost cost cost|creep crept crept
cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn|dream dreamt dreamt|drink drank drunk
drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found
flee fled fled|fling flung flung|fly flew flown|forbid forbade forbidden|forget forgot forgotten
forgive forgave forgiven|freeze froze frozen|get got got|give gave given|go went gone|grind ground ground
grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt
keep kept kept|kneel knelt knelt|know knew known|lay laid laid|lead led led|lean leant leant|leap leapt leapt
learn learnt learnt|leave left left|lend lent lent|let let let|lie lay lain|light lit lit|lose lost lost|make made made
mean meant meant|meet met met|mow mowed mown|pay paid paid|put put put|quit quit quit|read read read|rid rid rid
ride rode ridden|ring rang rung|rise rose risen|run ran run|saw sawed sawn|say said said|see saw seen|seek sought sought
sell sold sold|send sent sent|set set set|sew sewed sewn|shake shook shaken|shed shed shed|shine shone shone
shoot shot shot|show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|smell smelt smelt|sow sowed sown|speak spoke spoken|speed sped sped|spell spelt spelt
spend spent spent|spill spilt spilt|spin spun spun|spit spat spat|split split split|spoil spoilt spoilt
spread spread spread|spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung
stink stank stunk|stride strode stridden|strike struck struck|string strung strung|strive strove striven
swear swore sworn|sweep swept swept|swell swelled swollen|swim swam swum|swing swung swung|take took taken
teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown|thrust thrust thrust
tread trod trodden|understand understood understood|undo undid undone|upset upset upset|wake woke woken|wear wore worn
weave wove woven|weep wept wept|win won won|wind wound wound|withdraw withdrew withdrawn|wring wrung wrung
write wrote written|rewrite rewrote rewritten|rebuild rebuilt rebuilt|overhear overheard overheard
oversleep overslept overslept|overtake overtook overtaken|outgrow outgrew outgrown|mislay mislaid mislaid
misread misread misread|mistake mistook mistaken|foresee foresaw foreseen|forecast forecast forecast
broadcast broadcast broadcast|repay repaid repaid|retell retold retold|unwind unwound unwound|uphold upheld upheld
bid bid bid|knit knit knit|wed wed wed|fit fit fit|sling slung slung|slit slit slit|bestride bestrode bestridden
prove proved proven|undergo underwent undergone|undertake undertook undertaken|withstand withstood withstood
outrun outran outrun|overcome overcame overcome|reset reset reset
"""
_ROWS = [row.split() for row in IRREGULAR.replace("\n", "|").split("|") if row.strip()]
BASES = {row[0] for row in _ROWS}
PASTS = {row[1] for row in _ROWS}
PARTICIPLES = {row[2] for row in _ROWS}
BARE_IN_ED = set("need feed speed seed bleed breed weed heed proceed succeed exceed shed wed embed shred sled".split())
BARE_IN_S = set(
    """
    pass miss guess dress kiss press discuss cross toss focus express fuss boss process access confess possess
    address bless chess stress impress undress discus
""".split()
)
BARE_IN_ING = set("bring sing ring swing cling sting fling spring string wring sling ping ding king".split())

BE_PRESENT = {"am", "is", "are", "'m", "'s", "'re", "ai"}
BE_PAST = {"was", "were"}
BE = BE_PRESENT | BE_PAST | {"be", "been", "being"}
HAVE = {"have", "has", "had", "having", "'ve", "'s", "'d"}
DO = {"do", "does", "did"}
GET = {"get", "gets", "got", "getting", "gotten"}
WILL = {"will", "'ll", "wo", "shall", "sha"}
MODALS = WILL | {"can", "ca", "could", "would", "'d", "should", "may", "might", "must", "ought", "need", "dare"}

PLURALS = set(
    """
    men women children people feet teeth mice geese oxen lice dice police cattle fishermen firemen policemen
    policewomen postmen salesmen sportsmen businessmen gentlemen snowmen craftsmen grandchildren schoolchildren
    wolves data media bacteria criteria phenomena fungi larvae cacti alumni townspeople folk
""".split()
)
SINGULAR_IN_S = set(
    """
    news physics mathematics maths economics politics gymnastics athletics bus gas lens series species means iris
    canvas atlas chaos cosmos virus circus campus cactus genius focus bonus chorus octopus walrus citrus census
    sinus status radius tennis basis crisis oasis thesis analysis diagnosis christmas measles mumps alas yes plus
    minus biceps billiards pancreas asparagus hippopotamus platypus crocus hibiscus fungus nucleus surplus trellis
    pelvis arthritis bias ibis tetanus homesickness thanks
""".split()
)
PAIRS_ONLY = set(
    """
    scissors trousers jeans pants shorts pyjamas pajamas tights leggings tweezers pliers binoculars goggles
    sunglasses overalls tongs shears
""".split()
)
PLURAL_NAMES = set(
    """
    alps andes netherlands himalayas pyrenees philippines lions tigers rovers wanderers kellers olympics
""".split()
)

NOT_COMPARATIVE = set(
    """
    other another former latter inner outer upper under over clever tender slender sober bitter eager proper super
    utter silver copper leather paper rubber amber ginger premier sinister improper minor junior senior together
    either neither however never ever forever after whenever wherever rather hereafter thereafter whatever moreover
    altogether nether linear popular familiar similar regular sheer queer mere near clear austere sincere severe
""".split()
)
NOT_SUPERLATIVE = set(
    """
    honest modest earnest west northwest southwest manifest dishonest immodest overwest east northeast southeast
    rest test
""".split()
)
COMPARATIVES = {"more", "less", "better", "worse", "further", "farther", "elder", "older", "fewer"}
SUPERLATIVES = {"most", "least", "best", "worst", "furthest", "farthest", "eldest"}
DEGREE_ADVERBS = set(
    """
    well far fast hard early late long soon much little often high low close near loud quick slow deep
""".split()
)

ORDINALS = set(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth sixtieth seventieth
    eightieth ninetieth hundredth thousandth
""".split()
)


def _table(text: str) -> dict[str, str]:
    return {
        word: feats
        for line in text.split("\n")
        if line.strip()
        for words, feats in [line.rsplit(" ", 1)]
        for word in words.split()
    }


PRONOUNS = _table("""
i Case=Nom|Number=Sing|Person=1|PronType=Prs
me Case=Acc|Number=Sing|Person=1|PronType=Prs
my Case=Gen|Number=Sing|Person=1|Poss=Yes|PronType=Prs
mine Number=Sing|Person=1|Poss=Yes|PronType=Prs
myself Case=Acc|Number=Sing|Person=1|PronType=Prs|Reflex=Yes
we Case=Nom|Number=Plur|Person=1|PronType=Prs
us 's Case=Acc|Number=Plur|Person=1|PronType=Prs
our Case=Gen|Number=Plur|Person=1|Poss=Yes|PronType=Prs
ours Number=Plur|Person=1|Poss=Yes|PronType=Prs
ourselves Case=Acc|Number=Plur|Person=1|PronType=Prs|Reflex=Yes
your Case=Gen|Person=2|Poss=Yes|PronType=Prs
yours Person=2|Poss=Yes|PronType=Prs
yourself Case=Acc|Number=Sing|Person=2|PronType=Prs|Reflex=Yes
yourselves Case=Acc|Number=Plur|Person=2|PronType=Prs|Reflex=Yes
he Case=Nom|Gender=Masc|Number=Sing|Person=3|PronType=Prs
him Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs
himself Case=Acc|Gender=Masc|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
she Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs
hers Gender=Fem|Number=Sing|Person=3|Poss=Yes|PronType=Prs
herself Case=Acc|Gender=Fem|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
its Case=Gen|Gender=Neut|Number=Sing|Person=3|Poss=Yes|PronType=Prs
itself Case=Acc|Gender=Neut|Number=Sing|Person=3|PronType=Prs|Reflex=Yes
they Case=Nom|Number=Plur|Person=3|PronType=Prs
them Case=Acc|Number=Plur|Person=3|PronType=Prs
their Case=Gen|Number=Plur|Person=3|Poss=Yes|PronType=Prs
theirs Number=Plur|Person=3|Poss=Yes|PronType=Prs
themselves Case=Acc|Number=Plur|Person=3|PronType=Prs|Reflex=Yes
one Number=Sing|Person=3|PronType=Prs
this that Number=Sing|PronType=Dem
these those Number=Plur|PronType=Dem
someone somebody something anyone anybody anything Number=Sing|PronType=Ind
everyone everybody everything Number=Sing|PronType=Tot
nobody nothing no-one Number=Sing|PronType=Neg
none PronType=Neg
""")
DETERMINERS = _table("""
the Definite=Def|PronType=Art
a an Definite=Ind|PronType=Art
this that Number=Sing|PronType=Dem
these those Number=Plur|PronType=Dem
some any another either such quite PronType=Ind
every each all both PronType=Tot
no neither PronType=Neg
which what whichever whatever PronType=Int
half NumForm=Word|NumType=Frac|PronType=Ind
""")
ADVERBS = _table("""
here there then now thus hence PronType=Dem
when where why how whenever wherever PronType=Int
always everywhere PronType=Tot
never nowhere PronType=Neg
ever somewhere anywhere somehow either PronType=Ind
once twice thrice NumForm=Word|NumType=Mult
""")
RELATIVE = {"who", "whom", "that", "which", "whose", "where", "when", "why"}
INTERROGATIVE = {"who", "whom", "what", "which", "whose", "whoever", "whatever"}
ENDING_SUBJECT = ("nsubj", "nsubj:pass", "nsubj:outer")


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


def features(words: Words) -> list[dict[str, str]]:
    """The features of each word: {"Number": "Sing", ...}; an InputProblem names a word of which the rules cannot know."""
    feats: list[dict[str, str]] = [{} for _ in words.forms]
    for word, tag in enumerate(words.upos):
        if tag not in ("VERB", "AUX"):
            feats[word] = _overridden(_nominal(words, word), words.overrides[word])
    # a predicate first, then what is coordinated with it: "has washed and dried"
    for word in sorted(range(len(words.forms)), key=lambda word: (words.relations[word] == "conj", word)):
        chain = words.chain(word)
        if words.relations[word] not in ("aux", "aux:pass", "cop") and chain:
            _predicate(words, feats, word, chain)
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


def _predicate(words: Words, feats: list[dict[str, str]], word: int, chain: list[int]) -> None:
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


GERUND_RELATIONS = {"acl", "xcomp", "amod", "csubj", "csubj:pass", "ccomp", "compound", "nsubj", "obj", "appos"}
IMPERATIVE_RELATIONS = {"root", "parataxis", "ccomp"}


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
    raise InputProblem(f"word {verb + 1} {form!r} can be past or present here; write feat=Tense=Past or feat=Tense=Pres")


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
