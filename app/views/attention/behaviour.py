"""What heads do: breadth, distance, favourite tokens; on this sentence or over a corpus; and which heads are alike."""

import streamlit as st

from app import jobs, layout, limits, session
from app.components.board import Choice, Picture
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.widgets import remembered_job
from app.work import heads as headruns
from model import Bert, Trace
from probes import heads
from probes.heads import corpus_statistics

MEASURES = {"entropy": "entropy (bits)", "distance": "distance (tokens)"} | {
    kind: f"share on {kind}" for kind in heads.KINDS}
CLARK = ("Three things differ from the paper's own program. The first token has nothing before it and the last nothing "
         "after it, so *previous* and *next* are divided by the n − 1 tokens that can, not by n: a perfect head reaches "
         "100 %. In the same way *same word* and *punctuation* count only where a word is split or a sign is there. "
         "*Punctuation* is every sign and symbol of Unicode, not the full stop and the comma alone. And over a corpus every "
         "token counts alike, where the paper averages documents: short ones, in which everything is near, would weigh as "
         "much as long ones.")
WORK = "app.work.heads:corpus"
ORDERED = "read"


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    over = st.segmented_control("Over", ["this input", "a corpus"], default="this input", required=True, key="over",
                                bind="query-params")
    if over == "a corpus":
        found = _corpus()
        if found is None:
            return
        count, table, even = found
        words = f"averaged over {count:,} sentences of your corpus"
    else:
        table, words = session.head_summary(bert, trace), "on this input"
        even = corpus_statistics.even([trace.encoding])
    _grid(table, even, choice, words)
    _table(table, words)
    if over == "this input":
        _map(bert, trace, table, choice)


def _grid(table, even: dict[str, float], choice: Choice, words: str) -> None:
    measure = st.selectbox("Measure", list(MEASURES), format_func=lambda name: MEASURES[name], key="measure",
                           bind="query-params")
    if table[measure].isna().any():
        st.info(f"Nothing here can be measured as *{MEASURES[measure]}*: no word is split into pieces, or no sign stands in "
                "the text.")
        return
    layout.chart(figures.grid(heads.square(table, measure), MEASURES[measure], (choice.layer, choice.heads[0]),
                             words=heads.square(table, "label")), key="behaviour",
                looking=f"What you are looking at: {MEASURES[measure]} of every head, {words}; the chosen head is framed. "
                        f"Baseline: a head that looks at every token alike has {even[measure]:.2f}.",
                alt=f"Grid of layers and heads: {MEASURES[measure]}.")


def _table(table, words: str) -> None:
    shown = table.drop(columns="most").assign(layer=table["layer"] + 1, head=table["head"] + 1)
    labelled = table["label"].ne("").sum()
    st.caption(f"{labelled} of {len(table)} heads have a label {words}; sort by any column. Labels follow Clark et al. "
               f"(2019): at least {heads.POSITIONAL:.0%} on the previous or next token or itself, {heads.SPECIAL:.0%} on a "
               f"special token or punctuation; broad is at least {heads.BROAD:.0%} of the largest possible entropy.",
               help=CLARK)
    columns = {"label": st.column_config.TextColumn(width="medium")} | {
        name: st.column_config.NumberColumn(format="%.2f") for name in MEASURES}
    st.dataframe(shown[["layer", "head", "label", *MEASURES]], hide_index=True, height=380, column_config=columns,
                 alt="Table of all heads with their measures")


def _map(bert: Bert, trace: Trace, table, choice: Choice) -> None:
    colour = st.segmented_control("Colour by", ["layer", "label"], default="layer", required=True, key="colour")
    found, points = session.head_map(bert, trace)
    some = "" if found.used == found.queries else (
        f" For so long an input {found.used} of {found.queries} tokens were drawn to compare by: a divergence is off by up "
        f"to {found.error:.3f} bits.")
    layout.chart(figures.head_map(points, table, colour or "layer", (choice.layer, choice.heads[0])), key="headmap",
                looking=f"Two heads are {found.typical:.2f} bits apart on average, of at most 1. Each point is a head; near "
                        "heads attend alike on this input (Jensen–Shannon divergence, laid out in two dimensions). Axes "
                        f"have no meaning of their own.{some}",
                alt="Map of all heads by similarity of their attention.")


def _corpus():
    given = st.file_uploader("A text file, one sentence a line", type=["txt"], key="corpus_file",
                             max_upload_size=limits.TEXT_MEGABYTES, on_change=remembered_job.forget, args=(ORDERED,))
    if given is not None and st.button("Read it", type="primary"):
        arguments = {"source": session.source(), "sentences": limits.CORPUS_SENTENCES}
        remembered_job.remember(ORDERED, jobs.submit(WORK, arguments, "What heads do over a corpus",
                                              {headruns.CORPUS: given.getvalue()}))
    found = remembered_job.job(ORDERED, WORK)
    if found is None:
        st.caption(f"Up to {limits.CORPUS_SENTENCES:,} sentences are read, in the background.")
        return None
    job = job_panel.job(found.id)
    return jobs.patiently(lambda: headruns.corpus_found(job.folder))
