"""A job that a reader ordered: its id stands in the address, so that a reload or a link finds it again."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import jobs, ownership, session


def remember(name: str, id: str) -> None:
    """Keep the id of a job under this name."""
    st.session_state[name] = st.query_params[name] = id


def forget(name: str) -> None:
    """Another file was chosen: the results of the last one are not about it."""
    st.session_state.pop(name, None)
    st.query_params.pop(name, None)


def current(name: str, work: str, arguments: Mapping[str, Any] | None = None) -> jobs.Job | None:
    """The job under this name, where it did this work on the current model, with these arguments where they are named."""
    id = st.query_params.get(name) or st.session_state.get(name, "")
    if not jobs.exists(id):
        return None
    job = jobs.get(id)
    wanted = {"source": session.checkpoint_path()} if arguments is None else dict(arguments)
    if job.work != work or not wanted.items() <= job.arguments.items() or _is_stale(job):
        return None
    st.query_params[name] = id
    return job


def latest(work: str, arguments: Mapping[str, Any]) -> jobs.Job | None:
    """The newest job of this browser that did this work with exactly these arguments, on the model as it is now."""
    job = jobs.latest(work, arguments, ownership.mark())
    return None if job is None or _is_stale(job) else job


def _is_stale(job: jobs.Job) -> bool:
    """Whether the current model was written again after the job was ordered."""
    return job.folder.stat().st_mtime < session.model_modified()
