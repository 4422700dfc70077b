"""Models trained alike but for one thing, each with several seeds, and measured the same way afterwards."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd
import torch

import model
from model import Bert, BertConfig, InputProblem, smallworld
from model import tokenizer as wordpiece
from model.pretraining import corpus as texts
from model.pretraining import token_store
from model.pretraining.loop import finished, pretrain
from model.pretraining.masking import Mix
from model.pretraining.resume import writing
from model.pretraining.settings import Recipe

from . import evaluation

STORY_SEED = 1  # of the stories that are learned from; the measuring uses others
NAME = "results.csv"


@dataclass(frozen=True)
class Trial:
    """The one thing that differs: how words are masked, or what a position may look at."""

    name: str
    mix: Mix = field(default_factory=Mix)
    sight: str = "both"


@dataclass(frozen=True)
class Budget:
    """What every trial gets alike: texts, size, steps. `stories` counts those of the small world."""

    steps: int = 2000
    batch: int = 16
    layers: int = 2
    hidden: int = 128
    heads: int = 4
    rate: float = 1.2e-3
    length: int = smallworld.LONGEST
    stories: int = 8000
    vocabulary: int = 4000  # pieces learned from a corpus; the small world brings its own words
    threads: int = 1

    def recipe(self, trial: Trial, seed: int, vocabulary: Path) -> Recipe:
        shape = {"num_hidden_layers": self.layers, "hidden_size": self.hidden, "num_attention_heads": self.heads,
                 "intermediate_size": 4 * self.hidden}
        return Recipe(preset="tiny", config=shape, tokenizer=str(vocabulary), quick=True, mix=trial.mix, sight=trial.sight,
                      length=self.length, batch=self.batch, steps=self.steps, rate=self.rate, seed=seed,
                      threads=self.threads, evaluations=8, held=200, hold_out=20)


# Devlin et al. (2019), Table 8, in the order of its columns: MASK, SAME, RND
SHARES = ((80, 10, 10), (100, 0, 0), (80, 0, 20), (80, 20, 0), (0, 20, 80), (0, 0, 100))
STRATEGIES = tuple(Trial(f"{mask}/{same}/{random}", Mix(mask / 100, random / 100, same / 100))
                   for mask, same, random in SHARES)
SIGHTS = (Trial("left", sight="left"), Trial("right", sight="right"), Trial("both"))
APART = Trial("averaged")  # no model of its own: what left and right say, joined at the end


def named(name: str) -> Trial:
    """A trial by its shares as the paper writes them: MASK/SAME/RND in percent, such as 80/10/10."""
    try:
        mask, same, random = (float(part) / 100 for part in name.split("/"))
    except ValueError:
        raise InputProblem(f"“{name}” is not a mix: write three shares in percent, MASK/SAME/RND, such as "
                           "80/10/10.") from None
    return Trial("/".join(part.strip() for part in name.split("/")), Mix(mask, random, same))


def described(trial: Trial) -> dict:
    """A trial as JSON holds it."""
    return asdict(trial)


def run(folder: Path, trials: Sequence[dict], seeds: Sequence[int], budget: dict | None = None,
        corpus: str | None = None) -> Iterator[dict]:
    """Train and measure every trial with every seed; what is finished in the folder is not done again.

    Yields fraction, stage, eta and the numbers of the step; leaves `results.csv`, one row a model, and the models.
    `corpus` is a text file or folder, named from the folder or from anywhere; without it stories are told.
    """
    folder = Path(folder)
    given = Budget(**(budget or {}))
    asked = [_trial(one) for one in trials]
    folder.mkdir(parents=True, exist_ok=True)
    source = None if corpus is None else folder / corpus if (folder / corpus).exists() else Path(corpus)
    record = {"trials": [described(trial) for trial in asked], "seeds": list(seeds), "budget": asdict(given),
              "corpus": "small world" if source is None else texts.described(source)}
    with writing(folder / "run.json") as made:
        made.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    yield {"fraction": 0.0, "stage": "Reading the texts"}
    _prepare(folder, source, given)
    plan = [(trial, seed) for seed in seeds for trial in asked]
    began, first = time.monotonic(), None
    for place, (trial, seed) in enumerate(plan):
        stage = f"{trial.name}, seed {seed} (model {place + 1} of {len(plan)})"
        for progress in _trained(folder, trial, seed, given):
            done = (place + progress.fraction) / len(plan)
            first = done if first is None else first
            spent = time.monotonic() - began
            eta = spent * (1 - done) / (done - first) if done > first else None
            yield {"fraction": done, "stage": stage, "eta": eta, "step": progress.step, "mlm_loss": progress.mlm_loss}
        if not _known(folder, trial, seed):
            yield {"fraction": (place + 1) / len(plan), "stage": f"Measuring {stage}"}
            _note(folder, trial, seed, given, source is None)
    for seed in seeds:
        if {"left", "right"} <= {trial.sight for trial in asked} and not _known(folder, APART, seed):
            _note_apart(folder, seed, given)
    yield {"fraction": 1.0, "stage": "Done", "eta": 0.0}


def results(folder: Path) -> pd.DataFrame:
    """One row a model: trial, seed, and what it can do; empty before the first is measured."""
    path = Path(folder) / NAME
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["trial", "seed"])


def home(folder: Path, trial: Trial, seed: int) -> Path:
    """Where the model of a trial and seed lives."""
    return folder / "models" / f"{trial.name.replace('/', '-')}-seed{seed}"


def _trial(one: dict) -> Trial:
    return Trial(one["name"], Mix(**one.get("mix", {})), one.get("sight", "both"))


def _prepare(folder: Path, source: Path | None, budget: Budget) -> None:
    """One vocabulary and one cut corpus for all trials."""
    vocabulary = folder / "vocabulary"
    if not (vocabulary / "config.json").is_file():
        pieces = smallworld.tokenizer(512) if source is None else wordpiece.train(
            (sentence for document in texts.documents(source) for sentence in document), budget.vocabulary)
        Bert.random(BertConfig(pieces.size, 8, 1, 1, 8, 8), pieces).save(vocabulary)
    if not token_store.complete(folder / "corpus"):
        read = texts.documents(list(smallworld.documents(STORY_SEED, budget.stories)) if source is None else source)
        for _ in token_store.build(read, model.load(vocabulary).tokenizer, folder / "corpus", hold_out=20):
            pass
    if len(token_store.Store(folder / "corpus" / "held")) < 2:
        raise InputProblem("The corpus is too small to keep anything back: give at least 40 documents, separated by "
                           "blank lines.")


def _trained(folder: Path, trial: Trial, seed: int, budget: Budget):
    place = home(folder, trial, seed)
    if not finished(place):
        yield from pretrain(folder / "corpus", place, budget.recipe(trial, seed, folder / "vocabulary"), again=True)


def _known(folder: Path, trial: Trial, seed: int) -> bool:
    found = results(folder)
    return bool(((found["trial"] == trial.name) & (found["seed"] == seed)).any())


def _note(folder: Path, trial: Trial, seed: int, budget: Budget, labelled: bool) -> None:
    """Measure a model and add its row."""
    torch.set_num_threads(budget.threads)
    bert = model.load(home(folder, trial, seed))
    _add(folder, {"trial": trial.name, "seed": seed} | evaluation.measured(
        bert, token_store.Store(folder / "corpus" / "held"), trial.sight, budget.length, labelled, seed))


def _note_apart(folder: Path, seed: int, budget: Budget) -> None:
    left, right = (model.load(home(folder, trial, seed)) for trial in SIGHTS[:2])
    held = token_store.Store(folder / "corpus" / "held")
    _add(folder, {"trial": APART.name, "seed": seed, "masked": evaluation.averaged(left, right, held, budget.length)})


def _add(folder: Path, row: dict) -> None:
    with writing(folder / NAME) as made:
        pd.concat([results(folder), pd.DataFrame([row])], ignore_index=True).to_csv(made, index=False)
