"""Neighbours: the section of Hidden states that looks for a token's likes in a text or an indexed corpus."""

import streamlit as st

from app import jobs, layout, limits, session
from app.figures import contexts as figures
from app.jobs import panel
from app.widgets import text_inputs
from probes.states import neighbours

SHOWN = 15
WORK = "app.work.corpus_index:build"


def section() -> None:
    bert, trace = session.bert(), session.trace()
    left, right = st.columns([3, 2])
    with left:
        position = text_inputs.token(trace, "Token of the sentence", "near_token")
    with right:
        layer = text_inputs.layer(bert, "near_layer")
    place = st.segmented_control("Look in", ["a text", "a corpus"], default="a text", required=True, key="near",
                                 bind="query-params")
    index = _corpus(layer) if place == "a corpus" else _text(layer)
    if index is None:
        return
    found = index.described(index.nearest(trace.hidden[layer, position], SHOWN))
    st.caption(f"What you are looking at: the tokens whose state at layer {layer} points most nearly where "
               f"*{layout.plain(trace.texts[position])}* points, among {len(index.places):,} tokens "
               f"({index.bytes / 2**20:,.1f} MB in memory). Baseline: the mean cosine of all pairs is "
               f"{index.typical():.2f}.")
    st.html(figures.lines(found, "cosine"))


def _text(layer: int) -> neighbours.Index:
    return neighbours.Index.of(session.gathered(text_inputs.passage("near_text")), layer)


def _corpus(layer: int) -> neighbours.Index | None:
    """The index of an uploaded corpus once it is there; until then the way to it."""
    checkpoint, id = session.source(), st.query_params.get("corpus", "")
    with st.expander("Index a corpus", icon=":material/upload_file:", expanded=not jobs.exists(id)):
        uploaded = st.file_uploader("A text file in UTF-8, up to 50 MB", type=["txt"], key="near_file")
        tokens = st.select_slider("Tokens to keep, drawn over the whole file", list(limits.CORPUS_TOKENS),
                                  value=limits.CORPUS_TOKENS[1], format_func=lambda count: f"{count:,}", key="near_tokens")
        config = session.bert().config
        size = tokens * config.hidden_size * 2 * (config.num_hidden_layers + 1)
        st.caption(f"Kept on disk: up to {size / 2**20:,.0f} MB for all layers; in memory "
                   f"{tokens * config.hidden_size * 4 / 2**20:,.0f} MB while a layer is searched.")
        if st.button("Index it", disabled=uploaded is None, icon=":material/play_circle:") and uploaded is not None:
            id = jobs.submit(WORK, {"checkpoint": checkpoint, "tokens": tokens}, f"Index of {uploaded.name}",
                             {"corpus.txt": uploaded.getvalue()})
            st.query_params["corpus"] = id
    if not jobs.exists(id):
        return None
    job = panel.job(id)
    if (job.work != WORK or job.arguments.get("checkpoint") != checkpoint
            or job.folder.stat().st_mtime < session.changed()):
        st.info("The corpus in this address was indexed with another model, or before this one was last written: choose "
                "that model, or index it again.")
        return None
    if job.state != "done":
        return None
    st.caption(f"Read: {job.last.get('sentences', 0):,} of the {job.last.get('of', 0):,} sentences of the file.")
    return session.index(job.folder, layer)
