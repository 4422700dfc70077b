"""One probing experiment from data to result: a generator of progress, for the page and the command line alike.

It is repeated under several seeds: control task, random-init copy and, where the data do not fix it, the split are drawn
anew for each. Every layer is written to the result file as soon as it is done, with its baselines beside it. Run again in
the same folder, it goes on after the last finished layer.
"""

import re
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import model
from model import Bert, InputError
from model.command import quote

from .. import statistics
from ..progress import Progress, StageClock
from ..results import RESULT
from . import baselines, features, mdl, scalar_mix, structural_experiment, tasks, treebank
from .data import ProbingData
from .examples import build_examples
from .features import POOLING
from .linear import LinearProbe
from .mlp import MLPProbe
from .results import ProbingResult, array_to_json, counts_to_json
from .treebank import Treebank

PROBES = ("linear", "rank", "hidden")
READER, PAIRS, SMALL_WORLD, REVIEWS = "reader", "pairs", "smallworld", "reviews"  # the data that come with the project
RANDOM = ":random"  # behind the name of a model: its architecture with random weights
RESAMPLES = 20  # bootstrap samples of the scalar mix, over all seeds
NOT_SINGLE = "{} holds pairs of sentences; a probe reads single ones, and fine-tuning reads pairs."


def run(
    folder: Path,
    model: str,
    data: str = "",
    task: str = "upos",
    layers: str = "all",
    pooling: str = POOLING,
    seed: int = 0,
    seeds: int = 1,
    limit: int = 30_000,
    probe: str = "linear",
    width: int = 64,
    code_length: bool = False,
    mix: bool = False,
    train: str = "",
    dev: str = "",
    test: str = "",
) -> Generator[Progress]:
    """Yield progress; the result is in `folder`/result.json, complete when this ends.

    The sentences are `data`, or a file for each split.
    """
    settings = {
        "model": model,
        "data": data,
        "task": task,
        "layers": layers,
        "pooling": pooling,
        "seed": seed,
        "seeds": seeds,
        "limit": limit,
        "probe": probe,
        "width": width,
        "code_length": code_length,
        "mix": mix,
    }
    if probe not in PROBES:
        raise InputError(f"A probe is one of {', '.join(PROBES)}, not {probe!r}.")
    if seeds < 1:
        raise InputError(f"An experiment needs one seed at least, not {seeds}.")
    folder, clock = Path(folder), StageClock()
    yield clock.at(0.0, "Reading the data")
    files = {"train": train, "dev": dev, "test": test}
    dataset, trained = load_data(folder, data, files), load_model(model.removesuffix(RANDOM))
    bert = trained.random_init_copy(seed) if model.endswith(RANDOM) else trained
    if dataset.pairs:
        raise InputError(NOT_SINGLE.format(dataset.name))
    numbers = parse_layers(layers, bert.config.num_hidden_layers)
    typed = command(settings | files)
    settings |= {
        "model": bert.info.name,
        "model_digest": features.digest(trained),
        "weights_seed": None if bert is trained else seed,
        "data": dataset.name,
        "digest": dataset.digest,
        "split": "fixed" if treebank.has_fixed_split(dataset.sentences) else "drawn",
    }
    result = ProbingResult.resume(folder / RESULT, settings, typed)
    probe_layers = structural_experiment.layers if task == "tree" else _layers
    for number in range(seeds):
        for fraction, stage in probe_layers(folder, dataset, bert, numbers, result, seed + number):
            yield clock.at((number + fraction) / seeds, stage + (f" (seed {number + 1} of {seeds})" if seeds > 1 else ""))
    result.finished = True
    result.write(folder / RESULT)
    for file in folder.glob("states-*"):
        file.unlink()
    yield clock.at(1.0, "Done")


def load_model(name: str) -> Bert:
    """A model by name or folder; `NAME:random` is a copy of its architecture with random weights."""
    if name.endswith(RANDOM):
        return model.load(name.removesuffix(RANDOM)).random_init_copy()
    return model.load(name)


def load_data(folder: Path, data: str, files: Mapping[str, str] | None = None) -> Treebank:
    """Bundled data, a file, or a file for each split; files are in the folder of the run, or paths."""
    files = {split: file for split, file in (files or {}).items() if file}
    if not files:
        return BUNDLED_DATA[data]() if data in BUNDLED_DATA else treebank.read(_resolve(folder, data))
    if data:
        raise InputError(f"The sentences are those of {data} or of a file for each split, not both.")
    if "train" not in files:
        raise InputError(f"There is a file for {' and '.join(files)} but none for train, to learn from.")
    parts = {split: treebank.read(_resolve(folder, file)) for split, file in files.items()}
    return treebank.join(", ".join(part.name for part in parts.values()), parts.items())


def _resolve(folder: Path, file: str) -> Path:
    inside = Path(folder) / Path(file).name
    return inside if inside.is_file() else Path(file)


def small_world(seed: int = 0, stories: int = 600) -> Treebank:
    """Sentences of the small world, whose trees and features are known exactly."""
    from model import smallworld

    return treebank.parse("".join(story.conllu() for story in smallworld.stories(seed, stories)), "small world.conllu")


def reader() -> Treebank:
    """150 short texts of everyday English, written and annotated for this project, in their fixed split."""
    from probes.reader import compact_form

    return compact_form.read().treebank()


def pairs() -> Treebank:
    """600 pairs of sentences: does B follow from A, contradict it, or neither?"""
    return treebank.read(Path(__file__).parents[1] / "bundled" / "reader" / "pairs.csv")


def reviews() -> Treebank:
    """Short reviews written for this project, labelled good or bad."""
    return treebank.read(Path(__file__).parents[1] / "bundled" / "reviews.csv")


BUNDLED_DATA = {READER: reader, PAIRS: pairs, SMALL_WORLD: small_world, REVIEWS: reviews}


def parse_layers(text: str, count: int) -> list[int]:
    """`all`, or layers and ranges counted from 0, the embeddings: `0,2-4`."""
    if text.strip() == "all":
        return list(range(count + 1))
    layers: set[int] = set()
    for part in text.split(","):
        if not re.fullmatch(r"\d{1,3}(-\d{1,3})?", part.strip()):
            raise InputError(f"Layers are `all` or numbers such as 0,2-4, not {text!r}.")
        first, _, last = part.strip().partition("-")
        layers |= set(range(int(first), int(last or first) + 1))
    if not layers or max(layers) > count:
        raise InputError(f"This model has the layers 0 (embeddings) to {count}, not {text}.")
    return sorted(layers)


def command(settings: dict[str, Any]) -> str:
    """What makes the same numbers again."""
    names = ["model", *source_options(settings), "task", "layers", "pooling", "seed", "seeds", "limit", "probe"]
    names += ["width"] if settings["probe"] != "linear" or settings["task"] == "tree" else []
    words = [word for name in names for word in (f"--{name}", settings[name])]
    return quote("probe", *words, *(f"--{name.replace('_', '-')}" for name in ("code_length", "mix") if settings[name]))


def source_options(settings: Mapping[str, Any]) -> list[str]:
    """The options that name the sentences: a file for each split, or the data."""
    return [split for split in ("train", "dev", "test") if settings.get(split)] or ["data"]


def _layers(
    folder: Path, dataset: Treebank, bert: Bert, layers: list[int], result: ProbingResult, seed: int
) -> Iterator[tuple[float, str]]:
    """One seed of the experiment: yield (fraction of it, stage), add a row a layer to the result and write it."""
    settings = result.settings
    # where the split is fixed every seed would mix the same examples
    mixes = settings["split"] == "drawn" or seed == settings["seed"]
    mix_is_due = settings["mix"] and mixes and len(layers) > 1 and str(seed) not in result.mix
    if result.finished_layers(seed) >= set(layers) and not mix_is_due:
        return
    examples = build_examples(bert, dataset.sentences, tasks.find(settings["task"]), seed, settings["limit"])
    yield 0.03, "Labelling the words"
    data = ProbingData(examples, seed)
    if seed == settings["seed"]:
        result.title, result.unit, result.classes = examples.task.title, examples.task.unit, data.classes
        result.sizes = {split: int((examples.splits == split).sum()) for split in ("train", "dev", "test")}
        result.sizes |= {
            "skipped": examples.skipped,
            "sentences": len(examples.inputs),
            "duplicates": examples.duplicates,
            "left_out": examples.left_out,
        }
        result.baselines = data.baselines()
    sizes = data.count_by_sentence(np.ones(len(data.test)))[1]
    result.test_sets[str(seed)] = {"digest": data.digest(), "sizes": counts_to_json(sizes)}
    random_init = baselines.random_init(bert, seed)
    for fraction, stage in features.extract_with_baseline(
        bert, random_init, examples.encodings, examples.spans, settings["pooling"], layers, folder
    ):
        yield 0.03 + 0.5 * fraction, stage
    states, random_states = (features.open_memmap(features.states_file(folder, name)) for name in ("model", "random_init"))
    for index, layer in enumerate(layers):
        if layer not in result.finished_layers(seed):
            yield 0.53 + 0.34 * index / len(layers), f"Layer {layer} of {layers[-1]}: learning"
            probe_layer(result, data, states[index : index + 1], random_states[index : index + 1], layer)
            result.write(folder / RESULT)
    if mix_is_due:
        yield 0.87, "Mixing the layers"
        seeds = settings["seeds"] if settings["split"] == "drawn" else 1
        result.mix[str(seed)] = _scalar_mix(data, states, layers, -(-RESAMPLES // seeds))
        result.write(folder / RESULT)


def probe_layer(result: ProbingResult, data: ProbingData, states: np.ndarray, random_states: np.ndarray, layer: int) -> None:
    """Add the row of one layer: states and those of random weights (1, spans, hidden), fitted and searched alike."""
    settings = result.settings
    probe = _probe(settings, data.seed)
    predicted = data.fit(probe, states)
    gold = data.labels[:, data.test]
    correct = (predicted == gold).numpy()  # (task and control, test examples)
    accuracy, control = (float(target.mean()) for target in correct)
    random_predicted = data.fit(_probe(settings, data.seed), random_states)
    random_accuracy, random_control = (random_predicted == gold).double().mean(-1).tolist()
    n_correct, sizes = data.count_by_sentence(correct[0])
    low, high = statistics.bootstrap_interval(n_correct, sizes, data.seed)
    row = {
        "seed": data.seed,
        "layer": layer,
        "accuracy": accuracy,
        "low": low,
        "high": high,
        "control": control,
        "selectivity": accuracy - control,
        "random_init": random_accuracy,
        "random_init_control": random_control,
        **data.baselines(),
    }
    if settings["code_length"]:
        row |= _code_lengths(settings, data, states)
    result.rows.append(row)
    result.n_correct[f"{data.seed} {layer}"] = counts_to_json(n_correct)
    if data.seed == settings["seed"]:
        labels = predicted[0].numpy()
        result.confusion[str(layer)] = data.confusion(labels)
        result.labels[str(layer)] = data.label_scores(labels)
        result.mistakes[str(layer)] = data.mistakes(labels)
        maps = probe.layers_ if isinstance(probe, MLPProbe) else [(probe.coef_, probe.intercept_)]
        result.weights[str(layer)] = [array_to_json(part[0, 0].numpy()) for pair in maps for part in pair]


def _probe(settings: dict[str, Any], seed: int) -> LinearProbe | MLPProbe:
    if settings["probe"] == "linear":
        return LinearProbe()
    return MLPProbe(settings["width"], nonlinear=settings["probe"] == "hidden", seed=seed)


def _code_lengths(settings: dict[str, Any], data: ProbingData, states: np.ndarray) -> dict[str, float]:
    """Bits of the training labels: online code of task and control, uniform code."""
    inputs, labels = data.features(states, data.train), data.labels[:, data.train]
    task, control = mdl.online_code_length(inputs, labels, len(data.classes), lambda: _probe(settings, data.seed))[0]
    return {
        "code_length": float(task),
        "control_code_length": float(control),
        "uniform_code_length": mdl.uniform_code_length(len(data.train), len(data.classes)),
    }


def _scalar_mix(data: ProbingData, states: np.ndarray, layers: list[int], draws: int) -> dict[str, Any]:
    """The mix of all layers, of bootstrap samples of the sentences, and the scores of the first layers together."""
    rows, classes = data.train[: scalar_mix.MAX_EXAMPLES], len(data.classes)
    train, test = data.features(np.asarray(states), rows), data.features(np.asarray(states), data.test)
    labels = data.labels[0]
    resampled = scalar_mix.resampled(train, labels[rows], data.examples.input_of[rows], classes, draws, data.seed)
    return {
        "layers": layers,
        "weights": scalar_mix.ScalarMix().fit(train, labels[rows], classes).weights_.tolist(),
        "resampled": [weights.tolist() for weights in resampled],
        "cumulative": scalar_mix.cumulative(train, labels[rows], test, labels[data.test], classes),
    }
