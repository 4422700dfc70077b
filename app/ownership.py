"""Mine and theirs: jobs, results and models are listed in the browser that made them; a link opens them in any other."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import streamlit as st

from app import jobs
from model.files import atomic_write

OWNER = "bertscope_owner"  # the cookie by which a browser finds its own jobs, results and models again
CLAIMS = ".owners"  # beside the models: a file for each that was made in a browser, with the mark of that browser


def mark() -> str:
    """The mark of this browser; one that takes no cookies is a new one in every session."""
    cookie = st.context.cookies.get(OWNER)
    return cookie if isinstance(cookie, str) and cookie else st.session_state.setdefault(OWNER, uuid4().hex)


def submit(work: str, arguments: Mapping[str, Any], title: str, files: Mapping[str, bytes] | None = None) -> str:
    """Queue work for this browser; a model that it makes belongs to this browser, too."""
    id = jobs.submit(work, arguments, title, files, owner=mark())
    if arguments.get("out"):
        _claim(Path(arguments["out"]))
    return id


def own_jobs() -> list[jobs.Job]:
    """Every job of this browser, the newest first."""
    return jobs.list_all(mark())


def is_mine(job: jobs.Job) -> bool:
    """Whether this browser ordered a job: only then can it be stopped, renamed or deleted here."""
    return job.owner == mark()


def model_owner(folder: Path) -> str:
    """The mark of the browser that made a model; empty for one that came in another way, and is everybody's."""
    return (jobs.patiently(_claim_file(folder).read_bytes) or b"").decode()


def delete_model(folder: Path) -> None:
    """Delete a model that this browser made."""
    if model_owner(folder) != mark():
        raise jobs.refusal(f"{folder.name} was not made in this browser, so it cannot be deleted here.")
    gone = folder.with_name(f".{folder.name}.{uuid4().hex}.gone")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    _claim_file(folder).unlink(missing_ok=True)


def _claim(folder: Path) -> None:
    file = _claim_file(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as temporary:
        temporary.write_text(mark(), encoding="utf-8")


def _claim_file(folder: Path) -> Path:
    return folder.parent / CLAIMS / folder.name
