"""Which probing experiments come with the project, and how each is made: `python3 -m probes.bundled`.

A result that is there already, of the same weights, data and settings, is not made again, so the command can be stopped
and started at any time.
"""

import multiprocessing
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import model
from model import InputError

from .. import papers
from ..finetuning import experiment as finetuning
from ..finetuning.results import FinetuningResult
from ..probing import experiment, features, results
from ..probing.results import ProbingResult
from ..results import RESULT

FOLDER = Path(__file__).parent / "results" / "probes"
FINETUNING = Path(__file__).parent / "results" / "finetuning"
FINETUNED_TASKS = ("topic",)  # of the reader, by the English model
FINETUNING_SETTINGS: dict[str, Any] = {"model": "english", "data": experiment.READER, "epochs": 4, "limit": 1000}
MEASUREMENTS = Path(__file__).parent / "results" / "papers" / "english.json"
TASKS = (
    "upos",
    "deprel",
    "number",
    "tense",
    "entity",
    "coreference",
    "sense",
    "tree",
    "sentiment",
    "topic",
    "maintense",
    "subject",
    "shift",
)
RANDOM_TASKS = ("upos", "entity")  # the copy is in every result of its model; these are to be opened by themselves
# the small world's model spells English letter by letter: passages are too long for it, and whole sentences say nothing
STRANGER_TASKS = ("upos", "deprel", "number", "tense", "entity", "tree")
SETTINGS: dict[str, Any] = {"seeds": 3, "limit": 3000, "width": 32}
WITH_CODE_LENGTH = (("english", "upos"),)
MISTAKES = 20  # stored of the best layer
WEIGHTS_BYTES = 120_000  # of the probes of one result; beyond that only the best layer's probe is stored


@dataclass(frozen=True)
class StoredExperiment:
    """One experiment that comes with the project."""

    model: str  # as the command line takes it
    task: str
    data: str = experiment.READER

    @property
    def slug(self) -> str:
        """Its name in addresses and files."""
        source = "" if self.data == experiment.READER else f"-{self.data}"
        return f"{self.model.replace(':', '-')}-{self.task}{source}"

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.slug}.json"

    @property
    def arguments(self) -> dict[str, Any]:
        """What `experiment.run` takes."""
        extra = {"mix": self.task != "tree", "code_length": (self.model, self.task) in WITH_CODE_LENGTH}
        return {"model": self.model, "data": self.data, "task": self.task, **SETTINGS, **extra}

    def read(self) -> ProbingResult:
        return ProbingResult.read(self.file)

    def is_current(self) -> bool:
        """Whether the stored result is of these weights, data and settings."""
        try:
            stored = self.read()
        except (FileNotFoundError, InputError):
            return False
        trained = model.load(self.model.removesuffix(experiment.RANDOM))
        wanted = {name: value for name, value in self.arguments.items() if name not in ("model", "data")}
        wanted |= {"model_digest": features.digest(trained), "digest": experiment.BUNDLED_DATA[self.data]().digest}
        return stored.finished and {name: stored.settings.get(name) for name in wanted} == wanted


EXPERIMENTS = (
    *(StoredExperiment("english", task) for task in TASKS),
    *(StoredExperiment(f"english{experiment.RANDOM}", task) for task in RANDOM_TASKS),
    *(StoredExperiment("smallworld", task) for task in STRANGER_TASKS),
    StoredExperiment("smallworld", "upos", experiment.SMALL_WORLD),
)


def make(processes: int, names: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Make what is not current, all or those of these slugs, in this many processes; yield slug and what happened."""
    due = [one for one in EXPERIMENTS if (not names or one.slug in names)]
    # the longest first, so that no process ends long before the other
    due.sort(key=lambda one: (one.model == "smallworld", one.task not in ("deprel", "tree", "upos")))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        others = []
        if not names:
            others = [pool.apply_async(_finetune, (task,)) for task in FINETUNED_TASKS]
            others.append(pool.apply_async(_measure))
        yield from pool.imap_unordered(_make_one, due)
        yield from (other.get() for other in others)


def _finetune(task: str) -> tuple[str, str]:
    """One fine-tuning on the reader, with its baselines."""
    torch.set_num_threads(1)
    file, bert, reader = FINETUNING / f"{task}.json", model.load("english"), experiment.reader()
    try:
        stored = FinetuningResult.read(file)
        current = {name: stored.settings.get(name) for name in ("model_digest", "digest", "epochs", "limit")}
        wanted = {"model_digest": features.digest(bert), "digest": reader.digest} | {
            name: FINETUNING_SETTINGS[name] for name in ("epochs", "limit")
        }
        if stored.finished and current == wanted:
            return f"finetuning {task}", "is current"
    except (FileNotFoundError, InputError):
        pass
    with tempfile.TemporaryDirectory() as folder:
        for _ in finetuning.run(Path(folder), task=task, **FINETUNING_SETTINGS):
            pass
        result = FinetuningResult.read(Path(folder) / RESULT)
    result.mistakes = result.mistakes[:MISTAKES]
    FINETUNING.mkdir(parents=True, exist_ok=True)
    result.write(file)
    return f"finetuning {task}", ", ".join(f"{name} {score[0]:.1%}" for name, score in result.scores.items())


def _measure() -> tuple[str, str]:
    """Heads and states of the English model, for the cards of papers."""
    bert, reader = model.load("english"), experiment.reader()
    wanted = (features.digest(bert), reader.digest)
    if MEASUREMENTS.is_file():
        stored = papers.Measurements.read(MEASUREMENTS)
        if (stored.model_digest, stored.digest) == wanted:
            return "papers", "is current"
    MEASUREMENTS.parent.mkdir(parents=True, exist_ok=True)
    measured = papers.measure(bert, reader)
    measured.write(MEASUREMENTS)
    return "papers", f"{len(measured.relations)} relations"


def _make_one(one: StoredExperiment) -> tuple[str, str]:
    torch.set_num_threads(1)
    if one.is_current():
        return one.slug, "is current"
    with tempfile.TemporaryDirectory() as folder:
        for _ in experiment.run(Path(folder), **one.arguments):
            pass
        result = ProbingResult.read(Path(folder) / RESULT)
    trim(result)
    FOLDER.mkdir(parents=True, exist_ok=True)
    result.write(one.file)
    best = results.best_row(result)
    return one.slug, f"{best['score']:.1%} at layer {int(best['layer'])}, random weights {best['random_init']:.1%}"


def trim(result: ProbingResult) -> None:
    """Leave out what would make the project large: all but the best layer's mistakes and, where they are many, probes."""
    best, first = str(int(results.best_row(result)["layer"])), str(result.settings["seed"])
    result.rows = [{name: round(value, 5) for name, value in row.items()} for row in result.rows]
    result.confusion = {layer: matrix for layer, matrix in result.confusion.items() if layer == best}
    result.labels = {layer: scores for layer, scores in result.labels.items() if layer == best}
    result.mistakes = {layer: wrong[:MISTAKES] for layer, wrong in result.mistakes.items() if layer == best}
    result.test_sets = {seed: test_set for seed, test_set in result.test_sets.items() if seed == first}
    result.n_correct = {key: counts for key, counts in result.n_correct.items() if key.split()[0] == first}
    if sum(len(part["half"]) for parts in result.weights.values() for part in parts) > WEIGHTS_BYTES:
        result.weights = {layer: parts for layer, parts in result.weights.items() if layer == best}
    for mix in result.mix.values():
        for name in ("weights", "cumulative"):
            mix[name] = [round(value, 4) for value in mix[name]]
        mix["resampled"] = [[round(value, 3) for value in row] for row in mix["resampled"]]
