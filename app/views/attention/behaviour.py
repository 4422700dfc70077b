"""What heads attend to: breadth, distance, favourite tokens; on this sentence or over a corpus; which heads are alike."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from app import jobs, layout, limits, ownership, session
from app.components.board import BoardData, BoardState
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.widgets import remembered_job
from app.widgets.choice import choice, select
from app.work import heads as heads_work
from model import Bert, Trace
from probes import heads
from probes.heads import corpus_statistics, extremes

MEASURES = {"entropy": "entropy (bits)", "distance": "distance (tokens)"} | {
    target: f"share on {target}" for target in heads.TARGETS
}
SLUGS = {measure.strip("[]").lower().replace(" ", "-"): measure for measure in MEASURES}
CLARK = (
    "Three things differ from the paper's own program. The first token has nothing before it and the last nothing "
    "after it, so *previous* and *next* are divided by the n − 1 tokens that can, not by n: a perfect head reaches "
    "100 %. In the same way *same word* and *punctuation* count only where a word is split or a sign is there. "
    "*Punctuation* is every sign and symbol of Unicode, not the full stop and the comma alone. And over a corpus every "
    "token counts alike, where the paper averages documents: short ones, in which everything is near, would weigh as "
    "much as long ones."
)
WORK = "app.work.heads:corpus"
JOB = "corpus_job"  # in the address


class Patterns(NamedTuple):
    """One row a head, the same measures of uniform attention, and what was read."""

    table: pd.DataFrame
    uniform: dict[str, float]
    source: str


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    over = choice("Over", {"input": "this input", "corpus": "a corpus"}, key="over")
    if over == "corpus":
        patterns = _corpus()
        if patterns is None:
            return
    else:
        uniform = corpus_statistics.uniform_baseline([trace.encoding])
        patterns = Patterns(session.head_summary(bert, trace), uniform, "on this input")
    _grid(patterns, state)
    _table(patterns)
    if over == "input":
        _map(bert, trace, patterns.table, state)


def _grid(patterns: Patterns, state: BoardState) -> None:
    measure = SLUGS[select("Measure", {slug: MEASURES[name] for slug, name in SLUGS.items()}, key="measure")]
    summary = extremes.stand_out(patterns.table, measure)
    if summary is None:
        st.info(
            f"Nothing here can be measured as *{MEASURES[measure]}*: no word is split into pieces, or no sign stands in "
            "the text."
        )
        return
    layout.chart(
        figures.grid(
            heads.as_grid(patterns.table, measure),
            MEASURES[measure],
            (state.layer, state.heads[0]),
            words=heads.as_grid(patterns.table, "label"),
        ),
        key="behaviour",
        finding=f"Mean {MEASURES[measure]} of all heads {patterns.source}: {summary.mean:.2f}; attending to every token "
        f"alike would be {patterns.uniform[measure]:.2f}. {'Sharpest' if measure == 'entropy' else 'Highest'}: layer "
        f"{summary.layer + 1} head {summary.head + 1} ({summary.value:.2f}). The chosen head is framed.",
        alt=f"Grid of layers and heads: {MEASURES[measure]}.",
    )


def _table(patterns: Patterns) -> None:
    table = patterns.table
    on_screen = table.drop(columns="most").assign(layer=table["layer"] + 1, head=table["head"] + 1)
    st.caption(
        f"{extremes.count_labelled(table)} of {len(table)} heads have a pattern with a name {patterns.source}; sort by any "
        f"column. Names follow Clark et al. (2019): at least {heads.POSITIONAL:.0%} on the previous or next token or "
        f"itself, {heads.SPECIAL:.0%} on a special token or punctuation; broad is at least {heads.BROAD:.0%} of the "
        "largest possible entropy.",
        help=CLARK,
    )
    columns = {"label": st.column_config.TextColumn(width="medium")} | {
        name: st.column_config.NumberColumn(format="%.2f") for name in MEASURES
    }
    st.dataframe(
        on_screen[["layer", "head", "label", *MEASURES]],
        hide_index=True,
        height=380,
        column_config=columns,
        alt="Table of all heads with their measures",
    )


def _map(bert: Bert, trace: Trace, table: pd.DataFrame, state: BoardState) -> None:
    colour = choice("Colour by", {"layer": "layer", "label": "label"}, key="colour")
    divergence, points = session.head_map(bert, trace)
    sampled = (
        ""
        if divergence.used == divergence.queries
        else f" For so long an input {divergence.used} of {divergence.queries} tokens were sampled: a divergence is off by "
        f"up to {divergence.error:.3f} bits."
    )
    layout.chart(
        figures.head_map(points, table, colour, (state.layer, state.heads[0])),
        key="headmap",
        finding=f"Two heads are {divergence.typical:.2f} bits apart on average, of at most 1. Each point is a head; near "
        "heads attend alike on this input (Jensen–Shannon divergence, laid out in two dimensions). Axes "
        f"have no meaning of their own.{sampled}",
        alt="Map of all heads by similarity of their attention.",
    )


def _corpus() -> Patterns | None:
    """The patterns over an uploaded corpus once they are there; until then the way to them."""
    upload = st.file_uploader(
        "A text file, one sentence a line",
        type=["txt"],
        key="corpus_file",
        max_upload_size=limits.TEXT_MEGABYTES,
        on_change=remembered_job.forget,
        args=(JOB,),
    )
    if upload is not None and st.button("Read it", type="primary"):
        arguments = {"source": session.checkpoint_path(), "sentences": limits.CORPUS_SENTENCES}
        remembered_job.remember(
            JOB,
            ownership.submit(WORK, arguments, "What heads attend to over a corpus", {heads_work.CORPUS: upload.getvalue()}),
        )
    current = remembered_job.current(JOB, WORK)
    if current is None:
        st.caption(f"Up to {limits.CORPUS_SENTENCES:,} sentences are read, in the background.")
        return None
    job = job_panel.show(current.id)
    result = jobs.patiently(lambda: heads_work.corpus_result(job.folder))
    if result is None:
        return None
    count, table, uniform = result
    return Patterns(table, uniform, f"over {count:,} sentences of your corpus")
