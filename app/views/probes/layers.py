"""A probing result layer by layer: the score and its baselines, selectivity or correlations, description length, the mix."""

import pandas as pd
import streamlit as st

from app import layout
from app.figures import probes as figures
from probes.probing import results
from probes.probing.results import LayerMixture, ProbingResult


def show(result: ProbingResult) -> None:
    """The curve on the left, what explains it on the right, the numbers below."""
    best = results.best_row(result)
    left, right = st.columns([3, 2], gap="large")
    with left:
        layout.chart(
            figures.curve(result),
            key="curve",
            finding=_curve_finding(result, best),
            alt=f"Best at layer {int(best['layer'])} with {best['score']:.1%}; random weights {best['random_init']:.1%}.",
        )
    with right:
        if result.kind == "labels":
            _selectivity(result, best)
        else:
            layout.chart(
                figures.correlations(result),
                key="correlations",
                finding=f"At layer {int(best['layer'])} the root is right in {best['root']:.0%} of the sentences; distances "
                f"are ordered with ρ = {best['distance']:.2f}, depths with {best['depth']:.2f} (Spearman; 0 is chance).",
                alt="Root accuracy and Spearman correlations by layer.",
            )
        if "code_length" in best:
            _description_length(result)
        if result.mix:
            mixture = results.mixture(result)
            layout.chart(
                figures.mixed(mixture),
                key="scalar-mix",
                finding=_mixture_finding(mixture),
                alt="Weights of the layers in the scalar mix.",
            )
    _numbers(result)


def _selectivity(result: ProbingResult, best: pd.Series) -> None:
    layout.chart(
        figures.selectivity(result),
        key="selectivity",
        finding=f"{100 * best['selectivity']:+.1f} points at layer {int(best['layer'])} (random weights "
        f"{100 * (best['random_init'] - best['random_init_control']):+.1f}): accuracy minus accuracy on the control task, "
        "where every word drew its label by lot (selectivity). Near zero the probe only memorises.",
        alt="Selectivity by layer: " + ", ".join(f"{value:.2f}" for value in results.table(result)["selectivity"]),
    )


def _description_length(result: ProbingResult) -> None:
    shortest = results.shortest_code(result)
    layout.chart(
        figures.code_lengths(result),
        key="bits",
        finding=f"{shortest['code_length']:,.0f} bits at layer {int(shortest['layer'])} for all labels, "
        f"{shortest['control_code_length']:,.0f} for those of the control task: what it takes to send them to someone "
        f"who has the states (description length, MDL; online code of the {result.settings['probe']} probe). "
        "Short is easy to learn.",
        alt="Online code length by layer, task and control, against a uniform code.",
    )


def _numbers(result: ProbingResult) -> None:
    """Table, command and downloads."""
    rows = results.table(result)
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(rows.round(4), hide_index=True)
        st.code(result.command, language="bash", wrap_lines=True)
    csv, whole = st.columns(2)
    stem = "".join(character if character.isalnum() else "-" for character in result.name)
    csv.download_button(
        "Table as CSV",
        rows.to_csv(index=False, float_format="%.5f"),
        f"{stem}.csv",
        "text/csv",
        icon=":material/download:",
        width="stretch",
    )
    whole.download_button(
        "Everything as JSON", result.json(), f"{stem}.json", "application/json", icon=":material/download:", width="stretch"
    )


def _curve_finding(result: ProbingResult, best: pd.Series) -> str:
    seeds = result.settings["seeds"]
    over_seeds = "One seed only, so the luck of the draw is not shown."
    if seeds > 1:
        drawn = "" if result.settings["split"] == "fixed" else "split, "
        over_seeds = (
            f"Orange, smallest to largest of {seeds} seeds: {best['seed_low']:.1%} to {best['seed_high']:.1%}, with "
            f"{drawn}control task and random weights drawn anew for each."
        )
    baselines = [f"with random weights (random-init baseline) {best['random_init']:.1%}"]
    if result.kind == "labels":
        baselines += [f"from the word alone {best['word_type']:.1%}"] if result.unit != "sentence" else []
        baselines += [
            f"always the most frequent label {best['majority']:.1%}",
            f"on the control task {best['control']:.1%}",
        ]
    else:
        baselines.append(f"joining neighbours {best['chain']:.1%}")
    return (
        f"{best['score']:.1%} right at layer {int(best['layer'])}, {', '.join(baselines)}: {_lead(result)} Blue, 95 % "
        f"interval over test examples: {best['low']:.1%} to {best['high']:.1%}. {over_seeds}"
    )


def _lead(result: ProbingResult) -> str:
    """Whether the model is above everything that knows less."""
    ahead, best = results.lead(result), results.best_row(result)
    if float(best["low"]) > ahead.value:
        return f"the model beats the best of these by {ahead.points:.1f} points."
    return f"that is {ahead.points:+.1f} points from the best of these, which may be luck."


def _mixture_finding(mixture: LayerMixture) -> str:
    sentences = [
        f"Layer {mixture.center_of_gravity:.1f} is the centre of gravity of a learned mix (orange; 95 % interval over "
        f"seeds and resampled sentences {mixture.low:.1f} to {mixture.high:.1f})."
    ]
    if mixture.expected is None:
        sentences.append("The expected layer is not defined: all layers together are no better than the first.")
    else:
        sentences.append(
            f"The expected layer, by what each layer adds to those below it, is {mixture.expected:.1f} "
            f"({mixture.expected_low:.1f} to {mixture.expected_high:.1f} over seeds)."
        )
    if mixture.undecided:
        sentences.append(
            "The interval covers more than half of the layers: these examples do not say where the task is written."
        )
    elif mixture.one_layer is not None:
        sentences.append(
            f"Nearly all weight is on layer {mixture.one_layer}: with few examples the mix picks one layer and leaves its "
            "neighbours out, however much they know."
        )
    return " ".join([*sentences, "Dashed: equal shares."])
