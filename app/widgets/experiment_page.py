"""A page of experiments: its queue with progress and cancel, the list of results, the open one, the form for another.

Probes and Fine-tune fill the whole frame; Train and Masking strategies show their results in ways of their own and use
its upper half.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import jobs, layout, limits, ownership, session
from app.jobs import panel
from app.widgets.dropdown import dropdown
from model import InputError

R = TypeVar("R")


@dataclass(frozen=True)
class ListedResult(Generic[R]):
    """One line of the list of results."""

    title: str
    result: R
    job: jobs.Job | None = None  # None for one that comes with the project, or from a file of the reader's


@dataclass(frozen=True)
class Experiment(Generic[R]):
    """One kind of experiment: the work that is queued for it, and how its results are read, named and shown."""

    work: str  # "app.work.module:function"
    key: str  # of the open result, in the address
    form_title: str
    form: Callable[[], None]
    file: str  # the result, in the folder of a job
    read: Callable[[Path], R]
    has_scores: Callable[[R], bool]  # whether there is enough in it to be opened
    title: Callable[[jobs.Job, R], str]
    bundled: Callable[[], dict[str, ListedResult[R]]]  # slug -> a result that comes with the project
    preview: Callable[[R], None]  # of a job that is still active
    show: Callable[[dict[str, ListedResult[R]], str], None]  # all results, and the slug of the open one


def stored(orders: Iterable[jobs.Job], file: str, read: Callable[[Path], R]) -> tuple[dict[str, R], list[str]]:
    """The result in the folder of each job, by its id; and a sentence for every file that cannot be read."""
    results: dict[str, R] = {}
    unreadable: list[str] = []
    for job in orders:
        try:
            result = session.file_content(job.folder / file, read)
        except (InputError, OSError) as error:
            unreadable.append(f"{job.title}: {error}")
            continue
        if result is not None:
            results[job.id] = result
    return results, unreadable


def page(experiment: Experiment[R], opened: dict[str, ListedResult[R]] | None = None) -> None:
    """The whole frame; `opened` are results from files of the reader's."""

    def preview(job: jobs.Job) -> None:
        # a resumed job may still have the unreadable file of another version, until its first part is done again
        result = stored([job], experiment.file, experiment.read)[0].get(job.id) if job.is_active else None
        if result is not None:
            experiment.preview(result)

    at_work, opened_result, below = st.container(), st.container(), st.container()
    with at_work:
        orders = watch_and_order(
            experiment.work,
            experiment.form_title,
            experiment.form,
            preview,
            on_end=lambda job: open_next(experiment.key, job.id),
            form_place=below,
        )
    ended = [job for job in orders if job.state in ("done", "stopped")][: limits.RESULTS_LISTED]
    ended += _shared(experiment, ended)
    results, unreadable = stored(ended, experiment.file, experiment.read)
    with opened_result:
        passed_over(unreadable)
    own = {
        job.id: ListedResult(job.name or experiment.title(job, result), result, job)
        for job in ended
        if (result := results.get(job.id)) is not None and experiment.has_scores(result)
    }
    listed = experiment.bundled() | (opened or {}) | own
    wanted = st.session_state.pop(_wanted(experiment.key), None)
    if wanted in listed:
        st.session_state[experiment.key] = wanted
    titles = {slug: entry.title for slug, entry in listed.items()}
    with opened_result:
        slug = dropdown("Result", titles, experiment.key, default=next(iter([*own, *(opened or {})]), None))
        experiment.show(listed, slug)
        if (job := listed[slug].job) is not None:
            _manage(experiment.key, job, titles[slug])


def _shared(experiment: Experiment[R], own: list[jobs.Job]) -> list[jobs.Job]:
    """The job of another browser whose result a link opens."""
    id = st.query_params.get(experiment.key) or st.session_state.get(experiment.key, "")
    if id in {job.id for job in own} or not jobs.exists(id):
        return []
    job = jobs.get(id)
    return [job] if job.work == experiment.work and job.state in ("done", "stopped") else []


def _manage(key: str, job: jobs.Job, title: str) -> None:
    """What its owner can do with a result: name it, share it by a link, delete it."""
    with st.container(horizontal=True):
        with st.popover("Share", icon=":material/link:", type="tertiary"):
            st.markdown("This link opens the result in any browser that reaches this app:")
            st.code(f"{st.context.url}?{key}={job.id}", language=None)
        if not ownership.is_mine(job):
            return
        with st.popover("Name it", icon=":material/edit:", type="tertiary"):
            name = st.text_input("Name of this result", title, key=f"name-{job.id}", max_chars=limits.RESULT_NAME)
            st.button("Save the name", key=f"rename-{job.id}", on_click=lambda: jobs.rename(job.id, name))
        with st.popover("Delete", icon=":material/delete:", type="tertiary"):
            st.markdown("Delete this result? It cannot be brought back.")
            st.button("Delete it", key=f"delete-result-{job.id}", type="primary", on_click=_delete, args=(key, job))


def _delete(key: str, job: jobs.Job) -> None:
    jobs.remove(job.id)
    st.session_state.pop(key, None)
    st.query_params.pop(key, None)


def watch_and_order(
    work: str,
    form_title: str,
    form: Callable[[], None],
    draw: Callable[[jobs.Job], None] | None = None,
    on_end: Callable[[jobs.Job], None] | None = None,
    every: float = 1.5,
    form_place: DeltaGenerator | None = None,
) -> list[jobs.Job]:
    """The job under way or the latest one, unless it is done; those that wait; the form, in another place of the page where
    one is named. Returns all, newest first."""
    orders = [job for job in ownership.own_jobs() if job.work == work]
    current = current_job(orders)
    # a place of its own: when a job comes or goes, the form below must not be drawn anew with its upload
    with st.container():
        if current is not None and current.state != "done":
            panel.show(current.id, draw, on_end, every)
        for job in reversed(orders):
            if job.state == "waiting" and job is not current:
                panel.summary(job)
    with form_place or st.container(), st.expander(form_title, icon=":material/add_circle:", expanded=True):
        form()
    return orders


def current_job(orders: list[jobs.Job]) -> jobs.Job | None:
    """The one at work, else the newest that waits, else the newest of all."""
    states = {"running": 0, "waiting": 1}
    return min(orders, key=lambda job: states.get(job.state, 2), default=None)  # of equals the first, which is the newest


def open_next(key: str, slug: str) -> None:
    """Let the next run of the page open this result: a choice cannot be changed once it is on the screen."""
    st.session_state[_wanted(key)] = slug


def passed_over(unreadable: list[str]) -> None:
    """Name the results that cannot be read, so that nobody looks for them in vain."""
    if unreadable:
        st.warning(layout.escape(f"Passed over: {' '.join(unreadable)}"), icon=":material/warning:")


def _wanted(key: str) -> str:
    return f"{key} to open"
