"""One pair, changed in one way at a time: which cue does the next-sentence head follow?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model import Bert, Encoding, smallworld
from model.pretraining import corpus

from .. import nextsentence
from . import lexical_overlap

SAMPLES = 8  # of each control that is drawn by chance
LARGE, SMALL = 0.2, 0.05  # changes of P(IsNext) that are called large and small

# one sentence each about something else, for a B that A has nothing to do with
TOPICS = (
    "The glacier had lost almost half of its ice since the first survey.",
    "Fold the egg whites into the batter and bake the cake for forty minutes.",
    "The goalkeeper dropped the ball, and the crowd behind the net fell silent.",
    "Parliament passed the tax law by a single vote late on Thursday.",
    "Each cell copies its chromosomes before it divides.",
    "The orchestra tuned its violins while the conductor turned the pages.",
    "Two engineers repaired the telescope and pointed it at the moon.",
    "Merchants carried silk and pepper along this road for a thousand years.",
    "The bank raised its interest rates to slow the rise of prices.",
    "Wolves hunt in packs and share the food with their young.",
    "The king signed the treaty, and the soldiers left the castle.",
    "Her new phone ran out of battery in the middle of the call.",
    "The potter pressed his thumbs into the wet clay and turned the wheel.",
    "Most of the passengers slept while the plane crossed the ocean.",
)


@dataclass(frozen=True)
class Control:
    """One way to change a pair: the inputs to read, or the reason why there is none."""

    name: str
    title: str
    cue: str  # what the head follows if this change matters
    encodings: tuple[Encoding, ...] = ()
    shown: str = ""  # the first changed input, as text
    missing: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the head says after one change, for each of its inputs."""

    control: Control
    probabilities: np.ndarray  # (inputs,)

    @property
    def mean(self) -> float:
        return float(self.probabilities.mean()) if len(self.probabilities) else float("nan")


def outcomes(bert: Bert, a: str, b: str, text: str = "") -> list[Outcome]:
    """The pair as it is, then every control, all read together."""
    made = controls(bert, a, b, text)
    read = nextsentence.probabilities(nextsentence.margins(bert, [e for control in made for e in control.encodings]))
    ends = np.cumsum([len(control.encodings) for control in made])
    return [Outcome(control, part) for control, part in zip(made, np.split(read, ends[:-1]), strict=True)]


def controls(bert: Bert, a: str, b: str, text: str = "") -> list[Control]:
    """The pair and all its changes; `text` is where the pair comes from, if it is known."""
    pair, cut = nextsentence.packed(bert, a, b), bert.tokenizer
    ids = [[t.id for t in pair.tokens if t.segment == segment and not t.special] for segment in (0, 1)]
    drawn, stayed, mixed = elsewhere(bert, a, b), nearby(a, b, text), shuffles(pair)
    made = [
        Control("pair", "The pair as it is", "", (pair,)),
        Control("swapped", "A and B swapped", "which sentence comes first", (cut.encode_ids(ids[1], ids[0]),)),
        Control("topic", "B from another topic", "what B is about", tuple(cut.encode(a, other) for other in drawn),
                missing="" if drawn else "None of the sentences kept for this is made of words this model knows."),
        Control("nearby", "B from the same text, but not next", "whether B comes at once or elsewhere in the text",
                tuple(cut.encode(a, other) for other in stayed),
                missing="" if stayed else "Give the text that A comes from, with at least one more sentence."),
        Control("shuffled", "B with its words shuffled", "the order of the words in B",
                tuple(cut.encode_ids(ids[0], other) for other in mixed),
                missing="" if mixed else "B has too few different words to shuffle."),
        Control("repeated", "B repeated from A", "whether B says something new", (cut.encode(a, a),)),
        Control("segment", "One segment id for both", "the segment ids", (one_segment(pair),)),
        Control("separator", "No [SEP] between them", "the [SEP] between the sentences", (unseparated(pair),)),
        Control("no A", "A empty", "whether there is an A", (cut.encode_ids([], ids[1]),)),
        Control("no B", "B empty", "whether there is a B", (cut.encode_ids(ids[0], []),)),
    ]
    return [replace(control, shown=" ".join(t.text for t in control.encodings[0].tokens)) if control.encodings
            else control for control in made]


def one_segment(pair: Encoding) -> Encoding:
    """The same pieces with every segment id 0, as when the segments were forgotten."""
    return replace(pair, tokens=tuple(replace(token, segment=0) for token in pair.tokens))


def unseparated(pair: Encoding) -> Encoding:
    """[CLS] A B [SEP]: without the [SEP] in the middle, the segment ids kept."""
    middle = next(token.position for token in pair.tokens if token.special and token.position > 0)
    kept = [token for token in pair.tokens if token.position != middle]
    return replace(pair, tokens=tuple(replace(token, position=place) for place, token in enumerate(kept)))


def shuffles(pair: Encoding, count: int = SAMPLES, seed: int = 0) -> list[list[int]]:
    """The pieces of B in other orders of its words; the pieces of a word and the last punctuation mark stay put."""
    pieces = [token for token in pair.tokens if token.segment == 1 and not token.special]
    words: dict[int | None, list[int]] = {}
    for token in pieces:
        words.setdefault(token.word, []).append(token.id)
    groups = list(words.values())
    last = [groups.pop()] if groups and not any(character.isalnum() for character in pieces[-1].text) else []
    whole = [piece for group in groups + last for piece in group]
    if len({tuple(group) for group in groups}) < 2:
        return []
    generator, found = np.random.default_rng(seed), []
    while len(found) < count:
        mixed = [groups[place] for place in generator.permutation(len(groups))] + last
        flat = [piece for group in mixed for piece in group]
        if flat != whole:
            found.append(flat)
    return found


def elsewhere(bert: Bert, a: str, b: str, count: int = SAMPLES) -> list[str]:
    """Sentences that share no content word with the pair and are made of words the model knows, near B in length."""
    about, length = lexical_overlap.content(a) | lexical_overlap.content(b), len(b.split())
    told = [sentence.text for story in smallworld.stories(0, 40) for sentence in story.sentences]
    for source in (TOPICS, told):
        fit = [text for text in source if not lexical_overlap.content(text) & about and _readable(bert, text)]
        if fit:
            return sorted(dict.fromkeys(fit), key=lambda text: abs(len(text.split()) - length))[:count]
    return []


def nearby(a: str, b: str, text: str, count: int = SAMPLES) -> list[str]:
    """Sentences of the text that A stands in, other than A, B and the one that truly follows, spread over the text."""
    told = [sentence for line in text.splitlines() for sentence in corpus.sentences(line)]
    plain = [_plain(sentence) for sentence in told]
    if _plain(a) not in plain:
        return []
    taken = {_plain(a), _plain(b)} | {plain[i + 1] for i, said in enumerate(plain[:-1]) if said == _plain(a)}
    left = [sentence for sentence, said in zip(told, plain, strict=True) if said not in taken]
    places = np.unique(np.linspace(0, len(left) - 1, min(count, len(left))).astype(int)) if left else []
    return [left[place] for place in places]


def verdict(found: Sequence[Outcome]) -> str:
    """Which cues the answer follows for this pair, and which it does not notice, in a few sentences."""
    base = found[0].mean
    answer = nextsentence.LABELS[base < 0.5]
    changes = [(outcome, outcome.mean - base) for outcome in found[1:] if len(outcome.probabilities)]
    large = sorted((c for c in changes if abs(c[1]) >= LARGE), key=lambda c: -abs(c[1]))
    small = [outcome for outcome, change in changes if abs(change) < SMALL]
    said = [f"The answer is {answer}: P(IsNext) is {base:.2f} (in brackets: after a change)."]
    if large:
        said.append("It follows " + _listed([f"{o.control.cue} ({o.mean:.2f})" for o, _ in large]) + ".")
    else:
        said.append(f"No change moves it by {LARGE} or more: the head would say about the same of almost any B here, "
                    "so the number tells little about this B.")
    if small:
        said.append("It hardly notices " + _listed([f"{o.control.cue} ({o.mean:.2f})" for o in small]) + ".")
    return " ".join(said)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _plain(sentence: str) -> str:
    return " ".join(lexical_overlap.WORD.findall(sentence.lower()))


def _readable(bert: Bert, text: str) -> bool:
    """Whether the vocabulary has most of the words whole: spelled-out letters would be a control of something else."""
    return len(bert.tokenizer.pieces(text)) <= 1.5 * (len(text.split()) + 1)
