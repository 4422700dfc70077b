"""One change at a time: what the answer about a pair depends on, and what it does not notice."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import layout, session
from app.figures import nextsentence as figures
from app.views.nextsentence.pair import current_sample, sample_picker
from app.widgets import text_inputs
from model import Bert
from probes import nextsentence
from probes.nextsentence import perturbations
from probes.nextsentence.perturbations import LARGE, SMALL, PerturbationResult


def section(bert: Bert) -> None:
    answer = st.container()
    sample = current_sample()
    origin = sample.text if sample else ""
    text_inputs.suggest("nsp_text", origin)
    text = text_inputs.sentence_box(origin, "nsp_text", 100, "The text that A comes from (for one of the changes)")
    sample_picker()
    with answer:
        _answer(bert, text)


def _answer(bert: Bert, text: str) -> None:
    pair = session.pair()
    results = session.answer(bert, "perturbations", (*pair, text), lambda: perturbations.evaluate(bert, *pair, text))
    st.success(layout.escape(verdict(results)), icon=":material/gavel:")
    layout.chart(
        figures.perturbations(results),
        key="nsp-perturbations",
        finding=finding(results),
        alt="; ".join(f"{result.perturbation.title}: {result.mean:.2f}" for result in results if result.lowest is not None),
    )
    st.dataframe(
        _table(results),
        hide_index=True,
        height="content",
        column_config={
            name: st.column_config.NumberColumn(format="%.3f") for name in ("P(IsNext)", "lowest", "highest", "change")
        },
        alt="Every change with its probability and the input that was read",
    )
    st.caption("If a change breaks a cue and the number stays, the head did not use that cue for this pair.")


def finding(results: Sequence[PerturbationResult]) -> str:
    """How many changes move the answer, and which one most."""
    base, effects = _effects(results)
    large = [result for result, change in effects if abs(change) >= LARGE]
    strongest, _ = max(effects, key=lambda effect: abs(effect[1]))
    return (
        f"P(IsNext) is {base:.2f} (orange line; dotted: one half); {len(large)} of {len(effects)} changes move it by "
        f"{LARGE} or more, most of all “{layout.escape(strongest.perturbation.title)}” (to {strongest.mean:.2f}). "
        "Where a change is drawn by chance, small marks are the single draws and the dot is their mean."
    )


def verdict(results: Sequence[PerturbationResult]) -> str:
    """Which cues the answer follows for this pair, and which it does not notice."""
    base, effects = _effects(results)
    large = sorted((effect for effect in effects if abs(effect[1]) >= LARGE), key=lambda effect: -abs(effect[1]))
    small = [result for result, change in effects if abs(change) < SMALL]
    sentences = [f"The answer is {nextsentence.LABELS[base < 0.5]}: P(IsNext) is {base:.2f} (in brackets: after a change)."]
    if large:
        sentences.append(f"It follows {_cues([result for result, _ in large])}.")
    else:
        sentences.append(
            f"No change moves it by {LARGE} or more: the head would say about the same of almost any B here, "
            "so the number tells little about this B."
        )
    if small:
        sentences.append(f"It hardly notices {_cues(small)}.")
    return " ".join(sentences)


def _effects(results: Sequence[PerturbationResult]) -> tuple[float, list[tuple[PerturbationResult, float]]]:
    """P(IsNext) of the pair as it is, and every possible change with what it does to that."""
    base = results[0].mean
    return base, [(result, result.mean - base) for result in results[1:] if result.lowest is not None]


def _cues(results: Sequence[PerturbationResult]) -> str:
    *cues, last = [f"{result.perturbation.cue} ({result.mean:.2f})" for result in results]
    return f"{', '.join(cues)} and {last}" if cues else last


def _table(results: Sequence[PerturbationResult]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "one change": result.perturbation.title,
                "P(IsNext)": result.mean,
                "change": result.mean - results[0].mean,
                "readings": len(result.probabilities),
                "lowest": result.lowest,
                "highest": result.highest,
                "input read (the first)": result.perturbation.missing or result.perturbation.shown,
            }
            for result in results
        ]
    )
