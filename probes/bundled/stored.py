"""The results below `results/`: comparisons of small models, probing experiments, one fine-tuning."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import torch

import model
from model import ModelInfo, checkpoint

from ..finetuning.results import FinetuningResult
from ..masking_strategies import training_runs
from ..papers import Measurements
from ..probing.results import ProbingResult, lead
from .experiments import EXPERIMENTS, FINETUNED_TASKS, FINETUNING, MEASUREMENTS

FOLDER = Path(__file__).parent / "results"
STRATEGIES, DIRECTIONS = "strategies", "directions"  # the two comparisons
PROBING_COMMAND = "python3 -m probes.bundled"  # makes all of `probing` again where weights or data have changed
COMMAND = "COMMAND"
CARD = """# Small world, attention {side}

Learned masked words from stories of the small world while every position attended {visible}, in every layer; it answers
as it learned with `Edits(direction="{direction}")`. Seed 0 of the run that `COMMAND`, two folders up, makes again; stored
in half precision.
"""
SIDES = {
    "left": ("to the left", "only to itself and what stands before it"),
    "right": ("to the right", "only to itself and what stands after it"),
    "both": ("to both sides", "to everything"),
}
ORDER = (
    *training_runs.STRATEGIES,
    *training_runs.DIRECTIONS[:2],
    training_runs.ENSEMBLE,
    training_runs.DIRECTIONS[2],
)


def results(name: str) -> pd.DataFrame:
    """One row a model of a comparison, as `training_runs.results`."""
    return training_runs.results(FOLDER / name)


def settings(name: str) -> dict[str, Any]:
    """The settings of a comparison: conditions, seeds, budget, corpus, ceiling."""
    return json.loads((FOLDER / name / training_runs.SETTINGS).read_text(encoding="utf-8"))


def ceiling(name: str) -> float:
    """What the best possible predictor reaches on the masked words of a comparison."""
    return settings(name)["ceiling"]


def command(name: str) -> str:
    """What makes a comparison again."""
    return (FOLDER / name / COMMAND).read_text(encoding="utf-8").strip()


def direction_models() -> dict[str, Path]:
    """The checkpoint of a model trained with each direction, seed 0."""
    return {
        condition.direction: FOLDER / DIRECTIONS / "models" / condition.direction for condition in training_runs.DIRECTIONS
    }


def probing() -> dict[str, ProbingResult]:
    """The probing experiments by their slugs, the command of each in it; first the one of the English model that says most.

    That is the one in which it is farthest above the best of its baselines.
    """
    # while the command that makes them runs, some are not there yet
    stored = {one.slug: one.read() for one in EXPERIMENTS if one.file.is_file()}
    of_english = [one.slug for one in EXPERIMENTS if one.model == "english" and one.slug in stored]
    first = max(of_english, key=lambda slug: lead(stored[slug]).points)
    return {slug: stored[slug] for slug in (first, *(slug for slug in stored if slug != first))}


def measurements() -> Measurements:
    """Heads and states of the English model on the reader, for the cards of papers."""
    return Measurements.read(MEASUREMENTS)


def finetuning() -> dict[str, FinetuningResult]:
    """The fine-tunings by their slugs; the command of each is in it."""
    files = {task: FINETUNING / f"{task}.json" for task in FINETUNED_TASKS}
    return {task: FinetuningResult.read(file) for task, file in files.items() if file.is_file()}


def add(folder: Path, name: str, command: str) -> None:
    """Copy the results of a run into the project, with its command; of the directions, a model each too."""
    target = FOLDER / name
    target.mkdir(parents=True, exist_ok=True)
    rank = {condition.name: index for index, condition in enumerate(ORDER)}
    rows = training_runs.results(folder)
    rows = rows.sort_values(
        ["condition", "seed"], key=lambda column: column.map(rank) if column.name == "condition" else column
    )
    rows.dropna(axis=1, how="all").round(5).to_csv(target / training_runs.RESULTS, index=False)
    shutil.copy(folder / training_runs.SETTINGS, target)
    (target / COMMAND).write_text(command + "\n", encoding="utf-8")
    for condition in training_runs.DIRECTIONS if name == DIRECTIONS else ():
        bert = model.load(training_runs.model_folder(folder, condition, 0))
        bert.info = ModelInfo(condition.direction, card(condition.direction))
        checkpoint.save(bert, direction_models()[condition.direction], torch.float16)


def card(direction: str) -> str:
    """The card of a bundled model that was trained with one direction."""
    side, visible = SIDES[direction]
    return CARD.format(side=side, visible=visible, direction=direction)
