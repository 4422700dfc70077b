"""What a small model has learned: words masked, in sight or replaced, and a labelling task, frozen and fine-tuned."""

import copy
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from model import Bert, Edits, Encoding, alike, smallworld, states
from model.pretraining.masking import Mix
from model.pretraining.objective import HELD_SEED, evaluate, task
from model.pretraining.sentence_pairs import Pairs
from model.pretraining.token_store import Store

from ..probing.linear import LinearProbe

PAIRS = 300
# the same words are asked for each time; what differs is what the model reads in their place
READS = {"masked": Mix(1, 0, 0), "unmasked": Mix(0, 0, 1), "replaced": Mix(0, 1, 0)}

# which part a noun plays in its sentence: subject, object, ...; the same noun plays many
STORY_SEED = 2
LESSONS, TRIES, QUESTIONS = 150, 50, 300  # stories to learn the parts from, to choose the penalty with, to ask about
EPOCHS, RATE, BATCH = 5, 1e-3, 16

# what is measured: its title, and one sentence on what it is
COLUMNS = {
    "masked": ("Masked words", "held-out words named where the model reads [MASK]."),
    "unmasked": ("Words in sight", "held-out words named where the model reads the word itself, as it does in use."),
    "replaced": ("Replaced words", "held-out words named where the model reads a random word in their place."),
    "probe": ("Frozen features, linear probe", "the part a noun plays in its sentence (subject, object, …), told by a "
              "linear map from the last layer; it stands for the paper's feature-based column."),
    "tuned": ("Fine-tuned", "the same question after all weights learned it together with one added layer."),
}


@dataclass(frozen=True)
class Sheet:
    """Stories as inputs, and words in them to label: the input and position of each, its label and its form."""

    encodings: list[Encoding]
    places: np.ndarray  # (words, 2)
    labels: np.ndarray  # (words,) text
    forms: np.ndarray  # (words,) text


def measured(bert: Bert, held: Store, sight: str, length: int, labelled: bool, seed: int) -> dict[str, float]:
    """Every figure of one model on texts it has not seen: accuracies from 0 to 1."""
    found = {name: evaluate(bert, held, mix, length, count=PAIRS, sight=sight).mlm_accuracy
             for name, mix in READS.items()}
    found |= dict.fromkeys((f"{name}_common" for name in READS), commonest(held))
    if labelled and sight == "both":
        lessons, tries, questions = sheets(bert)
        found |= {"probe": probed(bert, lessons, tries, questions), "tuned": tuned(bert, lessons, questions, seed),
                  "probe_random": probed(bert.twin(seed), lessons, tries, questions)}
        found["probe_word"] = found["tuned_word"] = by_word(lessons, questions)
    return found


def commonest(held: Store) -> float:
    """The baseline: always the commonest word of the texts."""
    return float(np.bincount(held.ids).max() / held.tokens)


def averaged(left: Bert, right: Bert, held: Store, length: int) -> float:
    """The masked words of `measured`, named by the mean of two one-sided predictions, as ELMo joins two readers."""
    questions = sorted(Pairs(held, length, "another", HELD_SEED).stretch(0, PAIRS), key=len)
    generator, hits, words = np.random.default_rng(HELD_SEED), 0, 0
    with torch.inference_mode():
        for start in range(0, PAIRS, 32):
            given = task(questions[start: start + 32], left.tokenizer, READS["masked"], generator)
            shares = [bert.words(bert(given.batch, Edits(sight=sight)).flatten(0, 1)[given.places]).softmax(-1)
                      for bert, sight in ((left, "left"), (right, "right"))]
            hits += int(((shares[0] + shares[1]).argmax(-1) == given.words).sum())
            words += len(given.words)
    return hits / words


def sheets(bert: Bert) -> list[Sheet]:
    """Stories to learn from, to choose with and to ask about."""
    return [_sheet(bert, STORY_SEED + place, count) for place, count in enumerate((LESSONS, TRIES, QUESTIONS))]


def _sheet(bert: Bert, seed: int, count: int) -> Sheet:
    encodings, places, labels, forms = [], [], [], []
    for row, story in enumerate(smallworld.stories(seed, count)):
        middle = len(story.sentences) // 2
        parts = [[word for sentence in half for word in sentence.words]
                 for half in (story.sentences[:middle], story.sentences[middle:])]
        ids = [[bert.tokenizer.id(word.form.lower()) or bert.tokenizer.unknown for word in part] for part in parts]
        encodings.append(bert.tokenizer.encode_ids(*ids))
        for start, part in zip((1, len(ids[0]) + 2), parts, strict=True):
            nouns = [(place, word) for place, word in enumerate(part, start) if word.upos == "NOUN"]
            places += [(row, place) for place, _ in nouns]
            labels += [word.deprel for _, word in nouns]
            forms += [word.form.lower() for _, word in nouns]
    return Sheet(encodings, np.array(places), np.array(labels), np.array(forms))


def by_word(lessons: Sheet, questions: Sheet) -> float:
    """The baseline: always the label that the word had most often."""
    counts: dict[str, Counter] = defaultdict(Counter)
    for form, label in zip(lessons.forms, lessons.labels, strict=True):
        counts[form][label] += 1
    guesses = [counts[form].most_common(1)[0][0] if form in counts else "" for form in questions.forms]
    return float(np.mean(np.array(guesses) == questions.labels))


def probed(bert: Bert, lessons: Sheet, tries: Sheet, questions: Sheet) -> float:
    """Accuracy of a linear probe on the frozen last layer."""
    names = sorted(set(lessons.labels))
    features = [_features(bert, sheet) for sheet in (lessons, tries, questions)]
    probe = LinearProbe().fit(features[0], _numbers(lessons, names), features[1], _numbers(tries, names), len(names))
    return float((probe.predict(features[2])[0, 0] == _numbers(questions, names)).float().mean())


def _features(bert: Bert, sheet: Sheet) -> Tensor:
    """The last state of every asked word: (1, words, hidden)."""
    last = dict(states(bert, sheet.encodings, [bert.config.num_hidden_layers]))
    return torch.from_numpy(np.stack([last[row][0, place] for row, place in sheet.places]))[None]


def _numbers(sheet: Sheet, names: list[str]) -> Tensor:
    known = {name: number for number, name in enumerate(names)}
    return torch.tensor([known.get(label, -1) for label in sheet.labels])


def tuned(bert: Bert, lessons: Sheet, questions: Sheet, seed: int) -> float:
    """Accuracy after a copy of the model and one added layer on T_i learned the labels. Devlin et al. (2019), 3.2."""
    names = sorted(set(lessons.labels))
    learner = copy.deepcopy(bert).requires_grad_(True)
    torch.manual_seed(seed)
    layer = nn.Linear(bert.config.hidden_size, len(names))
    optimizer = torch.optim.Adam([*learner.parameters(), *layer.parameters()], RATE)
    generator, numbers = np.random.default_rng(seed), _numbers(lessons, names)
    for _ in range(EPOCHS):
        order = generator.permutation(len(lessons.encodings))
        for start in range(0, len(order), BATCH):
            scores, asked = _labelled(learner, layer, lessons, order[start: start + BATCH])
            loss = nn.functional.cross_entropy(scores, numbers[asked])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    right = np.zeros(len(questions.labels), dtype=bool)
    with torch.inference_mode():
        for rows in alike(questions.encodings):
            scores, asked = _labelled(learner, layer, questions, np.array(rows))
            right[asked] = (scores.argmax(-1) == _numbers(questions, names)[asked]).numpy()
    return float(right.mean())


def _labelled(learner: Bert, layer: nn.Linear, sheet: Sheet, rows: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """Scores of the asked words of some stories, and which words these are."""
    asked = np.flatnonzero(np.isin(sheet.places[:, 0], rows))
    where = {row: place for place, row in enumerate(rows)}
    batch = [where[row] for row in sheet.places[asked, 0]]
    last = learner([sheet.encodings[row] for row in rows])
    return layer(last[batch, sheet.places[asked, 1]]), asked
