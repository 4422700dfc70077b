"""Probe results of two models beside each other: the section of Compare for experiments that were run before."""

import streamlit as st

from app import jobs, layout, session
from app.figures import probes as figures
from app.views.compare.models import Side
from app.views.probes import result as probe_result
from probes.probing import results
from probes.probing.results import Result

WORK = probe_result.WORK


def section(left: Side, right: Side) -> None:
    computed, trouble = probe_result.stored([job for job in jobs.all() if job.work == WORK and job.state == "done"])
    probe_result.passed_over(trouble)
    found = [finished(side.bert.about.name, list(computed.values())) for side in (left, right)]
    shared = [question for question in found[0] if question in found[1]]
    if not shared:
        missing = [side.label for side, one in zip((left, right), found, strict=True) if not one]
        why = f"No probe has been run on {' or on '.join(missing)} yet" if missing else (
            "The two models were probed for different tasks or data")
        st.info(layout.plain(f"{why}: run the same probe on both on the Probes page, and it is compared here. The "
                             f"moments of "
                            "a training are not offered there."))
        return
    question = st.selectbox("Probe", shared, format_func=_said, key="probed", bind="query-params")
    both = [one[question] for one in found]
    rows = results.table(both[0])
    baseline = f" Always saying the commonest label would reach {rows['majority'].mean():.0%}." if "majority" in rows else ""
    layout.chart(figures.compared(both), key="beside",
                looking=f"What you are looking at: the same probe on both models, “{layout.plain(both[0].title)}”, "
                        f"with 95 % "
                        f"intervals over test examples. Dotted: the random-init copy of each, the baseline.{baseline}",
                alt=f"Score of the probe by layer for {left.label} and {right.label}.")
    probe_result.verdict(*both)


Question = tuple[str, str, str, int, int, str, str]


def finished(name: str, computed: list[Result]) -> dict[Question, Result]:
    """Task, data, probe, examples, seeds, pooling and hash of the data -> the newest finished result on this model."""
    found: dict[Question, Result] = {}
    for result in [*computed, *session.probed()]:
        asked = result.settings
        if asked["model"] == name and result.finished:
            found.setdefault((result.title, asked["data"], asked["probe"], asked["limit"], asked["seeds"], asked["pooling"],
                              asked["digest"]), result)
    return found


def _said(question: Question) -> str:
    title, data, probe, limit, seeds, _, _ = question
    return f"{title} · {data} · {probe} · up to {limit:,} examples · {seeds} seed{'s' if seeds > 1 else ''}"
