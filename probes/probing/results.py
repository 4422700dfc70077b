"""The result of a probing experiment as one file: what was asked, of what, how, and everything that came out."""

import base64
import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from model import InputProblem

from .. import statistics
from .scalar_mix import expected_layer

FORMAT = "bertscope probe 2"
RESULT = "result.json"  # in the folder of a run
SCORE = {"labels": "accuracy", "tree": "uuas"}
COLUMNS = {"labels": ("accuracy", "low", "high", "control", "selectivity", "twin", "twin_control", "majority", "word_type"),
           "tree": ("uuas", "low", "high", "root", "distance", "depth", "twin", "chain")}
BITS = ("bits", "control_bits", "uniform_bits")
NEEDED = {"model": str, "data": str, "digest": str, "task": str, "pooling": str, "probe": str, "limit": int, "seed": int,
          "seeds": int, "model_digest": str, "weights_seed": int | None}
SIZES = {"train", "dev", "test", "skipped"}


@dataclass
class Result:
    """What one run of `probes.probing.experiment` found; rows hold one finished layer of one seed each.

    Confusion, mistakes, label scores, maps and sizes are those of the first seed.
    """

    settings: dict[str, Any]  # model, model_digest, weights_seed, data, digest, task, layers, pooling, seed, seeds, limit …
    kind: str = "labels"  # labels, or tree for structural probes
    title: str = ""  # the task in words
    unit: str = "token"
    command: str = ""  # what to type to get the same numbers
    sizes: dict[str, int] = field(default_factory=dict)  # train, dev, test, skipped, duplicates
    classes: list[str] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)  # majority, word_type, chain
    rows: list[dict[str, float]] = field(default_factory=list)
    confusion: dict[str, list[list[int]]] = field(default_factory=dict)  # layer -> (gold, said)
    labels: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> label, count, precision, recall, f1
    mistakes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> text, word, label, said
    maps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> packed arrays, first map first
    tests: dict[str, dict[str, str]] = field(default_factory=dict)  # seed -> digest and examples a sentence of its test set
    hits: dict[str, str] = field(default_factory=dict)  # "seed layer" -> how many of each test sentence are right
    mix: dict[str, dict[str, Any]] = field(default_factory=dict)  # seed -> layers, weights, resampled weights, cumulative
    examples: list[dict[str, Any]] = field(default_factory=list)  # test sentences with their gold trees
    finished: bool = False
    format: str = FORMAT

    @property
    def name(self) -> str:
        """How a chart calls it."""
        return f"{self.title} · {self.settings['model']}"

    def done(self, seed: int) -> set[int]:
        """The layers that are finished under a seed."""
        return {int(row["layer"]) for row in self.rows if row["seed"] == seed}

    def json(self) -> str:
        """Everything, as `parse` reads it."""
        return json.dumps(asdict(self))

    def write(self, path: Path) -> None:
        """Whole or not at all: a page may read while a run writes."""
        made = path.with_name(f".{path.name}.{os.getpid()}")
        made.write_text(self.json(), encoding="utf-8")
        made.replace(path)


def read(path: Path) -> Result:
    """The result in a file."""
    return parse(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse(text: str, name: str) -> Result:
    """The result in the text of a file, which may be anybody's."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputProblem(f"{name} is not JSON, so it is no saved probe result.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputProblem(f"{name} is no probe result of this version of Bertscope.")
    known = {one.name: one for one in fields(Result)}
    try:
        result = Result(**{key: value for key, value in content.items() if key in known})
        _check(result)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, InputProblem):
        raise InputProblem(f"{name} is a damaged probe result.") from None
    return result


def _check(result: Result) -> None:
    """Raise whatever comes to hand where a field is not what a page will take it for."""
    plain = Result({})
    for one in fields(Result):
        if not isinstance(getattr(result, one.name), type(getattr(plain, one.name))):
            raise TypeError
    rows = table(result)
    layers = {str(layer) for layer in rows["layer"]}
    scored, wrong = {"label", "count", "precision", "recall", "f1"}, {"text", "word", "label", "said"}
    sound = [not rows.empty, all(np.isfinite(list(row.values())).all() for row in result.rows),
             all(isinstance(result.settings[name], kind) for name, kind in NEEDED.items()),
             all(isinstance(result.sizes[name], int) for name in SIZES),
             all(isinstance(one, str) for one in result.classes),
             all(np.array(counts).shape == (len(result.classes),) * 2 for counts in result.confusion.values()),
             all(set(kept) == layers for kept in (result.confusion, result.mistakes, result.labels) if kept),
             all(set(one) >= scored for several in result.labels.values() for one in several),
             all(set(one) >= wrong for several in result.mistakes.values() for one in several),
             all(set(one) >= {"words", "heads", "relations"} for one in result.examples),
             set(result.maps) <= layers]
    if not all(sound):
        raise ValueError
    if result.mix:
        mixture(result)
    for test in result.tests.values():
        if counts(test["sizes"]).min() < 1 or not isinstance(test["digest"], str):
            raise ValueError
    for key, packed_hits in result.hits.items():
        if len(counts(packed_hits)) != len(counts(result.tests[key.split()[0]]["sizes"])):
            raise ValueError


def table(result: Result) -> pd.DataFrame:
    """One row a layer: the score, its interval, and every baseline beside it, each the mean over the seeds.

    low and high are the 95 % interval over test examples that one seed gives, averaged like the score; seed_low and
    seed_high are the smallest and the largest score of a seed.
    """
    score, columns = SCORE[result.kind], list(COLUMNS[result.kind])
    columns += [name for name in BITS if result.rows and name in result.rows[0]]
    rows = pd.DataFrame([{name: float(row[name]) for name in ("layer", *columns)} for row in result.rows],
                        columns=["layer", *columns]).astype({"layer": int})
    layers = rows.groupby("layer")
    means = layers[columns].mean()
    means.insert(3, "seed_low", layers[score].min())
    means.insert(4, "seed_high", layers[score].max())
    return means.reset_index()


@dataclass(frozen=True)
class Difference:
    """How much better the second of two results is than the first, each at its best layer, and how sure that is."""

    first_layer: int
    second_layer: int
    value: float
    low: float  # 95 % interval over test sentences
    high: float


def difference(first: Result, second: Result) -> Difference | None:
    """Paired over the sentences of the test sets that both were scored on, averaged over their common seeds; None
    where there is no such set."""
    if first.kind != second.kind:
        return None
    layers = [int(rows.loc[rows[SCORE[first.kind]].idxmax(), "layer"]) for rows in (table(first), table(second))]
    found = []
    for seed, test in first.tests.items():
        keys = [f"{seed} {layer}" for layer in layers]
        if test["digest"] == second.tests.get(seed, {}).get("digest") and keys[0] in first.hits and keys[1] in second.hits:
            found.append(statistics.paired(counts(first.hits[keys[0]]), counts(second.hits[keys[1]]), counts(test["sizes"])))
    return Difference(*layers, *np.mean(found, axis=0).tolist()) if found else None


@dataclass(frozen=True)
class Mixture:
    """The scalar mix over all seeds: the weight of each layer, its centre of gravity and the expected layer."""

    layers: list[int]
    weights: list[float]  # mean over the seeds
    centre: float
    low: float  # 95 % of the centres over seeds and resampled sentences
    high: float
    expected: float | None  # Tenney et al. (2019), equation 4; None where more layers add nothing
    expected_low: float | None  # over the seeds
    expected_high: float | None

    @property
    def one_layer(self) -> int | None:
        """The layer that has nearly all the weight, if one has."""
        best = int(np.argmax(self.weights))
        return self.layers[best] if self.weights[best] > 0.95 else None

    @property
    def undecided(self) -> bool:
        """Whether the centre may lie on either half of the layers."""
        return self.high - self.low > 0.5 * (self.layers[-1] - self.layers[0])


def mixture(result: Result) -> Mixture:
    """What the mixes of all seeds say together."""
    seeds = list(result.mix.values())
    layers = [int(layer) for layer in seeds[0]["layers"]]
    weights = np.array([one["weights"] for one in seeds], dtype=float)  # (seeds, layers)
    drawn = np.array([row for one in seeds for row in one["resampled"]], dtype=float)  # (seeds * draws, layers)
    low, high = statistics.percentiles([*(drawn @ layers), *(weights @ layers)])
    places = [place for one in seeds if (place := expected_layer(layers, one["cumulative"])) is not None]
    centre = float((weights @ layers).mean())
    expected = (float(np.mean(places)), min(places), max(places)) if places else (None, None, None)
    return Mixture(layers, weights.mean(0).tolist(), centre, min(low, centre), max(high, centre), *expected)


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON holds it, in half precision."""
    half = np.ascontiguousarray(array, dtype=np.float16)
    return {"shape": list(half.shape), "half": base64.b64encode(half.tobytes()).decode("ascii")}


def unpacked(stored: dict[str, Any]) -> np.ndarray:
    """The array that was packed."""
    try:
        flat = np.frombuffer(base64.b64decode(stored["half"]), dtype=np.float16)
        return flat.reshape(stored["shape"]).astype(np.float32)
    except (KeyError, TypeError, ValueError):
        raise InputProblem("The probes in this result file are damaged; its table can still be read.") from None


def packed_counts(numbers: np.ndarray) -> str:
    """Small whole numbers as JSON holds them, two bytes each."""
    return base64.b64encode(np.minimum(numbers, 65535).astype("<u2").tobytes()).decode("ascii")


def counts(stored: str) -> np.ndarray:
    """The whole numbers that were packed."""
    return np.frombuffer(base64.b64decode(stored, validate=True), dtype="<u2").astype(int)
