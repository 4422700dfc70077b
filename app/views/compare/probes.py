"""Probe results of two models beside each other: the section of Compare for experiments that were run before."""

import zlib

import streamlit as st

from app import layout, ownership, session
from app.figures import probes as figures
from app.views.compare.models import ComparedSide
from app.views.probes import result as probe_result
from app.widgets.choice import select
from probes.probing.results import SCORE, ProbingResult, best_row

WORK = probe_result.WORK
Question = tuple[str, str, str, int, int, str, str]  # task, data, probe, examples, seeds, pooling, digest of the data


def section(left: ComparedSide, right: ComparedSide) -> None:
    computed, trouble = probe_result.stored(
        [job for job in ownership.own_jobs() if job.work == WORK and job.state == "done"]
    )
    probe_result.passed_over(trouble)
    results = [finished(side.bert.info.name, list(computed.values())) for side in (left, right)]
    shared = {_slug(question): question for question in results[0] if question in results[1]}
    if not shared:
        missing = [side.label for side, answered in zip((left, right), results, strict=True) if not answered]
        why = (
            f"No probe has been run on {' or on '.join(missing)} yet"
            if missing
            else "The two models were probed for different tasks or data"
        )
        st.info(
            layout.escape(
                f"{why}: run the same probe on both on the Probes page, and it is compared here. Snapshots of a training "
                "are not offered there."
            )
        )
        return
    question = shared[select("Probe", {slug: _label(question) for slug, question in shared.items()}, key="probed")]
    both = [answered[question] for answered in results]
    best = [best_row(result) for result in both]
    score = SCORE[both[0].kind]
    baseline = f", always saying the commonest label {best[0]['majority']:.0%}" if "majority" in best[0] else ""
    layout.chart(
        figures.compared(both),
        key="beside",
        finding=f"“{layout.escape(both[0].title)}”: {layout.escape(left.label)} reaches {best[0][score]:.0%} at layer "
        f"{int(best[0]['layer'])}, {layout.escape(right.label)} {best[1][score]:.0%} at layer {int(best[1]['layer'])}; "
        f"random weights (random-init baseline, dotted) {best[0]['random_init']:.0%} and "
        f"{best[1]['random_init']:.0%}{baseline}. Bands: 95 % intervals over test examples.",
        alt=f"Score of the probe by layer for {left.label} and {right.label}.",
    )
    probe_result.verdict(*both)


def finished(name: str, computed: list[ProbingResult]) -> dict[Question, ProbingResult]:
    """Each question with the newest finished result on this model."""
    results: dict[Question, ProbingResult] = {}
    for result in [*computed, *session.probing_results().values()]:
        settings = result.settings
        if settings["model"] == name and result.finished:
            keys = ("data", "probe", "limit", "seeds", "pooling", "digest")
            data, probe, limit, seeds, pooling, digest = (settings[key] for key in keys)
            results.setdefault((result.title, data, probe, limit, seeds, pooling, digest), result)
    return results


def _slug(question: Question) -> str:
    return f"{zlib.crc32(repr(question).encode()):08x}"


def _label(question: Question) -> str:
    title, data, probe, limit, seeds, _, _ = question
    return f"{title} · {data} · {probe} · up to {limit:,} examples · {seeds} seed{'s' if seeds > 1 else ''}"
