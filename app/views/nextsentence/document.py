"""A document of the next-sentence page: every pair of its sentences, and their order found again."""

import numpy as np
import pandas as pd
import streamlit as st

from app import jobs, layout, limits, session
from app.figures import sentence_order as figures
from app.jobs import panel
from app.samples.pairs import DOCUMENTS
from model import Bert
from model.pretraining import corpus
from probes import nextsentence
from probes.nextsentence import lexical_overlap, sentence_order


def section(bert: Bert) -> None:
    st.markdown("If the head knew what comes next, a shuffled text could be put in order again. Paste up to "
                f"{sentence_order.MOST} sentences in their true order.")
    sentences = _sentences()
    sentence_order.check(sentences)
    margins = _margins(bert, sentences)
    if margins is not None:
        _shown(margins, sentences)


def _sentences() -> list[str]:
    def take() -> None:
        if st.session_state["nsp_document_choice"]:
            st.session_state["nsp_document"] = DOCUMENTS[st.session_state["nsp_document_choice"]]

    st.pills("A text to start from", list(DOCUMENTS), key="nsp_document_choice", on_change=take)
    st.session_state.setdefault("nsp_document", next(iter(DOCUMENTS.values())))
    text = st.text_area("The document", key="nsp_document", height=150, max_chars=limits.DOCUMENT_CHARACTERS,
                        persist_state="session")
    uploaded = st.file_uploader("Or a text file", type=["txt"], key="nsp_upload", max_upload_size=1)
    if uploaded is not None:
        text = corpus.decoded(uploaded.getvalue())
    return [sentence for line in text.splitlines() for sentence in corpus.sentences(line)]


def _margins(bert: Bert, sentences: list[str]) -> np.ndarray | None:
    """The matrix: at once for a short document, as a job for a longer one; None while that is not done."""
    if len(sentences) <= limits.SENTENCES_AT_ONCE:
        with st.spinner(f"Reading {len(sentences) * (len(sentences) - 1)} pairs …"):
            return session.answer(bert, "order", tuple(sentences), lambda: sentence_order.matrix(bert, sentences))
    sentence_order.pairs(bert, sentences)  # says at once what a job would only say later
    arguments = {"checkpoint": session.source(), "sentences": sentences}
    found = jobs.latest("app.work.nextsentence:order", arguments)
    if found is None or found.folder.stat().st_mtime < session.changed():
        count = len(sentences)
        if not st.button(f"Read all {count * (count - 1):,} pairs", type="primary", icon=":material/play_arrow:"):
            return None
        found = jobs.find(jobs.submit("app.work.nextsentence:order", arguments, f"Order of {count} sentences"))
    found = panel.job(found.id)
    return sentence_order.squared(np.load(found.folder / "margins.npy")) if found.state == "done" else None


def _shown(margins: np.ndarray, sentences: list[str]) -> None:
    count, links = len(sentences), sentence_order.links(margins)
    found = {"greedy": sentence_order.recovered(links)}
    if count <= sentence_order.EXACT:
        found["exact"] = sentence_order.recovered(links, sentence_order.best)
    best = list(found.values())[-1]
    first, p = sentence_order.true_next_first(links), sentence_order.as_good_by_chance(best.tau, count)
    by_words, by_chance = sentence_order.true_next_first(lexical_overlap.matrix(sentences)), 1 / (count - 1)
    taus = {name: one.tau for name, one in found.items()} | {"shared words": sentence_order.by_overlap(sentences)}
    left, right = st.columns([3, 2], gap="large")
    with left:
        layout.chart(figures.matrix(nextsentence.probabilities(margins), sentences), key="nsp-matrix",
                    looking="What you are looking at: P(IsNext) for every two sentences, row first, column second. Orange "
                            "frames are the true next sentences; a head that knew them would colour only those. The true "
                            f"next has the highest of its row in {first:.0%} of the rows (by shared words "
                            f"{by_words:.0%}, by chance {by_chance:.0%}).",
                    alt=f"Square map of {count} by {count} probabilities; the true next sentence has the highest of its "
                        f"row in {first:.0%} of the rows.")
    with right:
        layout.chart(figures.agreement(taus, count), key="nsp-tau",
                    looking="What you are looking at: how well the order found agrees with the true one (1 the same, 0 "
                            f"chance, −1 reversed). A random order does as well as the model's {best.tau:+.2f} or better "
                            f"with probability {p:.2g}. Shared words know no direction and are given the better one; so "
                            f"favoured, a random order gets {sentence_order.chance_size(count):.2f} on average.",
                    alt="; ".join(f"{name}: tau {value:+.2f}" for name, value in taus.items()))
    st.markdown("**The text in the order the model would give it**")
    st.dataframe(pd.DataFrame({"true place": [place + 1 for place in best.order],
                               "sentence": [sentences[place] for place in best.order]}),
                 hide_index=True, height="content", column_config={
                     "true place": st.column_config.Column(width=100), "sentence": st.column_config.Column(width=1080)},
                 alt="The sentences in the recovered order with their true places")
    st.download_button("The matrix as CSV", pd.DataFrame(
        nextsentence.probabilities(margins), index=range(1, count + 1), columns=range(1, count + 1)).to_csv(),
        "next-sentence-matrix.csv", "text/csv", icon=":material/download:")
