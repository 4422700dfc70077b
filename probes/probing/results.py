"""The result of a probing experiment: what was probed, how, and everything that was measured."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from model import InputError

from .. import statistics
from ..results import ExperimentResult
from .scalar_mix import expected_layer

SCORE = {"labels": "accuracy", "tree": "uuas"}
COLUMNS = {
    "labels": (
        "accuracy",
        "low",
        "high",
        "control",
        "selectivity",
        "random_init",
        "random_init_control",
        "majority",
        "word_type",
    ),
    "tree": ("uuas", "low", "high", "root", "distance", "depth", "random_init", "chain"),
}
BASELINES = {"labels": ("random_init", "control", "word_type", "majority"), "tree": ("random_init", "chain")}
CODE_LENGTHS = ("code_length", "control_code_length", "uniform_code_length")
LABEL_KEYS = {"label", "count", "precision", "recall", "f1"}
MISTAKE_KEYS = {"text", "second", "word", "label", "predicted"}


@dataclass(repr=False)
class ProbingResult(ExperimentResult):
    """What one run of `probes.probing.experiment` measured; rows hold one finished layer of one seed each.

    Confusion, mistakes, label scores, weights and sizes are those of the first seed.
    """

    EXPERIMENT: ClassVar[str] = "probing"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "model": str,
        "data": str,
        "digest": str,
        "task": str,
        "pooling": str,
        "probe": str,
        "limit": int,
        "seed": int,
        "seeds": int,
        "model_digest": str,
        "weights_seed": int | None,
        "split": str,  # fixed by the source, or drawn for each seed
    }
    SIZES: ClassVar[frozenset[str]] = frozenset({"train", "dev", "test", "skipped"})

    kind: str = "labels"  # labels, or tree for structural probes
    baselines: dict[str, float] = field(default_factory=dict)  # majority, word_type, chain
    rows: list[dict[str, float]] = field(default_factory=list)
    confusion: dict[str, list[list[int]]] = field(default_factory=dict)  # layer -> (gold, predicted)
    labels: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> label, count, precision, recall, f1
    mistakes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> text, word, label, predicted
    weights: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # layer -> arrays of its probe, input side first
    test_sets: dict[str, dict[str, str]] = field(default_factory=dict)  # seed -> digest, and examples of each sentence
    n_correct: dict[str, str] = field(default_factory=dict)  # "seed layer" -> correct answers of each test sentence
    mix: dict[str, dict[str, Any]] = field(default_factory=dict)  # seed -> layers, weights, resampled weights, cumulative
    examples: list[dict[str, Any]] = field(default_factory=list)  # test sentences with their gold trees

    @property
    def name(self) -> str:
        """How a chart calls it."""
        return f"{self.title} · {self.settings['model']}"

    def finished_layers(self, seed: int) -> set[int]:
        """The layers that are finished under a seed."""
        return {int(row["layer"]) for row in self.rows if row["seed"] == seed}

    @cached_property
    def weights_digest(self) -> str:
        """Which trained probes these are, whatever file they came from."""
        return hashlib.sha256(json.dumps(self.weights, sort_keys=True).encode()).hexdigest()

    def check(self) -> None:
        rows = table(self)
        layers = {str(layer) for layer in rows["layer"]}
        sound = [
            not rows.empty,
            all(np.isfinite(list(row.values())).all() for row in self.rows),
            all(np.array(matrix).shape == (len(self.classes),) * 2 for matrix in self.confusion.values()),
            all(set(by_layer) <= layers for by_layer in (self.confusion, self.mistakes, self.labels)),
            all(set(scores) >= LABEL_KEYS for by_label in self.labels.values() for scores in by_label),
            all(set(mistake) >= MISTAKE_KEYS for mistakes in self.mistakes.values() for mistake in mistakes),
            all(set(example) >= {"words", "heads", "relations"} for example in self.examples),
            set(self.weights) <= layers,
        ]
        if not all(sound):
            raise ValueError
        if self.mix:
            mixture(self)
        sizes = {seed: counts_from_json(test_set["sizes"]) for seed, test_set in self.test_sets.items()}
        for seed, test_set in self.test_sets.items():
            if sizes[seed].min() < 1 or not isinstance(test_set["digest"], str):
                raise ValueError
        for seed_and_layer, stored in self.n_correct.items():
            if len(counts_from_json(stored)) != len(sizes[seed_and_layer.split()[0]]):
                raise ValueError


def table(result: ProbingResult) -> pd.DataFrame:
    """One row a layer: the score, its interval, and every baseline beside it, each the mean over the seeds.

    low and high are the 95 % interval over test examples that one seed gives, averaged like the score; seed_low and
    seed_high are the smallest and the largest score of a seed.
    """
    score, columns = SCORE[result.kind], list(COLUMNS[result.kind])
    columns += [name for name in CODE_LENGTHS if result.rows and name in result.rows[0]]
    rows = pd.DataFrame(
        [{name: float(row[name]) for name in ("layer", *columns)} for row in result.rows], columns=["layer", *columns]
    ).astype({"layer": int})
    layers = rows.groupby("layer")
    means = layers[columns].mean()
    means.insert(3, "seed_low", layers[score].min())
    means.insert(4, "seed_high", layers[score].max())
    return means.reset_index()


@dataclass(frozen=True)
class Difference:
    """How much better the second of two results is than the first, each at its best layer, with its interval."""

    first_layer: int
    second_layer: int
    value: float
    low: float  # 95 % interval over test sentences
    high: float


def difference(first: ProbingResult, second: ProbingResult) -> Difference | None:
    """Paired over the sentences of the test sets that both were scored on, averaged over their common seeds; None
    where there is no such set."""
    if first.kind != second.kind:
        return None
    layers = [int(best_row(result)["layer"]) for result in (first, second)]
    intervals = []
    for seed, test_set in first.test_sets.items():
        scores = [result.n_correct.get(f"{seed} {layer}") for result, layer in zip((first, second), layers, strict=True)]
        if test_set["digest"] == second.test_sets.get(seed, {}).get("digest") and None not in scores:
            ours, theirs = (counts_from_json(stored) for stored in scores if stored is not None)
            intervals.append(statistics.paired_bootstrap(ours, theirs, counts_from_json(test_set["sizes"])))
    return Difference(*layers, *np.mean(intervals, axis=0).tolist()) if intervals else None


@dataclass(frozen=True)
class LayerMixture:
    """The scalar mix over all seeds: the weight of each layer, its centre of gravity and the expected layer."""

    layers: list[int]
    weights: list[float]  # mean over the seeds
    center_of_gravity: float
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


def mixture(result: ProbingResult) -> LayerMixture:
    """The mean of the mixes of all seeds."""
    mixes = list(result.mix.values())
    layers = [int(layer) for layer in mixes[0]["layers"]]
    weights = np.array([mix["weights"] for mix in mixes], dtype=float)  # (seeds, layers)
    resampled = np.array([row for mix in mixes for row in mix["resampled"]], dtype=float)  # (seeds * draws, layers)
    low, high = statistics.percentiles([*(resampled @ layers), *(weights @ layers)])
    centre = float((weights @ layers).mean())
    by_seed = [layer for mix in mixes if (layer := expected_layer(layers, mix["cumulative"])) is not None]
    expected = (float(np.mean(by_seed)), min(by_seed), max(by_seed)) if by_seed else (None, None, None)
    return LayerMixture(layers, weights.mean(0).tolist(), centre, min(low, centre), max(high, centre), *expected)


def array_to_json(array: np.ndarray) -> dict[str, Any]:
    """An array as JSON holds it, in half precision."""
    half = np.ascontiguousarray(array, dtype=np.float16)
    return {"shape": list(half.shape), "half": base64.b64encode(half.tobytes()).decode("ascii")}


def array_from_json(stored: dict[str, Any]) -> np.ndarray:
    """The array that `array_to_json` stored, as float32."""
    try:
        flat = np.frombuffer(base64.b64decode(stored["half"]), dtype=np.float16)
        return flat.reshape(stored["shape"]).astype(np.float32)
    except (KeyError, TypeError, ValueError):
        raise InputError("The probes in this result file are damaged; its table can still be read.") from None


def counts_to_json(counts: np.ndarray) -> str:
    """Small whole numbers as JSON holds them, two bytes each."""
    return base64.b64encode(np.minimum(counts, 65535).astype("<u2").tobytes()).decode("ascii")


def counts_from_json(stored: str) -> np.ndarray:
    """The whole numbers that `counts_to_json` stored."""
    return np.frombuffer(base64.b64decode(stored, validate=True), dtype="<u2").astype(int)


def best_row(result: ProbingResult) -> pd.Series:
    """The row of `table` whose score is highest, of equals the lowest layer; the score is in "score" for either kind."""
    rows = table(result).assign(score=lambda rows: rows[SCORE[result.kind]])
    return rows.iloc[rows["score"].argmax()]


@dataclass(frozen=True)
class Lead:
    """How far the best layer is above the best of its baselines, in points."""

    baseline: str  # random_init, control, word_type, majority or chain
    value: float  # its score
    points: float


def lead(result: ProbingResult) -> Lead:
    """The best layer against everything that knows less than it should."""
    best = best_row(result)
    name = max(BASELINES[result.kind], key=lambda baseline: best[baseline])
    return Lead(name, float(best[name]), 100 * float(best["score"] - best[name]))


def centres_of_gravity(stored: Sequence[ProbingResult]) -> pd.DataFrame:
    """One row a task, the lowest centre first: task, center, low, high, expected, layer, score, random_init, one_layer.

    layer is the best single one, one_layer whether nearly all weight is on one; Tenney et al. (2019), figure 2.
    """
    rows = []
    for result in stored:
        if result.mix:
            mix, best = mixture(result), best_row(result)
            rows.append(
                {
                    "task": result.title,
                    "center": mix.center_of_gravity,
                    "low": mix.low,
                    "high": mix.high,
                    "expected": mix.expected,
                    "layer": int(best["layer"]),
                    "score": float(best["score"]),
                    "random_init": float(best["random_init"]),
                    "one_layer": mix.one_layer is not None,
                }
            )
    columns = ["task", "center", "low", "high", "expected", "layer", "score", "random_init", "one_layer"]
    return pd.DataFrame(rows, columns=columns).sort_values("center", ignore_index=True)


def shortest_code(result: ProbingResult) -> pd.Series:
    """The row of `table` whose labels take the fewest bits. Voita & Titov (2020)."""
    rows = table(result)
    return rows.iloc[rows["code_length"].argmin()]


@dataclass(frozen=True)
class ConfusionSummary:
    """How much of a confusion matrix is on its diagonal, and the largest number off it."""

    n_correct: int
    n_total: int
    gold: str  # the label that is mistaken most often …
    predicted: str  # … for this one
    count: int  # 0 where nothing is mistaken


def summarise_confusion(matrix: list[list[int]], classes: list[str]) -> ConfusionSummary:
    """(gold, predicted) counts -> how many are right, and the commonest mistake."""
    counts = np.array(matrix, dtype=int)
    mistakes = counts.copy()
    np.fill_diagonal(mistakes, 0)
    gold, predicted = np.unravel_index(mistakes.argmax(), mistakes.shape)
    return ConfusionSummary(
        int(counts.trace()), int(counts.sum()), classes[gold], classes[predicted], int(mistakes[gold, predicted])
    )
