"""Where a model made in the browser goes: its folder among the models, and a name nobody has taken."""

import re
from pathlib import Path

from app import jobs, session
from model import InputProblem


def folder(name: str) -> Path:
    """The folder of a new model of this name."""
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name, re.ASCII):
        raise InputProblem("The name of a model is made of letters, digits, - and _.")
    if (session.models_folder() / name).exists() or name in {found.name for found in session.models()}:
        raise InputProblem(f"There is a model called {name} already; choose another name.")
    return session.models_folder() / name


def free_name(stem: str) -> str:
    """The stem with the first number that no model and no order has."""
    ordered = {Path(job.arguments["out"]).name for job in jobs.all() if job.arguments.get("out")}
    place = session.models_folder()
    taken = ordered | ({entry.name for entry in place.iterdir()} if place.is_dir() else set())
    return next(name for name in (f"{stem}-{number}" for number in range(1, 10_000)) if name not in taken)

