"""Models trained under conditions that differ in one thing, each with several seeds, and evaluated alike."""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import torch

import model
from model import Bert, BertConfig, InputError, smallworld
from model import tokenizer as wordpiece
from model.files import atomic_write, write_text
from model.pretraining import corpus as texts
from model.pretraining.loop import PretrainingProgress, finished, pretrain
from model.pretraining.masking import MaskingStrategy
from model.pretraining.settings import TrainingConfig
from model.pretraining.token_store import TokenStore, build, is_complete

from ..progress import StageClock
from . import evaluation

STORY_SEED = 1  # of the stories to train on; the evaluation uses others
HELDOUT_EVERY = 20
RESULTS = "results.csv"
SETTINGS = "run.json"


@dataclass(frozen=True)
class TrainingCondition:
    """The one thing that differs: how words are masked, or in which direction a position may attend."""

    name: str
    masking: MaskingStrategy = field(default_factory=MaskingStrategy)
    direction: str = "both"


@dataclass(frozen=True)
class TrainingBudget:
    """What is equal in all conditions: texts, size, steps. `stories` counts those of the small world."""

    steps: int = 2000
    batch_size: int = 16
    layers: int = 2
    hidden: int = 128
    heads: int = 4
    learning_rate: float = 1.2e-3
    max_length: int = smallworld.LONGEST
    stories: int = 8000
    vocab_size: int = 4000  # of a corpus; the small world has its own words
    threads: int = 1

    def config(self, condition: TrainingCondition, seed: int, vocabulary: Path) -> TrainingConfig:
        """The training configuration of one model."""
        shape = {
            "num_hidden_layers": self.layers,
            "hidden_size": self.hidden,
            "num_attention_heads": self.heads,
            "intermediate_size": 4 * self.hidden,
        }
        return TrainingConfig(
            preset="tiny",
            config=shape,
            tokenizer=str(vocabulary),
            mimetic_init=True,
            masking=condition.masking,
            direction=condition.direction,
            max_length=self.max_length,
            batch_size=self.batch_size,
            steps=self.steps,
            learning_rate=self.learning_rate,
            seed=seed,
            threads=self.threads,
            evaluations=8,
            eval_pairs=200,
            heldout_every=HELDOUT_EVERY,
        )


# Devlin et al. (2019), Table 8, in the order of its columns: MASK, SAME, RND
SHARES = ((80, 10, 10), (100, 0, 0), (80, 0, 20), (80, 20, 0), (0, 20, 80), (0, 0, 100))
STRATEGIES = tuple(
    TrainingCondition(f"{mask}/{same}/{random}", MaskingStrategy(mask / 100, random / 100, same / 100))
    for mask, same, random in SHARES
)
DIRECTIONS = (
    TrainingCondition("left", direction="left"),
    TrainingCondition("right", direction="right"),
    TrainingCondition("both"),
)
ENSEMBLE = TrainingCondition("averaged")  # no model of its own: the mean prediction of left and right


def condition(name: str) -> TrainingCondition:
    """A masking strategy as the paper writes it: MASK/SAME/RND in percent, such as 80/10/10."""
    try:
        mask, same, random = (float(percent) / 100 for percent in name.split("/"))
    except ValueError:
        raise InputError(
            f"“{name}” is no masking strategy: three shares in percent, MASK/SAME/RND, are needed, such as 80/10/10."
        ) from None
    return TrainingCondition("/".join(percent.strip() for percent in name.split("/")), MaskingStrategy(mask, random, same))


def describe(condition: TrainingCondition) -> dict[str, Any]:
    """A condition as JSON holds it."""
    return asdict(condition)


def run(
    folder: Path, conditions: Sequence[dict], seeds: Sequence[int], budget: dict | None = None, corpus: str | None = None
) -> Generator[dict[str, Any]]:
    """Train and evaluate every condition with every seed; what is finished in the folder is not done again.

    Yields fraction, stage and eta, in training also the step and its loss; leaves `results.csv`, one row a model, and the
    models. `corpus` is a text file or folder, relative to the folder or not; without it, stories of the small world.
    """
    folder, equal = Path(folder), TrainingBudget(**(budget or {}))
    trained = [_condition(description) for description in conditions]
    folder.mkdir(parents=True, exist_ok=True)
    source = None if corpus is None else folder / corpus if (folder / corpus).exists() else Path(corpus)
    settings = {
        "conditions": [describe(condition) for condition in trained],
        "seeds": list(seeds),
        "budget": asdict(equal),
        "corpus": "small world" if source is None else texts.describe(source),
    }
    write_text(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")
    clock = StageClock()
    yield {**clock.at(0.0, "Reading the texts")}
    _prepare(folder, source, equal)
    models = [(condition, seed) for seed in seeds for condition in trained]
    for index, (condition, seed) in enumerate(models):
        stage = f"{condition.name}, seed {seed} (model {index + 1} of {len(models)})"
        for step in _train(folder, condition, seed, equal):
            progress = clock.at((index + step.fraction) / len(models), stage)
            yield {**progress, "step": step.step, "mlm_loss": step.mlm_loss}
        if not _is_evaluated(folder, condition, seed):
            yield {**clock.at((index + 1) / len(models), f"Measuring {stage}")}
            _evaluate(folder, condition, seed, equal, labelled=source is None)
    if {"left", "right"} <= {condition.direction for condition in trained}:
        for seed in seeds:
            if not _is_evaluated(folder, ENSEMBLE, seed):
                _evaluate_ensemble(folder, seed, equal)
    yield {**clock.at(1.0, "Done")}


def results(folder: Path) -> pd.DataFrame:
    """One row a model: condition, seed, and its accuracies; empty before the first is evaluated."""
    path = Path(folder) / RESULTS
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["condition", "seed"])


def model_folder(folder: Path, condition: TrainingCondition, seed: int) -> Path:
    """Where the model of a condition and seed is."""
    return folder / "models" / f"{condition.name.replace('/', '-')}-seed{seed}"


def heldout(folder: Path) -> TokenStore:
    """The texts of a run that no model was trained on."""
    return TokenStore(folder / "corpus" / "heldout")


def _condition(description: dict) -> TrainingCondition:
    masking = MaskingStrategy(**description.get("masking", {}))
    return TrainingCondition(description["name"], masking, description.get("direction", "both"))


def _prepare(folder: Path, source: Path | None, budget: TrainingBudget) -> None:
    """One vocabulary and one token store for all conditions."""
    vocabulary = folder / "vocabulary"
    if not (vocabulary / "config.json").is_file():
        if source is None:
            tokenizer = smallworld.tokenizer(512)
        else:
            sentences = (sentence for document in texts.documents(source) for sentence in document)
            tokenizer = wordpiece.train(sentences, budget.vocab_size)
        Bert.random_init(BertConfig(tokenizer.vocab_size, 8, 1, 1, 8, 8), tokenizer).save(vocabulary)
    if not is_complete(folder / "corpus"):
        stories = list(smallworld.documents(STORY_SEED, budget.stories)) if source is None else source
        for _ in build(texts.documents(stories), model.load(vocabulary).tokenizer, folder / "corpus", HELDOUT_EVERY):
            pass
    if len(heldout(folder)) < 2:
        raise InputError(
            f"The corpus is too small to hold documents out: at least {2 * HELDOUT_EVERY} documents are needed, "
            "separated by blank lines."
        )


def _train(folder: Path, condition: TrainingCondition, seed: int, budget: TrainingBudget) -> Iterator[PretrainingProgress]:
    target = model_folder(folder, condition, seed)
    if not finished(target):
        yield from pretrain(folder / "corpus", target, budget.config(condition, seed, folder / "vocabulary"), resume=True)


def _is_evaluated(folder: Path, condition: TrainingCondition, seed: int) -> bool:
    rows = results(folder)
    return bool(((rows["condition"] == condition.name) & (rows["seed"] == seed)).any())


def _evaluate(folder: Path, condition: TrainingCondition, seed: int, budget: TrainingBudget, labelled: bool) -> None:
    torch.set_num_threads(budget.threads)
    bert = model.load(model_folder(folder, condition, seed))
    scores = evaluation.evaluate(bert, heldout(folder), condition.direction, budget.max_length, labelled, seed)
    _append(folder, {"condition": condition.name, "seed": seed, **scores})


def _evaluate_ensemble(folder: Path, seed: int, budget: TrainingBudget) -> None:
    left, right = (model.load(model_folder(folder, condition, seed)) for condition in DIRECTIONS[:2])
    accuracy = evaluation.ensemble_accuracy(left, right, heldout(folder), budget.max_length)
    _append(folder, {"condition": ENSEMBLE.name, "seed": seed, "masked": accuracy})


def _append(folder: Path, row: dict[str, Any]) -> None:
    with atomic_write(folder / RESULTS) as temporary:
        pd.concat([results(folder), pd.DataFrame([row])], ignore_index=True).to_csv(temporary, index=False)


def means(table: pd.DataFrame, column: str) -> dict[str, float]:
    """The mean over seeds of one column of `results` for each condition, in their order; None is left out."""
    if column not in table:
        return {}
    values = table.groupby("condition", sort=False)[column].mean().dropna()
    return {str(condition): float(mean) for condition, mean in values.items()}


def baseline(table: pd.DataFrame, column: str) -> float | None:
    """The mean of a baseline column of `results` over all models; None where it was not measured."""
    values = table[column].dropna() if column in table else pd.Series(dtype=float)
    return None if values.empty else float(values.mean())
