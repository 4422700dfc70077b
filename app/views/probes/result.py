"""One probing result: its data in a sentence, then layers, mistakes, the probe on a typed sentence, or beside others."""

import itertools

import streamlit as st

from app import jobs, layout
from app.figures import probes as figures
from app.views.probes import claim, layers, live_probe, mistakes, where
from app.widgets import dataset, experiment_page
from app.widgets.choice import SECTION, choice
from app.widgets.experiment_page import ListedResult, passed_over
from probes.probing import results
from probes.probing.results import ProbingResult
from probes.results import RESULT

__all__ = ["WORK", "passed_over", "show", "stored", "verdict"]

WORK = "app.work.probing:run"
SIDES = {
    "layers": "Layer by layer",
    "where": "Which is written where",
    "mistakes": "Mistakes",
    "live": "On a sentence (live probe)",
    "compare": "Beside others",
    "claim": "Is it real?",
}
POOLED = {
    "mean": "a word is the mean of its pieces",
    "first": "a word is its first piece",
    "last": "a word is its last piece",
}


def stored(orders: list[jobs.Job]) -> tuple[dict[str, ProbingResult], list[str]]:
    """The results of these jobs by their ids, and a sentence for every file that cannot be read."""
    return experiment_page.stored(orders, RESULT, ProbingResult.read)


def show(listed: dict[str, ListedResult[ProbingResult]], slug: str) -> None:
    """The open result from the side that the reader chose."""
    by_title = {entry.title: entry.result for entry in listed.values()}
    title, result = listed[slug].title, listed[slug].result
    side = choice(SECTION, SIDES, "side")
    if side == "layers":
        layers.show(result)
    elif side == "where":
        where.show([entry.result for entry in listed.values()], result)
    elif side == "mistakes":
        mistakes.show(result)
    elif side == "live":
        live_probe.show(by_title, title)
    elif side == "claim":
        claim.show()
    else:
        _compare(by_title, title)
    _data(result)


def _data(result: ProbingResult) -> None:
    """What was probed, in which model, and from how many examples."""
    sizes, settings = result.sizes, result.settings
    seeds = f"seed {settings['seed']}"
    if settings["seeds"] > 1:
        seeds = f"means of {settings['seeds']} seeds from {settings['seed']} on"
    st.caption(
        layout.escape(
            f"{result.title} in {settings['model']}, from {settings['data']}: {sizes['train']:,} examples to learn from, "
            f"{sizes['dev']:,} to tune, {sizes['test']:,} to test; {POOLED.get(settings['pooling'], settings['pooling'])}; "
            f"{seeds}. {dataset.split_note(sizes)}"
        )
    )


def _compare(by_title: dict[str, ProbingResult], title: str) -> None:
    titles = st.multiselect("Results", list(by_title), default=list(dict.fromkeys([title, *by_title]))[:4])
    if not titles:
        st.info("Choose one or more results; train probes on another task or model to have more.")
        return
    chosen = [by_title[name] for name in titles]
    best, row = max(((result, results.best_row(result)) for result in chosen), key=lambda pair: pair[1]["score"])
    layout.chart(
        figures.compared(chosen),
        key="compared",
        finding=f"{layout.escape(best.name)} is highest, {row['score']:.1%} at layer {int(row['layer'])}; random weights "
        f"(random-init baseline) reach {row['random_init']:.1%} there. Solid: each result; dotted in the same colour: its "
        "random weights; bars: 95 % intervals over test examples.",
        alt="Scores by layer of " + ", ".join(titles),
    )
    for first, second in itertools.combinations(chosen, 2):
        verdict(first, second)


def verdict(first: ProbingResult, second: ProbingResult) -> None:
    """One sentence on which of two results is better, where they were scored on the same test set."""
    difference = results.difference(first, second)
    if difference is None:
        return
    if difference.value < 0:
        verdict(second, first)
        return
    worse = f"{first.name} (layer {difference.first_layer})"
    better = f"{second.name} (layer {difference.second_layer})"
    points = f"{100 * difference.value:.1f} points"
    interval = (
        f"95 % interval {100 * difference.low:+.1f} to {100 * difference.high:+.1f}, paired over the same test sentences"
    )
    if difference.low > 0:
        st.caption(layout.escape(f"{better} beats {worse} by {points} ({interval})."))
    else:
        st.caption(layout.escape(f"{better} and {worse} cannot be told apart: {points} ({interval})."))
