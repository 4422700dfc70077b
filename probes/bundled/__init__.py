"""Results that come with the project, each beside the command and the settings that made it."""

import json
import shutil
from pathlib import Path

import pandas as pd
import torch

import model
from model import About, checkpoint

from ..finetuning import experiment
from ..masking_strategies import training_runs
from ..probing import results as probing

HERE = Path(__file__).parent / "results"
PROBED = ("english", "english-random", "smallworld")  # the command is in each
SIGHT = "sight"
CARD = """# Small world, {sight} sight

Learned masked words from stories of the small world while every position saw {seen}, in every layer; ask it with the
same sight. Seed 0 of the run that `COMMAND`, two folders up, makes again; stored in half precision.
"""
SEEN = {"left": "only itself and what stands before it", "right": "only itself and what stands after it",
        "both": "everything"}


def results(name: str) -> pd.DataFrame:
    """One row a model, as `trials.results`."""
    return training_runs.results(HERE / name)


def settings(name: str) -> dict:
    """The settings of the run: trials, seeds, budget, corpus."""
    return json.loads((HERE / name / "run.json").read_text(encoding="utf-8"))


def command(name: str) -> str:
    """What to type to make the same results again."""
    return (HERE / name / "COMMAND").read_text(encoding="utf-8").strip()


def probed() -> list[probing.Result]:
    """One small probing experiment on each of these models; the command that makes it again is in each."""
    return [probing.read(HERE / "probes" / f"{name}.json") for name in PROBED]


def tuned() -> experiment.Result:
    """One fine-tuning: `run.py finetune` as it is, of the reviews; the command that makes it again is in it."""
    return experiment.read(HERE / "tuning" / experiment.RESULT)


def sights() -> dict[str, Path]:
    """The checkpoints of the models that learned with each sight, one seed of each."""
    return {trial.sight: HERE / SIGHT / "models" / trial.sight for trial in training_runs.SIGHTS}


def ceiling(name: str) -> float:
    """What the best possible predictor reaches on the masked words of a run."""
    return settings(name)["ceiling"]


def said(name: str) -> str:
    """The budget in a sentence."""
    run = settings(name)
    budget = run["budget"]
    return (f"Each: {budget['layers']} layers, hidden {budget['hidden']}, {budget['steps']:,} steps of {budget['batch']} "
            f"pairs from {budget['stories']:,} stories of the small world, {len(run['seeds'])} seeds.")


def ship(folder: Path, name: str, typed: str) -> None:
    """Take the results of a run into the project, with what was typed to make them; of the sights, a model each too."""
    place = HERE / name
    place.mkdir(parents=True, exist_ok=True)
    found = training_runs.results(folder)
    order = [trial.name for trial in (*training_runs.STRATEGIES, *training_runs.SIGHTS[:2], training_runs.APART,
                                      training_runs.SIGHTS[2])]
    found = found.sort_values(["trial", "seed"], key=lambda row: row.map(order.index) if row.name == "trial" else row)
    found.dropna(axis=1, how="all").round(5).to_csv(place / training_runs.NAME, index=False)
    shutil.copy(folder / "run.json", place)
    (place / "COMMAND").write_text(typed + "\n", encoding="utf-8")
    for trial in training_runs.SIGHTS if name == SIGHT else ():
        bert = model.load(training_runs.home(folder, trial, 0))
        bert.about = About(trial.sight, CARD.format(sight=trial.sight, seen=SEEN[trial.sight]))
        checkpoint.save(bert, sights()[trial.sight], torch.float16)
