"""One probing experiment from data to result: a generator of progress, for the page and the command line alike.

Every layer is written to the result file as soon as it is done, with its control task and its random twin beside it.
Run again in the same folder, it goes on after the last finished layer.
"""

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import model
from model import Bert, InputProblem

from . import baselines, codelength, results, store, structural_run, tasks, treebank
from .linear import LinearProbe
from .results import RESULT, Result, packed
from .scalarmix import EXAMPLES, ScalarMix
from .tasks import Examples
from .twolayer import TwoLayerProbe

PROBES = ("linear", "rank", "hidden")
SMALL_WORLD, REVIEWS = "smallworld", "reviews"
MISTAKES = 60  # kept for each layer
PAIRS = "{} holds pairs of sentences: a probe reads single ones. Fine-tune on them instead."


def run(folder: Path, model: str, data: str = "", task: str = "upos", layers: str = "all", pooling: str = "first",
        seed: int = 0, limit: int = 30_000, probe: str = "linear", width: int = 64, bits: bool = False,
        mix: bool = False, train: str = "", dev: str = "", test: str = "") -> Iterator[dict[str, Any]]:
    """Yield {"fraction", "stage", "eta"}; the result is in `folder`/result.json, complete when this ends.

    The sentences are `data`, or a file for each split.
    """
    settings = {"model": model, "data": data, "task": task, "layers": layers, "pooling": pooling, "seed": seed,
                "limit": limit, "probe": probe, "width": width, "bits": bits, "mix": mix}
    if probe not in PROBES:
        raise InputProblem(f"A probe is one of {', '.join(PROBES)}, not {probe!r}.")
    clock = Clock()
    yield clock.at(0.0, "Reading the data")
    files = {"train": train, "dev": dev, "test": test}
    bank, bert = opened(folder, data, files), loaded(model)
    if bank.pairs:
        raise InputProblem(PAIRS.format(bank.name))
    chosen = layers_of(layers, bert.config.num_hidden_layers)
    settings |= {"model": bert.about.name, "data": bank.name, "digest": bank.digest}
    result = Result(settings, command=command(settings | {"model": model, "data": data} | files))
    work = structural_run.layers(Path(folder), bank, bert, chosen, result, seed) if task == "tree" else _layers(
        Path(folder), bank, bert, chosen, result)
    for fraction, stage in work:
        yield clock.at(fraction, stage)
    result.finished = True
    result.write(Path(folder) / RESULT)
    for file in Path(folder).glob("states-*.npy"):
        file.unlink()
    yield clock.at(1.0, "Done")


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
    """A model by name or folder; `NAME:random` is its twin with random weights."""
    if name.endswith(":random"):
        return model.load(name.removesuffix(":random")).twin()
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
    return treebank.read(Path(__file__).parent / "reviews.csv")


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
    for name in ("model", *source(settings), "task", "layers", "pooling", "seed", "limit", "probe"):
        value = str(settings[name])
        words.append(f"--{name} {value!r}" if " " in value else f"--{name} {value}")
    words += [f"--width {settings['width']}"] if settings["probe"] != "linear" or settings["task"] == "tree" else []
    return " ".join(words + [f"--{name}" for name in ("bits", "mix") if settings[name]])


def source(settings: Mapping[str, Any]) -> list[str]:
    """The options that name the sentences: a file for each split, or the data."""
    return [split for split in ("train", "dev", "test") if settings.get(split)] or ["data"]


def _layers(folder: Path, bank: treebank.Treebank, bert: Bert, layers: list[int], result: Result
            ) -> Iterator[tuple[float, str]]:
    settings = result.settings
    examples = tasks.examples(bert, bank.sentences, tasks.find(settings["task"]), settings["seed"], settings["limit"])
    yield 0.03, "Labelling the words"
    parts = Parts(examples, settings["seed"])
    result.title, result.unit, result.classes = examples.task.title, examples.task.unit, parts.classes
    result.sizes = {split: int((examples.splits == split).sum()) for split in ("train", "dev", "test")}
    result.sizes |= {"skipped": examples.skipped, "sentences": len(examples.inputs)}
    result.baselines = parts.baselines()
    if settings["bits"]:
        result.baselines["uniform_bits"] = codelength.uniform(result.sizes["train"], len(parts.classes))
    _resumed(folder, result)
    encodings = [encoding for _, encoding in examples.inputs]
    for fraction, stage in store.extract_both(bert, bert.twin(settings["seed"]), encodings, examples.places,
                                              settings["pooling"], layers, folder):
        yield 0.03 + 0.5 * fraction, stage
    states, twin = (store.opened(folder / f"states-{name}.npy") for name in ("model", "twin"))
    done = {int(row["layer"]) for row in result.rows}
    for index, layer in enumerate(layers):
        if layer not in done:
            yield 0.53 + 0.44 * index / len(layers), f"Layer {layer} of {layers[-1]}: learning"
            _layer(result, parts, states[index: index + 1], twin[index: index + 1], layer)
            result.write(folder / RESULT)
    if settings["mix"] and len(layers) > 1:
        yield 0.97, "Mixing the layers"
        rows = np.flatnonzero(examples.splits == "train")[:EXAMPLES]
        mixed = ScalarMix().fit(store.features(np.asarray(states), examples.rows[rows]), parts.labels[0, rows],
                                len(parts.classes))
        centre = float(mixed.weights_ @ torch.tensor(layers, dtype=torch.float32))
        result.mix = {"layers": layers, "weights": mixed.weights_.tolist(), "centre": centre}


def _resumed(folder: Path, result: Result) -> None:
    """Take over the layers that an earlier, interrupted run of the same experiment finished."""
    file = folder / RESULT
    if file.is_file():
        earlier = results.read(file)
        if earlier.settings == result.settings:
            for name in ("rows", "confusion", "mistakes", "maps"):
                setattr(result, name, getattr(earlier, name))


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

    def fitted(self, probe: LinearProbe | TwoLayerProbe, states: np.ndarray, targets: slice) -> Tensor:
        """Fit to the train split, choose on dev, and say the test labels: (targets, test examples)."""
        probe.fit(self.features(states, self.train), self.labels[targets, self.train],
                  self.features(states, self.dev), self.labels[targets, self.dev], len(self.classes))
        return probe.predict(self.features(states, self.test))[0]


def _layer(result: Result, parts: Parts, states: np.ndarray, twin: np.ndarray, layer: int) -> None:
    """Everything about one layer: states and twin (1, places, hidden)."""
    settings = result.settings
    probe = _probe(settings)
    said = parts.fitted(probe, states, slice(0, 2))
    right = (said == parts.labels[:, parts.test]).numpy()
    accuracy, control = (float(row.mean()) for row in right)
    low, high = baselines.interval(right[0], parts.examples.inputs_of[parts.test], parts.seed)
    random = parts.fitted(_probe(settings), twin, slice(0, 1))
    row = {"layer": layer, "accuracy": accuracy, "low": low, "high": high, "control": control,
           "selectivity": accuracy - control, "twin": float((random[0] == parts.labels[0, parts.test]).float().mean()),
           **{name: result.baselines[name] for name in ("majority", "word_type")}}
    if settings["bits"]:
        length = codelength.online(parts.features(states, parts.train), parts.labels[:, parts.train],
                                   len(parts.classes))[0]
        row |= {"bits": float(length[0]), "control_bits": float(length[1])}
    result.rows.append(row)
    known = parts.gold[parts.test] >= 0
    confusion = np.zeros((len(parts.classes),) * 2, dtype=int)
    np.add.at(confusion, (parts.gold[parts.test][known], said[0].numpy()[known]), 1)
    result.confusion[str(layer)] = confusion.tolist()
    result.mistakes[str(layer)] = mistakes(parts, said[0].numpy(), right[0])
    maps = probe.maps_ if isinstance(probe, TwoLayerProbe) else [(probe.coef_, probe.intercept_)]
    result.maps[str(layer)] = [packed(part[0, 0].numpy()) for pair in maps for part in pair]


def _probe(settings: dict[str, Any]) -> LinearProbe | TwoLayerProbe:
    if settings["probe"] == "linear":
        return LinearProbe()
    return TwoLayerProbe(settings["width"], bend=settings["probe"] == "hidden", seed=settings["seed"])


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
