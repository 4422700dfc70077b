"""Results that come with the project, each beside the command and the settings that made it."""

import json
from pathlib import Path

import pandas as pd

from . import trials

HERE = Path(__file__).parent / "results"


def results(name: str) -> pd.DataFrame:
    """One row a model, as `trials.results`."""
    return trials.results(HERE / name)


def settings(name: str) -> dict:
    """The settings of the run: trials, seeds, budget, corpus."""
    return json.loads((HERE / name / "run.json").read_text(encoding="utf-8"))


def command(name: str) -> str:
    """What to type to make the same results again."""
    return (HERE / name / "COMMAND").read_text(encoding="utf-8").strip()


def sights() -> dict[str, Path]:
    """The checkpoints of the models that learned with each sight, one seed of each."""
    return {trial.sight: HERE / "sight" / "models" / trial.sight for trial in trials.SIGHTS}


def ceiling(name: str) -> float:
    """What the best possible predictor reaches on the masked words of a run."""
    return settings(name)["ceiling"]


def said(name: str) -> str:
    """The budget in a sentence."""
    run = settings(name)
    budget = run["budget"]
    return (f"Each: {budget['layers']} layers, hidden {budget['hidden']}, {budget['steps']:,} steps of {budget['batch']} "
            f"pairs from {budget['stories']:,} stories of the small world, {len(run['seeds'])} seeds.")
