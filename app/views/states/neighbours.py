"""Neighbours: the section of Hidden states that looks for a token's likes in a text or an indexed corpus."""

import streamlit as st

from app import jobs, layout, limits, ownership, session
from app.figures import contexts as figures
from app.jobs import panel
from app.widgets import text_inputs
from app.widgets.choice import choice
from probes.states.neighbours import NeighbourIndex

LISTED = 15
WORK = "app.work.corpus_index:build"


def section() -> None:
    bert, trace = session.bert(), session.trace()
    left, right = st.columns([3, 2])
    with left:
        position = text_inputs.token(trace, "Token of the sentence", "near_token")
    with right:
        layer = text_inputs.layer(bert, "near_layer")
    source = choice("Look in", {"text": "a text", "corpus": "a corpus"}, key="near")
    index = _corpus(layer) if source == "corpus" else _text(layer)
    if index is None:
        return
    nearest = index.described(index.nearest(trace.hidden[layer, position], LISTED))
    best = nearest.iloc[0]
    st.caption(
        f"*{layout.escape(best['at'])}* is nearest to *{layout.escape(trace.wordpieces[position])}* at layer {layer}: "
        f"cosine {best['cosine']:.2f}; the mean of all pairs is {index.typical():.2f}. Searched: {len(index.places):,} "
        f"tokens ({index.bytes / 2**20:,.1f} MB in memory)."
    )
    st.html(figures.lines(nearest, "cosine"))


def _text(layer: int) -> NeighbourIndex:
    return NeighbourIndex.of(session.token_contexts(text_inputs.passage("near_text")), layer)


def _corpus(layer: int) -> NeighbourIndex | None:
    """The index of an uploaded corpus once it is there; until then the way to it."""
    checkpoint, id = session.checkpoint_path(), st.query_params.get("corpus", "")
    with st.expander("Index a corpus", icon=":material/upload_file:", expanded=not jobs.exists(id)):
        id = _order(checkpoint) or id
    if not jobs.exists(id):
        return None
    job = panel.show(id)
    if (
        job.work != WORK
        or job.arguments.get("checkpoint") != checkpoint
        or job.folder.stat().st_mtime < session.model_modified()
    ):
        st.info(
            "The corpus in this address was indexed with another model, or before this one was last written: choose "
            "that model, or index it again."
        )
        return None
    if job.state != "done":
        return None
    progress = job.last_progress
    st.caption(f"{progress.get('sentences', 0):,} of the {progress.get('of', 0):,} sentences of the file are indexed.")
    return session.index(job.folder, layer)


def _order(checkpoint: str) -> str:
    """A file and how much of it to index; the id of the job once it is ordered."""
    upload = st.file_uploader("A text file in UTF-8, up to 50 MB", type=["txt"], key="near_file")
    tokens = st.select_slider(
        "Tokens to index, sampled over the whole file",
        list(limits.CORPUS_TOKENS),
        value=limits.CORPUS_TOKENS[1],
        format_func=lambda count: f"{count:,}",
        key="near_tokens",
    )
    config = session.bert().config
    on_disk = tokens * config.hidden_size * 2 * (config.num_hidden_layers + 1)
    st.caption(
        f"On disk: up to {on_disk / 2**20:,.0f} MB for all layers; in memory "
        f"{tokens * config.hidden_size * 4 / 2**20:,.0f} MB while a layer is searched."
    )
    if not st.button("Index it", disabled=upload is None, icon=":material/play_circle:") or upload is None:
        return ""
    arguments = {"checkpoint": checkpoint, "tokens": tokens}
    id = ownership.submit(WORK, arguments, f"Index of {upload.name}", {"corpus.txt": upload.getvalue()})
    st.query_params["corpus"] = id
    return id
