"""Probe results of two models beside each other: the section of Compare for experiments that were run before."""

import streamlit as st

from app import frame, jobs
from app.figures import probes as figures
from probes import results
from probes.results import RESULT, Result

from .sides import Side

WORK = "probes.experiment:run"


def section(left: Side, right: Side) -> None:
    found = [_finished(side.bert.about.name) for side in (left, right)]
    shared = [question for question in found[0] if question in found[1]]
    if not shared:
        missing = [side.label for side, one in zip((left, right), found, strict=True) if not one]
        why = f"No probe has been run on {' or on '.join(missing)} yet" if missing else (
            "The two models were probed for different tasks or data")
        st.info(f"{frame.plain(why)}: run the same probe on both on the Probes page, and it is compared here.")
        return
    question = st.selectbox("Task", shared, format_func=" · ".join, key="probed")
    both = [one[question] for one in found]
    majority = both[0].baselines.get("majority")
    baseline = f" Always saying the commonest label would reach {majority:.0%}." if majority is not None else ""
    frame.chart(figures.compared(both), key="beside",
                looking=f"What you are looking at: the same probe on both models, “{frame.plain(both[0].title)}”, with 95 % "
                        f"intervals. Dotted: the random twin of each, the baseline.{baseline}",
                alt=f"Score of the probe by layer for {left.label} and {right.label}.")


def _finished(name: str) -> dict[tuple[str, str, str], Result]:
    """Task, data and kind of probe -> the newest finished result on a model of this name."""
    found: dict[tuple[str, str, str], Result] = {}
    for job in jobs.all():
        if job.work == WORK and job.state == "done" and (job.folder / RESULT).is_file():
            result = results.read(job.folder / RESULT)
            if result.settings["model"] == name:
                found.setdefault((result.title, result.settings["data"], result.settings["probe"]), result)
    return found
