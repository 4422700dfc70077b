"""What a page shows of a job: how far it is, how long it will take, stop and resume."""

import streamlit as st

from app import jobs, layout

EVERY = 1.0  # seconds between two looks at a job under way


def job(id: str) -> jobs.Job:
    """Show a job, again and again while it is under way; the page is run anew when that ends. Returns it as it is."""
    found = jobs.find(id)
    st.fragment(_live, run_every=EVERY if found.busy else None)(id, found.busy)
    return found


def _live(id: str, was_busy: bool) -> None:
    found = jobs.find(id)
    if was_busy and not found.busy:
        st.rerun()
    with st.container(border=True):
        bar(found)
        buttons(found)


def bar(found: jobs.Job) -> None:
    """One line and one bar: what a job does now, or why it does not."""
    if found.state == "waiting":
        st.progress(0.0, text=f"{ordinal(found.place)} in the queue. Now at work: {layout.plain(_running_title())}")
    elif found.state == "running":
        said = found.last
        words = "Stopping after this step …" if found.stopping else str(said.get("stage", "Starting …"))
        left = f" · {spoken(said['eta'])} left" if said.get("eta") is not None and not found.stopping else ""
        st.progress(_fraction(said), text=layout.plain(words + left))
    elif found.state == "done":
        st.progress(1.0, text=f"Done: {layout.plain(found.title)}")
    else:
        st.progress(_fraction(found.last), text="Stopped." if found.state == "stopped" else "Failed.")
        if found.problem:
            st.warning(layout.plain(found.problem))


def buttons(found: jobs.Job) -> None:
    """Stop what is under way, resume what was stopped, delete what has ended."""
    if found.busy:
        if st.button("Stop", key=f"stop-{found.id}", icon=":material/stop_circle:", disabled=found.stopping):
            jobs.stop(found.id)
            st.rerun()
        return
    with st.container(horizontal=True):
        if found.state != "done" and st.button("Resume", key=f"resume-{found.id}", icon=":material/play_circle:"):
            jobs.resume(found.id)
            st.rerun()
        with st.popover("Delete", icon=":material/delete:", type="tertiary", key=f"deleting-{found.id}"):
            st.markdown("Delete this work and what it found, for everyone? It cannot be brought back.")
            if st.button("Delete it", key=f"delete-{found.id}", type="primary"):
                jobs.remove(found.id)
                st.rerun()


def spoken(seconds: float) -> str:
    """A time as people say it: 40 s, 3 min, 1 h 20 min."""
    seconds = max(0, round(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


def ordinal(place: int) -> str:
    """Next, 2nd, 3rd, 4th."""
    return {0: "Starting", 1: "Next", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")


def _running_title() -> str:
    at_work = jobs.running()
    return at_work.title if at_work else "nothing; this one starts soon."


def _fraction(said: dict) -> float:
    return min(1.0, max(0.0, float(said.get("fraction", 0.0))))
