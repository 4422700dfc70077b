"""What a story of the small world is: seven kinds of sentence in their order, each with a few variants."""

from collections.abc import Callable

from . import phrases
from .generator import SentenceBuilder
from .lexicon import COUNTS, FEELINGS, KIN, MOODS, RELATIONS, TRAVEL, WEATHER
from .phrases import PLURAL, SINGULAR


def habit(builder: SentenceBuilder) -> None:
    """Every Monday Anna goes to the market with her brother."""
    both = phrases.company(builder) == PLURAL
    variant = builder.one_of({"every": 2, "likes": 2, "lives": 1})
    if variant == "every":
        phrases.day(builder, "every")
        phrases.name(builder, "nsubj", "verb")
        phrases.verb(builder, "goes", SINGULAR, "Pres", lemma="go")
        phrases.the_place(builder, "obl", "verb", "to")
        if both:
            builder.write("with", "ADP", "case", "companion")
            phrases.companion(builder, "obl", "verb")
    elif variant == "likes":
        phrases.name(builder, "nsubj", "verb")
        if both:
            builder.write("and", "CCONJ", "cc", "companion")
            phrases.companion(builder, "conj", "who")
        number = PLURAL if both else SINGULAR
        phrases.verb(builder, "like" if both else "likes", number, "Pres", lemma="like")
        phrases.the_place(builder, "obj", "verb")
        builder.write("and", "CCONJ", "cc", "again")
        phrases.verb(builder, "go" if both else "goes", number, "Pres", "conj", "verb", "again", "go")
        builder.write("there", "ADV", "advmod", "again", None, "PronType=Dem")
        phrases.day(builder, "every", "again")
    else:
        phrases.name(builder, "nsubj", "verb")
        builder.write(",", "PUNCT", "punct", "life")
        builder.write("who", "PRON", "nsubj", "life", None, "PronType=Rel")
        phrases.verb(builder, "lives", SINGULAR, "Pres", "acl:relcl", "who", "life", "live")
        phrases.the_place(builder, "obl", "life", "near")
        builder.write(",", "PUNCT", "punct", "life")
        phrases.verb(builder, "goes", SINGULAR, "Pres", lemma="go")
        builder.write("there", "ADV", "advmod", "verb", None, "PronType=Dem")
        if both:
            builder.write("with", "ADP", "case", "companion")
            phrases.companion(builder, "obl", "verb")
        phrases.day(builder, "every")
    phrases.stop(builder)


def journey(builder: SentenceBuilder) -> None:
    """Last Monday they took their umbrellas because it was raining."""
    variant = builder.one_of({"weather": 2, "walk": 1, "ride": 1})
    phrases.day(builder, "last")
    number = phrases.travellers(builder)
    if variant == "weather":
        weather, upos, one, many = WEATHER[builder.settle("weather")]
        phrases.verb(builder, "took", number)
        phrases.whose(builder, "item", number)
        phrases.noun(builder, one if number == SINGULAR else many, one, number, "obj", "verb", "item")
        builder.write("because", "SCONJ", "mark", "weather")
        _weather(builder, weather, upos, "advcl", "verb")
    elif variant == "walk":
        phrases.verb(builder, "left", number)
        phrases.the(builder, "house")
        phrases.noun(builder, "house", "house", SINGULAR, "obj", "verb", "house")
        builder.write(builder.pick(["early", "late"]), "ADV", "advmod", "verb")
        builder.write("and", "CCONJ", "cc", "walk")
        phrases.verb(builder, builder.pick(["walked", "hurried", "ran"]), number, "Past", "conj", "verb", "walk")
        builder.write("there", "ADV", "advmod", "walk", None, "PronType=Dem")
    else:
        phrases.verb(builder, "went", number)
        builder.write("there", "ADV", "advmod", "verb", None, "PronType=Dem")
        builder.write("by", "ADP", "case", "travel")
        travel = builder.pick(TRAVEL)
        phrases.noun(builder, travel, travel, SINGULAR, "obl", "verb", "travel")
    phrases.stop(builder)


def _weather(builder: SentenceBuilder, weather: str, upos: str, deprel: str, head: str, still: bool = False) -> None:
    """it was raining, it was still cold"""
    phrases.pronoun(builder, "Neut", 0, "expl" if upos == "VERB" else "nsubj", "weather", "weather")
    phrases.be(builder, SINGULAR, "weather", "aux" if upos == "VERB" else "cop")
    if still:
        builder.write("still", "ADV", "advmod", "weather")
    if upos == "VERB":
        builder.write(weather, "VERB", deprel, head, weather.removesuffix("ing"), "Tense=Pres|VerbForm=Part", "weather")
    else:
        phrases.adjective(builder, weather, deprel, head, "weather")


def scene(builder: SentenceBuilder) -> None:
    """The apples near the old gates were sweet."""
    if not builder.settle("shown"):
        place, number = phrases.place(builder), builder.one_of({SINGULAR: 1, PLURAL: 1})
        phrases.the(builder, "people")
        phrases.noun(
            builder,
            place.worker if number == SINGULAR else place.workers,
            place.worker,
            number,
            "nsubj",
            "mood",
            "people",
            "worker" if number == SINGULAR else None,
        )
        if builder.one_of(["works", "stands"]) == "works":
            builder.write("who", "PRON", "nsubj", "work", None, "PronType=Rel")
            phrases.verb(
                builder, "works" if number == SINGULAR else "work", number, "Pres", "acl:relcl", "people", "work", "work"
            )
            builder.write("there", "ADV", "advmod", "work", None, "PronType=Dem")
        else:
            phrases.at_spot(builder, RELATIONS, "nmod", "people")
        phrases.be(builder, number, "mood")
        phrases.adjective(builder, builder.pick(MOODS), "root", "root", "mood")
        phrases.stop(builder, "mood")
        return
    variant, number = builder.one_of({"quality": 2, "there": 1, "saw": 1}), builder.settle("number")
    if variant == "quality":
        phrases.the_thing(builder, "nsubj", "quality")
        phrases.at_spot(builder, RELATIONS, "nmod", "thing")
        phrases.be(builder, number, "quality")
        if builder.one_of(["plain", "very"]) == "very":
            builder.write("very", "ADV", "advmod", "quality")
        phrases.adjective(builder, builder.pick(phrases.thing(builder).qualities), "root", "root", "quality")
        phrases.stop(builder, "quality")
        return
    if variant == "there":
        builder.write("there", "PRON", "expl", "verb")
        builder.write(
            "was" if number == SINGULAR else "were", "VERB", "root", "root", "be", phrases.FINITE["Past", number], "verb"
        )
        phrases.a_thing(builder, "nsubj", "verb", COUNTS)
    else:
        phrases.hero(builder)
        phrases.verb(builder, "saw", SINGULAR)
        phrases.a_thing(builder, "obj", "verb", [*COUNTS, "some"])
    phrases.at_spot(builder, RELATIONS, "obl", "verb")
    phrases.stop(builder)


def wish(builder: SentenceBuilder) -> None:
    """She wanted to buy them."""
    variant = builder.one_of({"hero": 3, "question": 2, "companion": 2 if phrases.company(builder) == PLURAL else 0})
    if variant == "companion":
        phrases.companion(builder, "nsubj", "verb")
    else:
        phrases.hero(builder)
    if variant == "question":
        phrases.verb(builder, "asked", SINGULAR)
        phrases.the_worker(builder, "obj", "verb")
        builder.write("about", "ADP", "case", "thing")
        phrases.the_thing(builder, "obl", "verb")
    else:
        phrases.verb(builder, "wanted", SINGULAR)
        phrases.infinitive(builder, phrases.place(builder).wishes, "verb")
        phrases.the_thing_again(builder, "obj", "deed")
    phrases.stop(builder)


def offer(builder: SentenceBuilder) -> None:
    """The seller smiled and gave her the apples."""
    phrases.the_worker(builder, "nsubj", "verb")
    if builder.one_of(["smiled", "greeted"]) == "smiled":
        phrases.verb(builder, "smiled", SINGULAR)
    else:
        phrases.verb(builder, "greeted", SINGULAR)
        _receivers(builder, "obj", "verb")
    builder.write("and", "CCONJ", "cc", "offer")
    phrases.verb(builder, builder.pick(phrases.place(builder).offers), SINGULAR, "Past", "conj", "verb", "offer")
    _receivers(builder, "iobj", "offer")
    phrases.the_thing(builder, "obj", "offer")
    phrases.stop(builder)


def _receivers(builder: SentenceBuilder, deprel: str, head: str) -> None:
    """her, him or them"""
    both = phrases.company(builder) == PLURAL
    phrases.pronoun(builder, PLURAL if both else builder.settle("gender"), 1, deprel, head, "group" if both else "hero")


def thanks(builder: SentenceBuilder) -> None:
    """She thanked him and looked at them again."""
    both = phrases.company(builder) == PLURAL
    variant = builder.one_of({"thanks": 2, "joy": 1, "companion": 1 if both else 0})
    if variant == "joy":
        phrases.the_thing(builder, "nsubj", "verb")
        phrases.verb(builder, "made", builder.settle("number"))
        _receivers(builder, "obj", "verb")
        builder.write("very", "ADV", "advmod", "feeling")
        phrases.adjective(builder, builder.pick(FEELINGS), "xcomp", "verb", "feeling")
    elif variant == "companion":
        phrases.companion(builder, "nsubj", "verb")
        phrases.verb(builder, "saw", SINGULAR)
        phrases.the_thing(builder, "obj", "verb")
        builder.write("and", "CCONJ", "cc", "smile")
        phrases.verb(builder, "smiled", SINGULAR, "Past", "conj", "verb", "smile")
    else:
        phrases.hero(builder)
        phrases.verb(builder, "thanked", SINGULAR)
        if builder.one_of(["pronoun", "noun"]) == "pronoun":
            phrases.pronoun(builder, builder.settle("worker"), 1, "obj", "verb", "worker")
        else:
            phrases.the_worker(builder, "obj", "verb")
        builder.write("and", "CCONJ", "cc", "look")
        phrases.verb(builder, "looked", SINGULAR, "Past", "conj", "verb", "look")
        builder.write("at", "ADP", "case", "thing")
        phrases.the_thing(builder, "obl", "look")
        builder.write("again", "ADV", "advmod", "look")
    phrases.stop(builder)


def ending(builder: SentenceBuilder) -> None:
    """Next Monday she wants to go there again."""
    variant = builder.one_of({"weather": 1, "evening": 1, "next": 1, "home": 1})
    if variant == "weather":
        weather, upos = WEATHER[builder.settle("weather")][:2]
        _weather(builder, weather, upos, "root", "root", still=True)
        builder.write("when", "ADV", "advmod", "verb", None, "PronType=Rel")
        number = phrases.travellers(builder)
        phrases.verb(builder, "came", number, "Past", "advcl", "weather")
        builder.write("home", "ADV", "advmod", "verb")
        phrases.stop(builder, "weather")
        return
    if variant == "evening":
        builder.write("in", "ADP", "case", "evening")
        phrases.the(builder, "evening")
        phrases.noun(builder, "evening", "evening", SINGULAR, "obl", "verb", "evening")
        phrases.hero(builder)
        phrases.verb(builder, "told", SINGULAR)
        phrases.whose(builder, "kin")
        kin = builder.pick([kin for kin in KIN if kin != builder.settle("companion")])
        phrases.noun(builder, kin, kin, SINGULAR, "obj", "verb", "kin")
        builder.write("about", "ADP", "case", "place")
        phrases.the_place(builder, "obl", "verb")
    elif variant == "next":
        phrases.day(builder, "next")
        number = phrases.travellers(builder)
        phrases.verb(builder, "wants" if number == SINGULAR else "want", number, "Pres", lemma="want")
        phrases.infinitive(builder, "go", "verb")
        builder.write("there", "ADV", "advmod", "deed", None, "PronType=Dem")
        builder.write("again", "ADV", "advmod", "deed")
    else:
        builder.write("at", "ADP", "case", "home")
        phrases.noun(builder, "home", "home", SINGULAR, "obl", "verb", "home")
        phrases.hero(builder)
        deed = builder.one_of(["read", "drank", "played", "wrote"], ["read", "drank", "played", "wrote"])
        phrases.verb(builder, deed, SINGULAR)
        if deed in ("read", "wrote"):
            builder.write("a", "DET", "det", "object", "a", "Definite=Ind|PronType=Art")
            form = "book" if deed == "read" else "letter"
            phrases.noun(builder, form, form, SINGULAR, "obj", "verb", "object")
        elif deed == "drank":
            builder.write("some", "DET", "det", "object", None, "PronType=Ind")
            phrases.noun(builder, "water", "water", SINGULAR, "obj", "verb", "object")
        else:
            phrases.the(builder, "object")
            phrases.noun(builder, "piano", "piano", SINGULAR, "obj", "verb", "object")
    phrases.stop(builder)


LONGEST = 80  # wordpieces that hold every story as a pair, [CLS] and two [SEP] included
KINDS: dict[str, Callable[[SentenceBuilder], None]] = {
    "habit": habit,
    "journey": journey,
    "scene": scene,
    "wish": wish,
    "offer": offer,
    "thanks": thanks,
    "ending": ending,
}
