"""What a page shows of a job: how far it is, how long it will take, stop and resume."""

from collections.abc import Callable

import streamlit as st

from app import jobs, layout, ownership

EVERY = 1.0  # seconds between two looks at an active job


def show(
    id: str,
    draw: Callable[[jobs.Job], None] | None = None,
    on_end: Callable[[jobs.Job], None] | None = None,
    every: float = EVERY,
) -> jobs.Job:
    """A job and, below it, what `draw` makes of it, redrawn while it is active; returns the job as it is now.

    When it ends, `on_end` is called and the whole page is run again.
    """
    job = jobs.get(id)
    st.fragment(_watch, run_every=every if job.is_active else None)(id, job.is_active, draw, on_end)
    return job


def _watch(
    id: str,
    was_active: bool,
    draw: Callable[[jobs.Job], None] | None,
    on_end: Callable[[jobs.Job], None] | None,
) -> None:
    job = jobs.get(id)
    if was_active and not job.is_active:
        if on_end is not None:
            on_end(job)
        st.rerun()
    summary(job)
    if draw is not None:
        draw(job)


def summary(job: jobs.Job) -> None:
    """A job as it is now, in a frame: title, progress, buttons."""
    with st.container(border=True):
        if job.state != "done":  # then the bar has the title
            st.markdown(f"**{layout.escape(job.title)}**")
        progress_bar(job)
        if ownership.is_mine(job):
            buttons(job)


def progress_bar(job: jobs.Job) -> None:
    """One line and one bar: what a job does now, or why it does not."""
    progress = job.last_progress
    if job.state == "waiting":
        running = jobs.running()
        title = running.title if running else "nothing; this one starts soon."
        st.progress(0.0, text=f"{ordinal(job.queue_position)} in the queue. Now at work: {layout.escape(title)}")
    elif job.state == "running":
        stage = "Stopping after this step …" if job.stopping else str(progress.get("stage", "Starting …"))
        eta = None if job.stopping else progress.get("eta")
        remaining = "" if eta is None else f" · {format_duration(eta)} left"
        st.progress(_fraction(progress), text=layout.escape(stage + remaining))
    elif job.state == "done":
        st.progress(1.0, text=f"Done: {layout.escape(job.title)}")
    else:
        st.progress(_fraction(progress), text="Stopped." if job.state == "stopped" else "Failed.")
        if job.problem:
            st.warning(layout.escape(job.problem))


def buttons(job: jobs.Job) -> None:
    """Stop what is active, resume what was stopped, delete what has ended."""
    if job.is_active:
        if st.button("Stop", key=f"stop-{job.id}", icon=":material/stop_circle:", disabled=job.stopping):
            jobs.stop(job.id)
            st.rerun()
        return
    with st.container(horizontal=True):
        if job.state != "done" and st.button("Resume", key=f"resume-{job.id}", icon=":material/play_circle:"):
            jobs.resume(job.id)
            st.rerun()
        with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"deleting-{job.id}"):
            st.markdown("Delete this work and its results? It cannot be brought back.")
            if st.button("Delete it", key=f"delete-{job.id}", type="primary"):
                jobs.remove(job.id)
                st.rerun()


def format_duration(seconds: float) -> str:
    """A time as people say it: 40 s, 3 min, 1 h 20 min."""
    seconds = max(0, round(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


def ordinal(position: int) -> str:
    """Next, 2nd, 3rd, 4th."""
    return {0: "Starting", 1: "Next", 2: "2nd", 3: "3rd"}.get(position, f"{position}th")


def _fraction(progress: dict) -> float:
    return min(1.0, max(0.0, float(progress.get("fraction", 0.0))))
