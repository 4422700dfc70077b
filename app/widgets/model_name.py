"""Where a model trained in the browser goes: its folder among the models, and a name that is free."""

import re
from pathlib import Path

from app import jobs, session
from model import InputError


def folder(name: str) -> Path:
    """The folder of a new model of this name."""
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name, re.ASCII):
        raise InputError("A model is named with letters, digits, - and _.")
    if (session.models_folder() / name).exists() or name in {info.name for info in session.models()}:
        raise InputError(f"There is a model called {name} already; choose another name.")
    return session.models_folder() / name


def free_name(stem: str) -> str:
    """The stem with the first number that no model and no order has."""
    used = {Path(job.arguments["out"]).name for job in jobs.list_all() if job.arguments.get("out")}
    models = session.models_folder()
    used |= {entry.name for entry in models.iterdir()} if models.is_dir() else set()
    return next(name for name in (f"{stem}-{number}" for number in range(1, 10_000)) if name not in used)
