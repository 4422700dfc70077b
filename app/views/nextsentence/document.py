"""A document of the next-sentence page: every pair of its sentences, and their order recovered."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app import jobs, layout, limits, ownership, session
from app.figures import sentence_order as figures
from app.jobs import panel
from app.samples.pairs import DOCUMENTS
from app.widgets import remembered_job, text_inputs
from app.widgets.choice import choice
from model import Bert
from model.pretraining import corpus
from probes.nextsentence import sentence_order
from probes.nextsentence.sentence_order import DocumentOrder

WORK = "app.work.nextsentence:order"
MARGINS = "margins.npy"  # in the folder of the job


def section(bert: Bert) -> None:
    answer = st.container()
    sentences = _sentences()
    with answer:
        sentence_order.check(sentences)
        document = _document_order(bert, sentences)
        if document is not None:
            _show(document, sentences)


def _sentences() -> list[str]:
    def take() -> None:
        st.session_state["nsp_document"] = DOCUMENTS[st.session_state["document"]][1]

    sample = choice("A text to start from", {slug: title for slug, (title, _) in DOCUMENTS.items()}, "document", take)
    st.markdown(
        "If the head knew what comes next, a shuffled text could be put in order again. Paste up to "
        f"{sentence_order.MOST} sentences in their true order."
    )
    text = text_inputs.sentence_box(DOCUMENTS[sample][1], "nsp_document", 150, "The document")
    uploaded = st.file_uploader("Or a text file", type=["txt"], key="nsp_upload", max_upload_size=1)
    if uploaded is not None:
        text = corpus.decode_utf8(uploaded.getvalue())
    return [sentence for line in text.splitlines() for sentence in corpus.split_sentences(line)]


def _document_order(bert: Bert, sentences: list[str]) -> DocumentOrder | None:
    """At once for a short document, from a job for a longer one; None while that is not done."""
    file = None
    if len(sentences) > limits.SENTENCES_AT_ONCE:
        sentence_order.pairs(bert, sentences)  # raises at once what a job would only say later
        file = _margins_file(sentences)
        if file is None:
            return None

    def compute() -> DocumentOrder:
        with st.spinner(f"Reading {len(sentences) * (len(sentences) - 1):,} pairs …"):
            margins = sentence_order.matrix(bert, sentences) if file is None else sentence_order.read_matrix(file)
            return sentence_order.put_in_order(margins, sentences)

    return session.answer(bert, "document order", tuple(sentences), compute)


def _margins_file(sentences: list[str]) -> Path | None:
    """What a job wrote about all pairs; a button for one that nobody ordered yet."""
    arguments = {"checkpoint": session.checkpoint_path(), "sentences": sentences}
    job, count = remembered_job.latest(WORK, arguments), len(sentences)
    if job is None:
        if not st.button(f"Read all {count * (count - 1):,} pairs", type="primary", icon=":material/play_arrow:"):
            return None
        job = jobs.get(ownership.submit(WORK, arguments, f"Order of {count} sentences"))
    job = panel.show(job.id)
    return job.folder / MARGINS if job.state == "done" else None


def _show(document: DocumentOrder, sentences: list[str]) -> None:
    count, best = len(sentences), document.best
    left, right = st.columns([3, 2], gap="large")
    with left:
        layout.chart(
            figures.matrix(document.probabilities, sentences),
            key="nsp-matrix",
            finding=f"In {document.successor_accuracy:.0%} of the rows the true next sentence has the highest P(IsNext) (by "
            f"shared words {document.overlap_successor_accuracy:.0%}, by chance {1 / (count - 1):.0%}).",
            help="Rows: first sentence; columns: second; orange frames: the true next ones.",
            alt=f"Square map of {count} by {count} probabilities; the true next sentence has the highest of its "
            f"row in {document.successor_accuracy:.0%} of the rows.",
        )
    with right:
        layout.chart(
            figures.agreement(document.taus, count),
            key="nsp-tau",
            finding=f"Kendall's τ of the recovered order is {best.tau:+.2f} (1 the same, 0 chance, −1 reversed); a random "
            f"order does as well or better with probability {document.p_value:.2g}.",
            help=f"Shared words get {document.overlap_tau:.2f}: they know no direction and count in the better one, where a "
            f"random order gets {document.chance_tau:.2f} on average.",
            alt="; ".join(f"{method}: tau {tau:+.2f}" for method, tau in document.taus.items()),
        )
    st.markdown("**The text in the order the model would give it**")
    st.dataframe(
        pd.DataFrame(
            {"true place": [index + 1 for index in best.order], "sentence": [sentences[index] for index in best.order]}
        ),
        hide_index=True,
        height="content",
        column_config={"true place": st.column_config.Column(width=100), "sentence": st.column_config.Column(width=1080)},
        alt="The sentences in the recovered order with their true places",
    )
    numbers = range(1, count + 1)
    st.download_button(
        "The matrix as CSV",
        pd.DataFrame(document.probabilities, index=numbers, columns=numbers).to_csv(),
        "next-sentence-matrix.csv",
        "text/csv",
        icon=":material/download:",
    )
