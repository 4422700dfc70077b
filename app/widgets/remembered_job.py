"""Long work a reader ordered: its id stands in the address, so that a reload or a link finds it again."""

import streamlit as st

from app import jobs, session


def remember(name: str, id: str) -> None:
    """Keep the id of a job under this name."""
    st.session_state[name] = st.query_params[name] = id


def forget(name: str) -> None:
    """Another file was chosen: what was found in the last one is not about it."""
    st.session_state.pop(name, None)
    st.query_params.pop(name, None)


def job(name: str, work: str) -> jobs.Job | None:
    """The work kept under this name, where it was done on the current model."""
    id = st.query_params.get(name) or st.session_state.get(name, "")
    if not jobs.exists(id):
        return None
    found = jobs.find(id)
    stale = found.folder.stat().st_mtime < session.changed()
    if found.work != work or found.arguments["source"] != session.source() or stale:
        return None
    st.query_params[name] = id
    return found
