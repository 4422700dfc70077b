"""The phrases of the small world: noun phrases, pronouns and verbs with their features, written by a pen."""

from collections.abc import Sequence

from .generator import Pen
from .lexicon import BY_NAME, DAYS, KIN, LEMMA, PLACES, WEATHER, Place, Thing, regulars

SINGULAR, PLURAL = "Sing", "Plur"
FINITE = {("Past", SINGULAR): "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin",
          ("Past", PLURAL): "Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin",
          ("Pres", SINGULAR): "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
          ("Pres", PLURAL): "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"}
# nominative, accusative, possessive, by gender or "Plur"
PRONOUNS = {"Fem": ("she", "her", "her"), "Masc": ("he", "him", "his"), PLURAL: ("they", "them", "their"),
            "Neut": ("it", "it", "its")}

# The plan of a story: what is settled once and then holds, with its chances. A value may ask for another one first.
PRIORS = {
    "place": lambda pen: {place.name: 1 for place in PLACES},
    "gender": lambda pen: {"Fem": 1, "Masc": 1},
    "hero": lambda pen: regulars(pen.settle("place"), pen.settle("gender")),
    "companion": lambda pen: {"": 4} | dict.fromkeys(KIN, 1),
    "day": lambda pen: dict.fromkeys(DAYS, 1),
    "weather": lambda pen: dict.fromkeys(range(len(WEATHER)), 1),
    "worker": lambda pen: {"Fem": 1, "Masc": 1},
    "thing": lambda pen: dict.fromkeys(range(len(place(pen).things)), 1),
    "number": lambda pen: {SINGULAR: 1, PLURAL: 1},
    "shown": lambda pen: {True: 3, False: 1},  # whether the scene already shows the thing
}


def place(pen: Pen) -> Place:
    return BY_NAME[pen.settle("place")]


def thing(pen: Pen) -> Thing:
    return place(pen).things[pen.settle("thing")]


def company(pen: Pen) -> str:
    """The number of the travellers: the hero alone, or two of them."""
    return PLURAL if pen.settle("companion") else SINGULAR


def verb(pen: Pen, form: str, number: str, tense: str = "Past", deprel: str = "root", head: str = "root",
         label: str = "verb", lemma: str | None = None) -> None:
    """A finite verb in the third person."""
    pen.write(form, "VERB", deprel, head, lemma or LEMMA[form], FINITE[tense, number], label)


def be(pen: Pen, number: str, head: str, deprel: str = "cop") -> None:
    """was or were, as auxiliary or copula."""
    pen.write("was" if number == SINGULAR else "were", "AUX", deprel, head, "be", FINITE["Past", number])


def infinitive(pen: Pen, forms: tuple[str, ...] | str, head: str, label: str = "deed") -> None:
    """to buy, below a verb of wanting."""
    pen.write("to", "PART", "mark", label)
    form = forms if isinstance(forms, str) else pen.pick(forms)
    pen.write(form, "VERB", "xcomp", head, form, "VerbForm=Inf", label)


def pronoun(pen: Pen, kind: str, case: int, deprel: str, head: str, referent: str) -> None:
    """she, her (whom?), her (whose?): one form of a personal pronoun."""
    form = PRONOUNS[kind][case]
    gender = "" if kind == PLURAL else f"Gender={kind}|"
    number = PLURAL if kind == PLURAL else SINGULAR
    feats = f"Case={('Nom', 'Acc', 'Gen')[case]}|{gender}Number={number}|Person=3"
    feats += "|Poss=Yes|PronType=Prs" if case == 2 else "|PronType=Prs"
    pen.write(form, "PRON", deprel, head, PRONOUNS[kind][2 if case == 2 else 0], feats, referent=referent)


def name(pen: Pen, deprel: str, head: str, label: str = "who") -> None:
    chosen = pen.settle("hero", str)
    pen.write(chosen, "PROPN", deprel, head, chosen, "Number=Sing", label, "hero")


def hero(pen: Pen, deprel: str = "nsubj", head: str = "verb") -> None:
    """The hero again: by a pronoun or by name."""
    if pen.one_of({"pronoun": 1, "name": 1}) == "name":
        name(pen, deprel, head)
    else:
        pronoun(pen, pen.settle("gender"), 0 if deprel == "nsubj" else 1, deprel, head, "hero")


def travellers(pen: Pen, deprel: str = "nsubj", head: str = "verb") -> str:
    """Those who are on the way, the hero alone or both, by pronoun or by name; returns their number."""
    number = company(pen)
    if number == PLURAL:
        pronoun(pen, PLURAL, 0 if deprel == "nsubj" else 1, deprel, head, "group")
    else:
        hero(pen, deprel, head)
    return number


def whose(pen: Pen, head: str, number: str = SINGULAR) -> None:
    """her, his, their."""
    pronoun(pen, PLURAL if number == PLURAL else pen.settle("gender"), 2, "nmod:poss", head,
            "group" if number == PLURAL else "hero")


def companion(pen: Pen, deprel: str, head: str, label: str = "companion") -> None:
    """her brother"""
    whose(pen, label)
    pen.write(pen.settle("companion"), "NOUN", deprel, head, None, "Number=Sing", label, "companion")


def noun(pen: Pen, form: str, lemma: str, number: str, deprel: str, head: str, label: str,
         referent: str | None = None) -> None:
    pen.write(form, "NOUN", deprel, head, lemma, f"Number={number}", label, referent)


def the(pen: Pen, head: str) -> None:
    pen.write("the", "DET", "det", head, "the", "Definite=Def|PronType=Art")


def adjective(pen: Pen, form: str, deprel: str, head: str, label: str | None = None) -> None:
    pen.write(form, "ADJ", deprel, head, form, "Degree=Pos", label)


def the_place(pen: Pen, deprel: str, head: str, preposition: str | None = None) -> None:
    if preposition:
        pen.write(preposition, "ADP", "case", "place")
    the(pen, "place")
    chosen = pen.settle("place", str)
    noun(pen, chosen, chosen, SINGULAR, deprel, head, "place", "place")


def the_worker(pen: Pen, deprel: str, head: str) -> None:
    the(pen, "worker")
    noun(pen, place(pen).worker, place(pen).worker, SINGULAR, deprel, head, "worker", "worker")


def _named(pen: Pen, number: str, deprel: str, head: str) -> None:
    found = place(pen).things
    pen.settle("thing", lambda index: found[index].one if number == SINGULAR else found[index].many)
    noun(pen, thing(pen).one if number == SINGULAR else thing(pen).many, thing(pen).one, number, deprel, head,
         "thing", "thing")


def the_thing(pen: Pen, deprel: str, head: str) -> None:
    """the apples"""
    the(pen, "thing")
    _named(pen, pen.settle("number"), deprel, head)


def a_thing(pen: Pen, deprel: str, head: str, counts: Sequence[str] = ("some",)) -> None:
    """a red apple, an old map, some red apples"""
    number, quality = pen.settle("number"), None
    if pen.one_of({"plain": 1, "described": 1}) == "described":
        quality = pen.one_of(thing(pen).qualities)
    if number == SINGULAR:
        following = quality or thing(pen).one
        pen.write("an" if following[0] in "aeio" else "a", "DET", "det", "thing", "a",
                  "Definite=Ind|PronType=Art")
    else:
        count = pen.pick(counts)
        if count in ("two", "three"):
            pen.write(count, "NUM", "nummod", "thing", None, "NumForm=Word|NumType=Card")
        else:
            pen.write(count, "ADJ" if count == "many" else "DET", "amod" if count == "many" else "det", "thing", None,
                      "Degree=Pos" if count == "many" else "PronType=Ind")
    if quality:
        adjective(pen, quality, "amod", "thing")
    _named(pen, number, deprel, head)


def the_thing_again(pen: Pen, deprel: str, head: str) -> None:
    """it or them where the thing was shown before, else by its noun"""
    if pen.settle("shown") and pen.one_of({"pronoun": 2, "noun": 1}) == "pronoun":
        plural = pen.settle("number") == PLURAL
        pronoun(pen, PLURAL if plural else "Neut", 1, deprel, head, "thing")
    else:
        the_thing(pen, deprel, head)


def at_spot(pen: Pen, relations: Sequence[str], deprel: str, head: str) -> None:
    """near the old gates: its number has nothing to do with the verb's, and tempts"""
    pen.write(pen.pick(relations), "ADP", "case", "spot")
    the(pen, "spot")
    spots = place(pen).spots
    number = pen.one_of({SINGULAR: 1, PLURAL: 1})
    form = pen.pick([spot[0 if number == SINGULAR else 1] for spot in spots])
    lemma = next(spot[0] for spot in spots if form in spot)
    noun(pen, form, lemma, number, deprel, head, "spot")


def day(pen: Pen, which: str, head: str = "verb") -> None:
    """every Monday, last Monday, next Monday"""
    if which == "every":
        pen.write("every", "DET", "det", "day", None, "PronType=Tot")
    else:
        adjective(pen, which, "amod", "day")
    chosen = pen.settle("day", str)
    pen.write(chosen, "PROPN", "obl:unmarked", head, chosen, "Number=Sing", "day")


def stop(pen: Pen, head: str = "verb") -> None:
    pen.write(".", "PUNCT", "punct", head)

