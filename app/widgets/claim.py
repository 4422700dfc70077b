"""Is it real? A claim is stated, queued with its time, and answered in one sentence with numbers."""

import streamlit as st

from app import layout, ownership, session
from app.jobs import panel
from app.widgets import remembered_job
from probes import claims
from probes.claims import ClaimResult

NAMES = {
    "random_init": "random weights (random-init)",
    "control": "the control task",
    "word_type": "the word alone",
    "majority": "always the most frequent label",
    "offset": "the best fixed offset",
}
RULE = (
    "State it before you look: the claim is stored with its time, and tested on held-out sentences on which nothing was "
    "chosen. It holds if every baseline is beaten at 5 % after correction for how many one could have picked."
)


def ask(work: str, key: str, statement: str, arguments: dict) -> None:
    """A button that queues the claim, its progress, the verdict, and what was claimed before about this model."""
    if st.button("Test this claim", type="primary", icon=":material/gavel:", key=f"{key}-test"):
        order = {"model": session.checkpoint_path(), **arguments, "stated": claims.now()}
        remembered_job.remember(key, ownership.submit(work, order, statement))
    current = remembered_job.current(key, work, {"model": session.checkpoint_path()})
    if current is not None:
        job = panel.show(current.id)
        if (job.folder / claims.RESULT).is_file():
            st.success(verdict(ClaimResult.read(job.folder / claims.RESULT)), icon=":material/gavel:")
    earlier = [
        ClaimResult.read(job.folder / claims.RESULT)
        for job in ownership.own_jobs()
        if job.work == work and (job.folder / claims.RESULT).is_file() and (current is None or job.id != current.id)
    ]
    if earlier:
        with st.expander(f"{len(earlier)} earlier claims", icon=":material/history:"):
            st.markdown("\n".join(f"* {verdict(result)}" for result in earlier[:20]))


def verdict(result: ClaimResult) -> str:
    """One sentence: whether it holds, by which numbers, and when it was stated."""
    hardest = result.hardest
    others = [one for one in result.comparisons if one is not hardest]
    beside = "".join(f", {NAMES[one.baseline]} {one.score:.1%}" for one in others)
    detail = f" ({result.detail})" if result.detail else ""
    sentence = (
        f"right in {result.score:.1%} of {result.examples:,} held-out examples in {result.sentences:,} sentences{detail}, "
        f"{NAMES[hardest.baseline]} in {hardest.score:.1%}{beside}; p = {_p(result.p_value)} after correction for "
        f"{result.choices} to choose from. Stated {result.stated} UTC about {result.model} on {result.data}."
    )
    opening = "It holds" if result.holds else "It does not hold"
    return layout.escape(f"{opening}: “{result.statement}” is {sentence}")


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"
