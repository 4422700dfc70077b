"""One probing experiment from data to result: a generator of progress, for the page and the command line alike.

It is repeated under several seeds: split, control task and random-init copy are drawn anew for each. Every layer is
written to the result file as soon as it is done, with its baselines beside it. Run again in the same folder, it goes on
after the last finished layer.
"""

import hashlib
import re
import shlex
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import model
from model import Bert, InputProblem

from .. import statistics
from . import baselines, mdl, results, scalar_mix, structural_experiment, tasks, treebank
from . import features as store
from .features import POOLING
from .linear import LinearProbe
from .mlp import TwoLayerProbe
from .results import RESULT, Result, packed, packed_counts
from .tasks import Examples

PROBES = ("linear", "rank", "hidden")
SMALL_WORLD, REVIEWS = "smallworld", "reviews"
RANDOM = ":random"  # behind the name of a model: its architecture with random weights
RESAMPLED = 20  # mixes of sentences drawn anew, over all seeds
MISTAKES = 60  # kept for each layer
PAIRS = "{} holds pairs of sentences: a probe reads single ones. Fine-tune on them instead."


def run(folder: Path, model: str, data: str = "", task: str = "upos", layers: str = "all", pooling: str = POOLING,
        seed: int = 0, seeds: int = 1, limit: int = 30_000, probe: str = "linear", width: int = 64, bits: bool = False,
        mix: bool = False, train: str = "", dev: str = "", test: str = "") -> Iterator[dict[str, Any]]:
    """Yield {"fraction", "stage", "eta"}; the result is in `folder`/result.json, complete when this ends.

    The sentences are `data`, or a file for each split.
    """
    settings = {"model": model, "data": data, "task": task, "layers": layers, "pooling": pooling, "seed": seed,
                "seeds": seeds, "limit": limit, "probe": probe, "width": width, "bits": bits, "mix": mix}
    if probe not in PROBES:
        raise InputProblem(f"A probe is one of {', '.join(PROBES)}, not {probe!r}.")
    if seeds < 1:
        raise InputProblem(f"An experiment needs one seed at least, not {seeds}.")
    clock = Clock()
    yield clock.at(0.0, "Reading the data")
    files = {"train": train, "dev": dev, "test": test}
    bank, trained = opened(folder, data, files), loaded(model.removesuffix(RANDOM))
    bert = trained.twin(seed) if model.endswith(RANDOM) else trained
    if bank.pairs:
        raise InputProblem(PAIRS.format(bank.name))
    chosen = layers_of(layers, bert.config.num_hidden_layers)
    typed = command(settings | files)
    settings |= {"model": bert.about.name, "model_digest": store.digest(trained),
                 "weights_seed": None if bert is trained else seed, "data": bank.name, "digest": bank.digest}
    result = _begun(Path(folder) / RESULT, settings, typed)
    work = structural_experiment.layers if task == "tree" else _layers
    for number in range(seeds):
        for fraction, stage in work(Path(folder), bank, bert, chosen, result, seed + number):
            yield clock.at((number + fraction) / seeds, stage + (f" (seed {number + 1} of {seeds})" if seeds > 1 else ""))
    result.finished = True
    result.write(Path(folder) / RESULT)
    for file in Path(folder).glob("states-*"):
        file.unlink()
    yield clock.at(1.0, "Done")


def _begun(file: Path, settings: dict[str, Any], typed: str) -> Result:
    """The result of an earlier, interrupted run of the same experiment, or a new one."""
    try:
        earlier = results.read(file)
        if earlier.settings == settings:
            return earlier
    except (FileNotFoundError, InputProblem):
        pass
    return Result(settings, command=typed)


class Clock:
    """Progress with the time left, judged from how long the part done took."""

    def __init__(self):
        self.start: tuple[float, float] | None = None

    def at(self, fraction: float, stage: str) -> dict[str, Any]:
        now = time.monotonic()
        if self.start is None or fraction <= 0.01:
            self.start = (now, fraction)
        began, first = self.start
        part = fraction - first
        eta = (now - began) * (1 - fraction) / part if part > 0.02 else None
        return {"fraction": round(fraction, 4), "stage": stage, "eta": eta}


def loaded(name: str) -> Bert:
    """A model by name or folder; `NAME:random` is a copy of its architecture with random weights."""
    if name.endswith(RANDOM):
        return model.load(name.removesuffix(RANDOM)).twin()
    return model.load(name)


def opened(folder: Path, data: str, files: Mapping[str, str] | None = None) -> treebank.Treebank:
    """What comes with the project, a file, or a file for each split; files are in the folder of the run, or paths."""
    files = {split: file for split, file in (files or {}).items() if file}
    if not files:
        return OWN[data]() if data in OWN else treebank.read(_place(folder, data))
    if data:
        raise InputProblem(f"The sentences are those of {data} or of a file for each split, not both.")
    if "train" not in files:
        raise InputProblem(f"There is a file for {' and '.join(files)} but none for train, to learn from.")
    banks = {split: treebank.read(_place(folder, file)) for split, file in files.items()}
    return treebank.joined(", ".join(bank.name for bank in banks.values()), banks.items())


def _place(folder: Path, file: str) -> Path:
    inside = Path(folder) / Path(file).name
    return inside if inside.is_file() else Path(file)


def small_world(seed: int = 0, stories: int = 600) -> treebank.Treebank:
    """Sentences of the small world, whose trees and features are known exactly."""
    from model import smallworld
    return treebank.parse("".join(story.conllu() for story in smallworld.stories(seed, stories)), "small world.conllu")


def reviews() -> treebank.Treebank:
    """Short reviews written for this project, labelled good or bad."""
    return treebank.read(Path(__file__).parents[1] / "bundled" / "reviews.csv")


OWN = {SMALL_WORLD: small_world, REVIEWS: reviews}


def layers_of(words: str, count: int) -> list[int]:
    """`all`, or layers and ranges counted from 0, the embeddings: `0,2-4`."""
    if words.strip() == "all":
        return list(range(count + 1))
    chosen: set[int] = set()
    for part in words.split(","):
        if not re.fullmatch(r"\d{1,3}(-\d{1,3})?", part.strip()):
            raise InputProblem(f"Layers are `all` or numbers such as 0,2-4, not {words!r}.")
        first, _, last = part.strip().partition("-")
        chosen |= set(range(int(first), int(last or first) + 1))
    if not chosen or max(chosen) > count:
        raise InputProblem(f"This model has the layers 0 (embeddings) to {count}, not {words}.")
    return sorted(chosen)


def command(settings: dict[str, Any]) -> str:
    """What to type to get the same numbers."""
    words = ["python3 run.py probe"]
    for name in ("model", *source(settings), "task", "layers", "pooling", "seed", "seeds", "limit", "probe"):
        words.append(f"--{name} {shlex.quote(str(settings[name]))}")
    words += [f"--width {settings['width']}"] if settings["probe"] != "linear" or settings["task"] == "tree" else []
    return " ".join(words + [f"--{name}" for name in ("bits", "mix") if settings[name]])


def source(settings: Mapping[str, Any]) -> list[str]:
    """The options that name the sentences: a file for each split, or the data."""
    return [split for split in ("train", "dev", "test") if settings.get(split)] or ["data"]


def _layers(folder: Path, bank: treebank.Treebank, bert: Bert, layers: list[int], result: Result, seed: int
            ) -> Iterator[tuple[float, str]]:
    settings, first = result.settings, seed == result.settings["seed"]
    mixing = settings["mix"] and len(layers) > 1 and str(seed) not in result.mix
    if result.done(seed) >= set(layers) and not mixing:
        return
    examples = tasks.examples(bert, bank.sentences, tasks.find(settings["task"]), seed, settings["limit"])
    yield 0.03, "Labelling the words"
    parts = Parts(examples, seed)
    if first:
        result.title, result.unit, result.classes = examples.task.title, examples.task.unit, parts.classes
        result.sizes = {split: int((examples.splits == split).sum()) for split in ("train", "dev", "test")}
        result.sizes |= {"skipped": examples.skipped, "sentences": len(examples.inputs),
                         "duplicates": examples.duplicates, "left_out": examples.left_out}
        result.baselines = parts.baselines()
    result.tests[str(seed)] = {"digest": parts.digest(), "sizes": packed_counts(parts.grouped(parts.gold[parts.test])[1])}
    encodings = [encoding for _, encoding in examples.inputs]
    for fraction, stage in store.extract_both(bert, baselines.random_init(bert, seed), encodings, examples.places,
                                              settings["pooling"], layers, folder):
        yield 0.03 + 0.5 * fraction, stage
    states, twin = (store.opened(folder / f"states-{name}.npy") for name in ("model", "twin"))
    for index, layer in enumerate(layers):
        if layer not in result.done(seed):
            yield 0.53 + 0.34 * index / len(layers), f"Layer {layer} of {layers[-1]}: learning"
            _layer(result, parts, states[index: index + 1], twin[index: index + 1], layer)
            result.write(folder / RESULT)
    if mixing:
        yield 0.87, "Mixing the layers"
        result.mix[str(seed)] = _mixed(parts, states, layers, -(-RESAMPLED // settings["seeds"]))
        result.write(folder / RESULT)


def _mixed(parts: "Parts", states: np.ndarray, layers: list[int], draws: int) -> dict[str, Any]:
    """The mix of all layers, of sentences drawn anew, and the scores of the first layers together."""
    rows, classes = parts.train[:scalar_mix.EXAMPLES], len(parts.classes)
    known, tested = parts.features(np.asarray(states), rows), parts.features(np.asarray(states), parts.test)
    labels = parts.labels[0]
    drawn = scalar_mix.resampled(known, labels[rows], parts.examples.inputs_of[rows], classes, draws, parts.seed)
    return {"layers": layers, "weights": scalar_mix.ScalarMix().fit(known, labels[rows], classes).weights_.tolist(),
            "resampled": [weights.tolist() for weights in drawn],
            "cumulative": scalar_mix.cumulative(known, labels[rows], tested, labels[parts.test], classes)}


class Parts:
    """The examples as numbers: labels (targets, examples), the task first and its control second."""

    def __init__(self, examples: Examples, seed: int):
        self.examples, self.seed = examples, seed
        self.train, self.dev, self.test = (np.flatnonzero(examples.splits == split) for split in ("train", "dev", "test"))
        self.classes = sorted(set(examples.labels[self.train].tolist()))
        if len(self.classes) < 2:
            raise InputProblem(f"Every training example of “{examples.task.title}” has the same label, so there is "
                               "nothing to learn.")
        number = {label: index for index, label in enumerate(self.classes)}
        self.gold = np.array([number.get(label, -1) for label in examples.labels.tolist()])  # -1: never seen in training
        drawn = baselines.control(examples.keys, self.gold[self.train], seed)
        self.labels = torch.from_numpy(np.stack([self.gold, drawn]))

    def baselines(self) -> dict[str, float]:
        gold, keys = self.gold, self.examples.keys
        return {"majority": baselines.majority(gold[self.train], gold[self.test]),
                "word_type": baselines.word_type(gold[self.train], keys[self.train], gold[self.test], keys[self.test])}

    def features(self, states: np.ndarray, rows: np.ndarray) -> Tensor:
        return store.features(states, self.examples.rows[rows])

    def fitted(self, probe: LinearProbe | TwoLayerProbe, states: np.ndarray) -> Tensor:
        """Fit to the train split, choose on dev, and say the test labels: (targets, test examples)."""
        probe.fit(self.features(states, self.train), self.labels[:, self.train],
                  self.features(states, self.dev), self.labels[:, self.dev], len(self.classes))
        return probe.predict(self.features(states, self.test))[0]

    def grouped(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many test examples of each sentence are right, and of how many: (sentences,) each."""
        return baselines.grouped(right, self.examples.inputs_of[self.test])

    def digest(self) -> str:
        """A name for the test set: the same sentences asked about the same places with the same labels."""
        made = hashlib.sha256()
        for example in self.test:
            sentence, _ = self.examples.inputs[self.examples.inputs_of[example]]
            made.update(f"{sentence.text}\n{self.examples.words[example]} {self.examples.labels[example]}\n".encode())
        return made.hexdigest()[:16]

    def confusion(self, predicted: np.ndarray) -> list[list[int]]:
        """How often each label seen in training was taken for which: (gold, said)."""
        gold = self.gold[self.test]
        counts = np.zeros((len(self.classes),) * 2, dtype=int)
        np.add.at(counts, (gold[gold >= 0], predicted[gold >= 0]), 1)
        return counts.tolist()

    def scores(self, predicted: np.ndarray) -> list[dict[str, Any]]:
        """Precision, recall and F1 of every label of the test split, the most frequent first, with its count."""
        gold, answers = self.examples.labels[self.test], np.array(self.classes)[predicted]
        rows = []
        for label, count in Counter(gold.tolist()).most_common():
            right, said = int(((gold == label) & (answers == label)).sum()), int((answers == label).sum())
            rows.append({"label": label, "count": count, "precision": right / said if said else 0.0,
                         "recall": right / count, "f1": 2 * right / (said + count)})
        return rows


def _layer(result: Result, parts: Parts, states: np.ndarray, twin: np.ndarray, layer: int) -> None:
    """Everything about one layer: states and those of its random-init copy (1, places, hidden), searched alike."""
    settings = result.settings
    probe = _probe(settings, parts.seed)
    said = parts.fitted(probe, states)
    truth = parts.labels[:, parts.test]
    right = (said == truth).numpy()
    accuracy, control = (float(row.mean()) for row in right)
    random, random_control = (parts.fitted(_probe(settings, parts.seed), twin) == truth).double().mean(-1).tolist()
    hits, sizes = parts.grouped(right[0])
    low, high = statistics.bootstrap(hits, sizes, parts.seed)
    row = {"seed": parts.seed, "layer": layer, "accuracy": accuracy, "low": low, "high": high, "control": control,
           "selectivity": accuracy - control, "twin": random, "twin_control": random_control, **parts.baselines()}
    if settings["bits"]:
        length = mdl.online(parts.features(states, parts.train), parts.labels[:, parts.train], len(parts.classes),
                                   lambda: _probe(settings, parts.seed))[0]
        row |= {"bits": float(length[0]), "control_bits": float(length[1]),
                "uniform_bits": mdl.uniform(len(parts.train), len(parts.classes))}
    result.rows.append(row)
    result.hits[f"{parts.seed} {layer}"] = packed_counts(hits)
    if parts.seed == settings["seed"]:
        predicted = said[0].numpy()
        result.confusion[str(layer)], result.labels[str(layer)] = parts.confusion(predicted), parts.scores(predicted)
        result.mistakes[str(layer)] = mistakes(parts, predicted, right[0])
        maps = probe.maps_ if isinstance(probe, TwoLayerProbe) else [(probe.coef_, probe.intercept_)]
        result.maps[str(layer)] = [packed(part[0, 0].numpy()) for pair in maps for part in pair]


def _probe(settings: dict[str, Any], seed: int) -> LinearProbe | TwoLayerProbe:
    if settings["probe"] == "linear":
        return LinearProbe()
    return TwoLayerProbe(settings["width"], bend=settings["probe"] == "hidden", seed=seed)


def mistakes(parts: Parts, said: np.ndarray, right: np.ndarray) -> list[dict[str, Any]]:
    examples, found = parts.examples, []
    for place in np.flatnonzero(~right)[:MISTAKES]:
        example = parts.test[place]
        sentence, encoding = examples.inputs[examples.inputs_of[example]]
        word = int(examples.words[example])
        form = encoding.tokens[word].text if examples.task.unit == "piece" else sentence.words[word]
        found.append({"text": sentence.text, "second": " ".join(sentence.second),
                      "word": form if examples.task.unit != "sentence" else "",
                      "label": str(examples.labels[example]), "said": parts.classes[int(said[place])]})
    return found
