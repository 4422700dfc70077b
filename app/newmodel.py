"""Where a model made in the browser goes: its folder among the models, and a name nobody has taken."""

import os
import re
from pathlib import Path

from app import jobs, state
from model import InputProblem


def folder(name: str) -> Path:
    """The folder of a new model of this name."""
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name, re.ASCII):
        raise InputProblem("The name of a model is made of letters, digits, - and _.")
    if (_models() / name).exists() or name in {found.name for found in state.models()}:
        raise InputProblem(f"There is a model called {name} already; choose another name.")
    return _models() / name


def free_name(stem: str) -> str:
    """The stem with the first number that no model and no order has."""
    ordered = {Path(job.arguments["out"]).name for job in jobs.all() if job.arguments.get("out")}
    taken = ordered | ({entry.name for entry in _models().iterdir()} if _models().is_dir() else set())
    return next(name for name in (f"{stem}-{number}" for number in range(1, 10_000)) if name not in taken)


def _models() -> Path:
    return Path(os.environ.get("BERTSCOPE_MODELS", "checkpoints")).absolute()
