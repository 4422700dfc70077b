"""What a story of the small world is: seven kinds of sentence in their order, each with a few ways to say it."""

from collections.abc import Callable

from . import phrases as say
from .generator import Pen
from .lexicon import COUNTS, FEELINGS, KIN, MOODS, RELATIONS, TRAVEL, WEATHER
from .phrases import PLURAL, SINGULAR


def habit(pen: Pen) -> None:
    """Every Monday Anna goes to the market with her brother."""
    both = say.company(pen) == PLURAL
    way = pen.one_of({"every": 2, "likes": 2, "lives": 1})
    if way == "every":
        say.day(pen, "every")
        say.name(pen, "nsubj", "verb")
        say.verb(pen, "goes", SINGULAR, "Pres", lemma="go")
        say.the_place(pen, "obl", "verb", "to")
        if both:
            pen.write("with", "ADP", "case", "companion")
            say.companion(pen, "obl", "verb")
    elif way == "likes":
        say.name(pen, "nsubj", "verb")
        if both:
            pen.write("and", "CCONJ", "cc", "companion")
            say.companion(pen, "conj", "who")
        number = PLURAL if both else SINGULAR
        say.verb(pen, "like" if both else "likes", number, "Pres", lemma="like")
        say.the_place(pen, "obj", "verb")
        pen.write("and", "CCONJ", "cc", "again")
        say.verb(pen, "go" if both else "goes", number, "Pres", "conj", "verb", "again", "go")
        pen.write("there", "ADV", "advmod", "again", None, "PronType=Dem")
        say.day(pen, "every", "again")
    else:
        say.name(pen, "nsubj", "verb")
        pen.write(",", "PUNCT", "punct", "life")
        pen.write("who", "PRON", "nsubj", "life", None, "PronType=Rel")
        say.verb(pen, "lives", SINGULAR, "Pres", "acl:relcl", "who", "life", "live")
        say.the_place(pen, "obl", "life", "near")
        pen.write(",", "PUNCT", "punct", "life")
        say.verb(pen, "goes", SINGULAR, "Pres", lemma="go")
        pen.write("there", "ADV", "advmod", "verb", None, "PronType=Dem")
        if both:
            pen.write("with", "ADP", "case", "companion")
            say.companion(pen, "obl", "verb")
        say.day(pen, "every")
    say.stop(pen)


def journey(pen: Pen) -> None:
    """Last Monday they took their umbrellas because it was raining."""
    way = pen.one_of({"weather": 2, "walk": 1, "ride": 1})
    say.day(pen, "last")
    number = say.travellers(pen)
    if way == "weather":
        weather, upos, one, many = WEATHER[pen.settle("weather")]
        say.verb(pen, "took", number)
        say.whose(pen, "item", number)
        say.noun(pen, one if number == SINGULAR else many, one, number, "obj", "verb", "item")
        pen.write("because", "SCONJ", "mark", "weather")
        _weather(pen, weather, upos, "advcl", "verb")
    elif way == "walk":
        say.verb(pen, "left", number)
        say.the(pen, "house")
        say.noun(pen, "house", "house", SINGULAR, "obj", "verb", "house")
        pen.write(pen.pick(["early", "late"]), "ADV", "advmod", "verb")
        pen.write("and", "CCONJ", "cc", "walk")
        say.verb(pen, pen.pick(["walked", "hurried", "ran"]), number, "Past", "conj", "verb", "walk")
        pen.write("there", "ADV", "advmod", "walk", None, "PronType=Dem")
    else:
        say.verb(pen, "went", number)
        pen.write("there", "ADV", "advmod", "verb", None, "PronType=Dem")
        pen.write("by", "ADP", "case", "travel")
        travel = pen.pick(TRAVEL)
        say.noun(pen, travel, travel, SINGULAR, "obl", "verb", "travel")
    say.stop(pen)


def _weather(pen: Pen, weather: str, upos: str, deprel: str, head: str, still: bool = False) -> None:
    """it was raining, it was still cold"""
    say.pronoun(pen, "Neut", 0, "expl" if upos == "VERB" else "nsubj", "weather", "weather")
    say.be(pen, SINGULAR, "weather", "aux" if upos == "VERB" else "cop")
    if still:
        pen.write("still", "ADV", "advmod", "weather")
    if upos == "VERB":
        pen.write(weather, "VERB", deprel, head, weather.removesuffix("ing"), "Tense=Pres|VerbForm=Part", "weather")
    else:
        say.adjective(pen, weather, deprel, head, "weather")


def scene(pen: Pen) -> None:
    """The apples near the old gates were sweet."""
    if not pen.settle("shown"):
        place, number = say.place(pen), pen.one_of({SINGULAR: 1, PLURAL: 1})
        say.the(pen, "people")
        say.noun(pen, place.worker if number == SINGULAR else place.workers, place.worker, number, "nsubj", "mood",
                 "people", "worker" if number == SINGULAR else None)
        if pen.one_of(["works", "stands"]) == "works":
            pen.write("who", "PRON", "nsubj", "work", None, "PronType=Rel")
            say.verb(pen, "works" if number == SINGULAR else "work", number, "Pres", "acl:relcl", "people", "work",
                     "work")
            pen.write("there", "ADV", "advmod", "work", None, "PronType=Dem")
        else:
            say.at_spot(pen, RELATIONS, "nmod", "people")
        say.be(pen, number, "mood")
        say.adjective(pen, pen.pick(MOODS), "root", "root", "mood")
        say.stop(pen, "mood")
        return
    way, number = pen.one_of({"quality": 2, "there": 1, "saw": 1}), pen.settle("number")
    if way == "quality":
        say.the_thing(pen, "nsubj", "quality")
        say.at_spot(pen, RELATIONS, "nmod", "thing")
        say.be(pen, number, "quality")
        if pen.one_of(["plain", "very"]) == "very":
            pen.write("very", "ADV", "advmod", "quality")
        say.adjective(pen, pen.pick(say.thing(pen).qualities), "root", "root", "quality")
        say.stop(pen, "quality")
        return
    if way == "there":
        pen.write("there", "PRON", "expl", "verb")
        pen.write("was" if number == SINGULAR else "were", "VERB", "root", "root", "be", say.FINITE["Past", number],
                  "verb")
        say.a_thing(pen, "nsubj", "verb", COUNTS)
    else:
        say.hero(pen)
        say.verb(pen, "saw", SINGULAR)
        say.a_thing(pen, "obj", "verb", [*COUNTS, "some"])
    say.at_spot(pen, RELATIONS, "obl", "verb")
    say.stop(pen)


def wish(pen: Pen) -> None:
    """She wanted to buy them."""
    way = pen.one_of({"hero": 3, "asked": 2, "companion": 2 if say.company(pen) == PLURAL else 0})
    if way == "companion":
        say.companion(pen, "nsubj", "verb")
    else:
        say.hero(pen)
    if way == "asked":
        say.verb(pen, "asked", SINGULAR)
        say.the_worker(pen, "obj", "verb")
        pen.write("about", "ADP", "case", "thing")
        say.the_thing(pen, "obl", "verb")
    else:
        say.verb(pen, "wanted", SINGULAR)
        say.infinitive(pen, say.place(pen).wishes, "verb")
        say.the_thing_again(pen, "obj", "deed")
    say.stop(pen)


def offer(pen: Pen) -> None:
    """The seller smiled and gave her the apples."""
    say.the_worker(pen, "nsubj", "verb")
    if pen.one_of(["smiled", "greeted"]) == "smiled":
        say.verb(pen, "smiled", SINGULAR)
    else:
        say.verb(pen, "greeted", SINGULAR)
        _receivers(pen, "obj", "verb")
    pen.write("and", "CCONJ", "cc", "offer")
    say.verb(pen, pen.pick(say.place(pen).offers), SINGULAR, "Past", "conj", "verb", "offer")
    _receivers(pen, "iobj", "offer")
    say.the_thing(pen, "obj", "offer")
    say.stop(pen)


def _receivers(pen: Pen, deprel: str, head: str) -> None:
    """her, him or them"""
    both = say.company(pen) == PLURAL
    say.pronoun(pen, PLURAL if both else pen.settle("gender"), 1, deprel, head, "group" if both else "hero")


def thanks(pen: Pen) -> None:
    """She thanked him and looked at them again."""
    both = say.company(pen) == PLURAL
    way = pen.one_of({"thanks": 2, "joy": 1, "companion": 1 if both else 0})
    if way == "joy":
        say.the_thing(pen, "nsubj", "verb")
        say.verb(pen, "made", pen.settle("number"))
        _receivers(pen, "obj", "verb")
        pen.write("very", "ADV", "advmod", "feeling")
        say.adjective(pen, pen.pick(FEELINGS), "xcomp", "verb", "feeling")
    elif way == "companion":
        say.companion(pen, "nsubj", "verb")
        say.verb(pen, "saw", SINGULAR)
        say.the_thing(pen, "obj", "verb")
        pen.write("and", "CCONJ", "cc", "smile")
        say.verb(pen, "smiled", SINGULAR, "Past", "conj", "verb", "smile")
    else:
        say.hero(pen)
        say.verb(pen, "thanked", SINGULAR)
        if pen.one_of(["pronoun", "noun"]) == "pronoun":
            say.pronoun(pen, pen.settle("worker"), 1, "obj", "verb", "worker")
        else:
            say.the_worker(pen, "obj", "verb")
        pen.write("and", "CCONJ", "cc", "look")
        say.verb(pen, "looked", SINGULAR, "Past", "conj", "verb", "look")
        pen.write("at", "ADP", "case", "thing")
        say.the_thing(pen, "obl", "look")
        pen.write("again", "ADV", "advmod", "look")
    say.stop(pen)


def ending(pen: Pen) -> None:
    """Next Monday she wants to go there again."""
    way = pen.one_of({"weather": 1, "told": 1, "next": 1, "home": 1})
    if way == "weather":
        weather, upos = WEATHER[pen.settle("weather")][:2]
        _weather(pen, weather, upos, "root", "root", still=True)
        pen.write("when", "ADV", "advmod", "verb", None, "PronType=Rel")
        number = say.travellers(pen)
        say.verb(pen, "came", number, "Past", "advcl", "weather")
        pen.write("home", "ADV", "advmod", "verb")
        say.stop(pen, "weather")
        return
    if way == "told":
        pen.write("in", "ADP", "case", "evening")
        say.the(pen, "evening")
        say.noun(pen, "evening", "evening", SINGULAR, "obl", "verb", "evening")
        say.hero(pen)
        say.verb(pen, "told", SINGULAR)
        say.whose(pen, "kin")
        kin = pen.pick([kin for kin in KIN if kin != pen.settle("companion")])
        say.noun(pen, kin, kin, SINGULAR, "obj", "verb", "kin")
        pen.write("about", "ADP", "case", "place")
        say.the_place(pen, "obl", "verb")
    elif way == "next":
        say.day(pen, "next")
        number = say.travellers(pen)
        say.verb(pen, "wants" if number == SINGULAR else "want", number, "Pres", lemma="want")
        say.infinitive(pen, "go", "verb")
        pen.write("there", "ADV", "advmod", "deed", None, "PronType=Dem")
        pen.write("again", "ADV", "advmod", "deed")
    else:
        pen.write("at", "ADP", "case", "home")
        say.noun(pen, "home", "home", SINGULAR, "obl", "verb", "home")
        say.hero(pen)
        deed = pen.one_of(["read", "drank", "played", "wrote"], ["read", "drank", "played", "wrote"])
        say.verb(pen, deed, SINGULAR)
        if deed in ("read", "wrote"):
            pen.write("a", "DET", "det", "object", "a", "Definite=Ind|PronType=Art")
            form = "book" if deed == "read" else "letter"
            say.noun(pen, form, form, SINGULAR, "obj", "verb", "object")
        elif deed == "drank":
            pen.write("some", "DET", "det", "object", None, "PronType=Ind")
            say.noun(pen, "water", "water", SINGULAR, "obj", "verb", "object")
        else:
            say.the(pen, "object")
            say.noun(pen, "piano", "piano", SINGULAR, "obj", "verb", "object")
    say.stop(pen)


LONGEST = 80  # wordpieces that hold every story as a pair, [CLS] and two [SEP] included
KINDS: dict[str, Callable[[Pen], None]] = {
    "habit": habit, "journey": journey, "scene": scene, "wish": wish, "offer": offer, "thanks": thanks,
    "ending": ending}
