"""The words of the small world: who lives there, which places there are, and what stands at each."""

from dataclasses import dataclass

NAMES = {
    "Fem": "Anna Clara Emma Nora".split(),
    "Masc": "Ben Felix Leo Oscar".split(),
}
KIN = {"sister": "Fem", "mother": "Fem", "brother": "Masc", "father": "Masc"}
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
# what the weather is, by a verb or an adjective, and what one takes along
WEATHER = (
    ("raining", "VERB", "umbrella", "umbrellas"),
    ("snowing", "VERB", "coat", "coats"),
    ("sunny", "ADJ", "hat", "hats"),
    ("dark", "ADJ", "lamp", "lamps"),
)
TRAVEL = "bus train tram bike".split()
MOODS = "busy tired friendly cheerful".split()
FEELINGS = "happy proud curious".split()
RELATIONS = "near behind beside".split()
COUNTS = "two three many".split()


@dataclass(frozen=True)
class Thing:
    """Something that stands at a place: singular, plural, and its qualities."""

    one: str
    many: str
    qualities: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A place, who works there, where things stand in it, which things, and what people do with them."""

    name: str
    worker: str
    workers: str
    spots: tuple[tuple[str, str], ...]
    things: tuple[Thing, ...]
    wishes: tuple[str, ...]  # what one wants to do with the things
    offers: tuple[str, ...]  # what the worker does with them for a visitor


def _place(name: str, worker: str, spots: str, things: str, wishes: str, offers: str) -> Place:
    one, many = worker.split("/")
    parsed = []
    for thing in things.split(";"):
        forms, qualities = thing.split(":")
        single, several = forms.strip().split("/")
        parsed.append(Thing(single, several, tuple(qualities.split())))
    return Place(
        name,
        one,
        many,
        tuple((a, b) for a, b in (spot.split("/") for spot in spots.split())),
        tuple(parsed),
        tuple(wishes.split()),
        tuple(offers.split()),
    )


PLACES = (
    _place(
        "market",
        "seller/sellers",
        "stall/stalls gate/gates",
        "apple/apples: red sweet; pear/pears: green sweet; basket/baskets: big new",
        "buy choose carry",
        "sold gave",
    ),
    _place(
        "library",
        "librarian/librarians",
        "shelf/shelves desk/desks",
        "book/books: old heavy; newspaper/newspapers: new thin; map/maps: old large",
        "read borrow open",
        "lent brought",
    ),
    _place(
        "garden",
        "gardener/gardeners",
        "fence/fences pond/ponds",
        "rose/roses: red lovely; tulip/tulips: yellow lovely; plant/plants: green tall",
        "water plant smell",
        "gave showed",
    ),
    _place(
        "station",
        "guard/guards",
        "platform/platforms clock/clocks",
        "ticket/tickets: cheap blue; seat/seats: cheap soft; cabin/cabins: quiet small",
        "book reserve change",
        "sold found",
    ),
    _place(
        "workshop",
        "carpenter/carpenters",
        "bench/benches cupboard/cupboards",
        "saw/saws: sharp rusty; hammer/hammers: heavy rusty; ladder/ladders: long wooden",
        "use repair clean",
        "lent showed",
    ),
)
BY_NAME = {place.name: place for place in PLACES}
# words that belong to no place and no list above
OTHERS = """. , the a an some very who to with and because by at in about when there still again home house evening
    it she he her him his they them their was were every last next goes go likes like lives works work wants want
    early late book letter water piano""".split()

# lemma -> past; the third person of the present is said where it is used
PAST = {
    "sell": "sold",
    "give": "gave",
    "lend": "lent",
    "bring": "brought",
    "show": "showed",
    "find": "found",
    "cook": "cooked",
    "take": "took",
    "leave": "left",
    "walk": "walked",
    "run": "ran",
    "hurry": "hurried",
    "go": "went",
    "see": "saw",
    "want": "wanted",
    "ask": "asked",
    "smile": "smiled",
    "greet": "greeted",
    "thank": "thanked",
    "look": "looked",
    "make": "made",
    "come": "came",
    "tell": "told",
    "read": "read",
    "drink": "drank",
    "write": "wrote",
    "play": "played",
}
LEMMA = {past: lemma for lemma, past in PAST.items()}


def forms() -> list[str]:
    """Every word form of the world in small letters, by the alphabet."""
    words = {*OTHERS, *KIN, *DAYS, *TRAVEL, *MOODS, *FEELINGS, *RELATIONS, *COUNTS, *PAST.values()}
    words.update(name for names in NAMES.values() for name in names)
    words.update(form for weather, _, one, many in WEATHER for form in (weather, one, many))
    for place in PLACES:
        words.update((place.name, place.worker, place.workers, *place.wishes, *place.offers))
        words.update(form for spot in place.spots for form in spot)
        words.update(form for thing in place.things for form in (thing.one, thing.many, *thing.qualities))
    return sorted(form.lower() for form in words)


def regulars(place: str, gender: str) -> dict[str, float]:
    """How likely each name is at a place: two people have the habit of going there, the others come rarely."""
    names, shift = NAMES[gender], list(BY_NAME).index(place) + (1 if gender == "Masc" else 0)
    habit = {names[(shift + step) % len(names)] for step in range(2)}
    return {name: 0.4 if name in habit else 0.2 / (len(names) - 2) for name in names}
