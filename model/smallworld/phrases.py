"""The phrases of the small world: noun phrases, pronouns and verbs with their features."""

from collections.abc import Sequence

from .generator import SentenceBuilder
from .lexicon import BY_NAME, DAYS, KIN, LEMMA, PLACES, WEATHER, Place, Thing, regulars

SINGULAR, PLURAL = "Sing", "Plur"
FINITE = {
    ("Past", SINGULAR): "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin",
    ("Past", PLURAL): "Mood=Ind|Number=Plur|Person=3|Tense=Past|VerbForm=Fin",
    ("Pres", SINGULAR): "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    ("Pres", PLURAL): "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin",
}
# nominative, accusative, possessive, by gender or "Plur"
PRONOUNS = {
    "Fem": ("she", "her", "her"),
    "Masc": ("he", "him", "his"),
    PLURAL: ("they", "them", "their"),
    "Neut": ("it", "it", "its"),
}

# The plan of a story: what is settled once and then holds, with its weights. A value may depend on another one.
PRIORS = {
    "place": lambda builder: {place.name: 1 for place in PLACES},
    "gender": lambda builder: {"Fem": 1, "Masc": 1},
    "hero": lambda builder: regulars(builder.settle("place"), builder.settle("gender")),
    "companion": lambda builder: {"": 4} | dict.fromkeys(KIN, 1),
    "day": lambda builder: dict.fromkeys(DAYS, 1),
    "weather": lambda builder: dict.fromkeys(range(len(WEATHER)), 1),
    "worker": lambda builder: {"Fem": 1, "Masc": 1},
    "thing": lambda builder: dict.fromkeys(range(len(place(builder).things)), 1),
    "number": lambda builder: {SINGULAR: 1, PLURAL: 1},
    "shown": lambda builder: {True: 3, False: 1},  # whether the scene already shows the thing
}


def place(builder: SentenceBuilder) -> Place:
    return BY_NAME[builder.settle("place")]


def thing(builder: SentenceBuilder) -> Thing:
    return place(builder).things[builder.settle("thing")]


def company(builder: SentenceBuilder) -> str:
    """The number of the travellers: the hero alone, or two of them."""
    return PLURAL if builder.settle("companion") else SINGULAR


def verb(
    builder: SentenceBuilder,
    form: str,
    number: str,
    tense: str = "Past",
    deprel: str = "root",
    head: str = "root",
    label: str = "verb",
    lemma: str | None = None,
) -> None:
    """A finite verb in the third person."""
    builder.write(form, "VERB", deprel, head, lemma or LEMMA[form], FINITE[tense, number], label)


def be(builder: SentenceBuilder, number: str, head: str, deprel: str = "cop") -> None:
    """was or were, as auxiliary or copula."""
    builder.write("was" if number == SINGULAR else "were", "AUX", deprel, head, "be", FINITE["Past", number])


def infinitive(builder: SentenceBuilder, forms: tuple[str, ...] | str, head: str, label: str = "deed") -> None:
    """to buy, below a verb of wanting."""
    builder.write("to", "PART", "mark", label)
    form = forms if isinstance(forms, str) else builder.pick(forms)
    builder.write(form, "VERB", "xcomp", head, form, "VerbForm=Inf", label)


def pronoun(builder: SentenceBuilder, kind: str, case: int, deprel: str, head: str, referent: str) -> None:
    """she, her (whom?), her (whose?): one form of a personal pronoun."""
    form = PRONOUNS[kind][case]
    gender = "" if kind == PLURAL else f"Gender={kind}|"
    number = PLURAL if kind == PLURAL else SINGULAR
    feats = f"Case={('Nom', 'Acc', 'Gen')[case]}|{gender}Number={number}|Person=3"
    feats += "|Poss=Yes|PronType=Prs" if case == 2 else "|PronType=Prs"
    builder.write(form, "PRON", deprel, head, PRONOUNS[kind][2 if case == 2 else 0], feats, referent=referent)


def name(builder: SentenceBuilder, deprel: str, head: str, label: str = "who") -> None:
    hero_name = builder.settle("hero", str)
    builder.write(hero_name, "PROPN", deprel, head, hero_name, "Number=Sing", label, "hero")


def hero(builder: SentenceBuilder, deprel: str = "nsubj", head: str = "verb") -> None:
    """The hero again: by a pronoun or by name."""
    if builder.one_of({"pronoun": 1, "name": 1}) == "name":
        name(builder, deprel, head)
    else:
        pronoun(builder, builder.settle("gender"), 0 if deprel == "nsubj" else 1, deprel, head, "hero")


def travellers(builder: SentenceBuilder, deprel: str = "nsubj", head: str = "verb") -> str:
    """Those who are on the way, the hero alone or both, by pronoun or by name; returns their number."""
    number = company(builder)
    if number == PLURAL:
        pronoun(builder, PLURAL, 0 if deprel == "nsubj" else 1, deprel, head, "group")
    else:
        hero(builder, deprel, head)
    return number


def whose(builder: SentenceBuilder, head: str, number: str = SINGULAR) -> None:
    """her, his, their."""
    pronoun(
        builder,
        PLURAL if number == PLURAL else builder.settle("gender"),
        2,
        "nmod:poss",
        head,
        "group" if number == PLURAL else "hero",
    )


def companion(builder: SentenceBuilder, deprel: str, head: str, label: str = "companion") -> None:
    """her brother"""
    whose(builder, label)
    builder.write(builder.settle("companion"), "NOUN", deprel, head, None, "Number=Sing", label, "companion")


def noun(
    builder: SentenceBuilder,
    form: str,
    lemma: str,
    number: str,
    deprel: str,
    head: str,
    label: str,
    referent: str | None = None,
) -> None:
    builder.write(form, "NOUN", deprel, head, lemma, f"Number={number}", label, referent)


def the(builder: SentenceBuilder, head: str) -> None:
    builder.write("the", "DET", "det", head, "the", "Definite=Def|PronType=Art")


def adjective(builder: SentenceBuilder, form: str, deprel: str, head: str, label: str | None = None) -> None:
    builder.write(form, "ADJ", deprel, head, form, "Degree=Pos", label)


def the_place(builder: SentenceBuilder, deprel: str, head: str, preposition: str | None = None) -> None:
    if preposition:
        builder.write(preposition, "ADP", "case", "place")
    the(builder, "place")
    place_name = builder.settle("place", str)
    noun(builder, place_name, place_name, SINGULAR, deprel, head, "place", "place")


def the_worker(builder: SentenceBuilder, deprel: str, head: str) -> None:
    the(builder, "worker")
    noun(builder, place(builder).worker, place(builder).worker, SINGULAR, deprel, head, "worker", "worker")


def _thing_noun(builder: SentenceBuilder, number: str, deprel: str, head: str) -> None:
    things = place(builder).things
    builder.settle("thing", lambda index: things[index].one if number == SINGULAR else things[index].many)
    noun(
        builder,
        thing(builder).one if number == SINGULAR else thing(builder).many,
        thing(builder).one,
        number,
        deprel,
        head,
        "thing",
        "thing",
    )


def the_thing(builder: SentenceBuilder, deprel: str, head: str) -> None:
    """the apples"""
    the(builder, "thing")
    _thing_noun(builder, builder.settle("number"), deprel, head)


def a_thing(builder: SentenceBuilder, deprel: str, head: str, counts: Sequence[str] = ("some",)) -> None:
    """a red apple, an old map, some red apples"""
    number, quality = builder.settle("number"), None
    if builder.one_of({"plain": 1, "described": 1}) == "described":
        quality = builder.one_of(thing(builder).qualities)
    if number == SINGULAR:
        following = quality or thing(builder).one
        builder.write("an" if following[0] in "aeio" else "a", "DET", "det", "thing", "a", "Definite=Ind|PronType=Art")
    else:
        count = builder.pick(counts)
        if count in ("two", "three"):
            builder.write(count, "NUM", "nummod", "thing", None, "NumForm=Word|NumType=Card")
        else:
            builder.write(
                count,
                "ADJ" if count == "many" else "DET",
                "amod" if count == "many" else "det",
                "thing",
                None,
                "Degree=Pos" if count == "many" else "PronType=Ind",
            )
    if quality:
        adjective(builder, quality, "amod", "thing")
    _thing_noun(builder, number, deprel, head)


def the_thing_again(builder: SentenceBuilder, deprel: str, head: str) -> None:
    """it or them where the scene shows the thing, else by its noun"""
    if builder.settle("shown") and builder.one_of({"pronoun": 2, "noun": 1}) == "pronoun":
        plural = builder.settle("number") == PLURAL
        pronoun(builder, PLURAL if plural else "Neut", 1, deprel, head, "thing")
    else:
        the_thing(builder, deprel, head)


def at_spot(builder: SentenceBuilder, relations: Sequence[str], deprel: str, head: str) -> None:
    """near the old gates: its number has nothing to do with the verb's, and tempts"""
    builder.write(builder.pick(relations), "ADP", "case", "spot")
    the(builder, "spot")
    spots = place(builder).spots
    number = builder.one_of({SINGULAR: 1, PLURAL: 1})
    form = builder.pick([spot[0 if number == SINGULAR else 1] for spot in spots])
    lemma = next(spot[0] for spot in spots if form in spot)
    noun(builder, form, lemma, number, deprel, head, "spot")


def day(builder: SentenceBuilder, which: str, head: str = "verb") -> None:
    """every Monday, last Monday, next Monday"""
    if which == "every":
        builder.write("every", "DET", "det", "day", None, "PronType=Tot")
    else:
        adjective(builder, which, "amod", "day")
    weekday = builder.settle("day", str)
    builder.write(weekday, "PROPN", "obl:unmarked", head, weekday, "Number=Sing", "day")


def stop(builder: SentenceBuilder, head: str = "verb") -> None:
    builder.write(".", "PUNCT", "punct", head)
