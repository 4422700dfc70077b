"""Probe results of two models beside each other: the section of Compare for experiments that were run before."""

import streamlit as st

from app import frame, jobs, state
from app.figures import probes as figures
from probes import results
from probes.results import RESULT, Result

from .sides import Side

WORK = "probes.experiment:run"


def section(left: Side, right: Side) -> None:
    found = [finished(side.bert.about.name) for side in (left, right)]
    shared = [question for question in found[0] if question in found[1]]
    if not shared:
        missing = [side.label for side, one in zip((left, right), found, strict=True) if not one]
        why = f"No probe has been run on {' or on '.join(missing)} yet" if missing else (
            "The two models were probed for different tasks or data")
        st.info(frame.plain(f"{why}: run the same probe on both on the Probes page, and it is compared here. The moments of "
                            "a training are not offered there."))
        return
    question = st.selectbox("Probe", shared, format_func=_said, key="probed", bind="query-params")
    both = [one[question] for one in found]
    majority = both[0].baselines.get("majority")
    baseline = f" Always saying the commonest label would reach {majority:.0%}." if majority is not None else ""
    frame.chart(figures.compared(both), key="beside",
                looking=f"What you are looking at: the same probe on both models, “{frame.plain(both[0].title)}”, with 95 % "
                        f"intervals. Dotted: the random twin of each, the baseline.{baseline}",
                alt=f"Score of the probe by layer for {left.label} and {right.label}.")


Question = tuple[str, str, str, int, str]


def finished(name: str) -> dict[Question, Result]:
    """Task, data, kind of probe, examples and hash of the data -> the newest finished result on a model of this name."""
    found: dict[Question, Result] = {}
    files = [job.folder / RESULT for job in jobs.all() if job.work == WORK and job.state == "done"]
    for result in [*(results.read(file) for file in files if file.is_file()), *state.probed()]:
        asked = result.settings
        if asked["model"] == name:
            found.setdefault((result.title, asked["data"], asked["probe"], asked["limit"], asked["digest"]), result)
    return found


def _said(question: Question) -> str:
    title, data, probe, limit, _ = question
    return f"{title} · {data} · {probe} · up to {limit:,} examples"
