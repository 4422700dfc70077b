"""Sentences: the section of Hidden states where whole sentences are compared."""

import numpy as np
import streamlit as st

from app import layout, limits, session
from app.figures import contexts as concordance
from app.figures import states as figures
from app.samples import senses
from app.widgets import text_inputs
from probes.states import geometry, sentence_vectors, token_contexts

POOLINGS = {"mean of the tokens": "mean", "[CLS]": "cls"}


def section() -> None:
    bert = session.bert()
    left, right = st.columns([2, 3])
    kind = left.segmented_control("One vector for a sentence", list(POOLINGS), default="mean of the tokens", required=True,
                                  key="pooling", bind="query-params") or "mean of the tokens"
    with right:
        layer = text_inputs.layer(bert, "sentence_layer")
    with st.expander(f"The sentences: up to {limits.PASTED_SENTENCES}", icon=":material/article:"):
        typed = text_inputs.box(senses.TOPICS, "many")
    texts = text_inputs.bounded(token_contexts.split(typed))
    vectors = session.answer(bert, "sentences", (texts, layer, kind),
                           lambda: sentence_vectors.vectors(bert, texts, layer, POOLINGS[kind]))
    left, right = st.columns(2, gap="large")
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    with left:
        similar = figures.square(geometry.cosine(vectors), numbers, cell=15, every=1 + len(texts) // 12)
        layout.chart(similar, key="sentence_cosines",
                    looking=f"What you are looking at: the cosine of every two sentences at layer {layer}. Baseline: the "
                            f"mean of all pairs is {geometry.anisotropy(vectors):.2f}.",
                    alt=f"Square map of the cosines of {len(texts)} sentences.")
    with right:
        pca = geometry.PCA(2).fit(vectors)
        layout.chart(figures.sentence_map(pca.transform(vectors), pca.explained_, texts), key="sentence_map",
                    looking=f"What you are looking at: the same sentences as points; the two axes show "
                            f"{np.sum(pca.explained_):.0%} of the variance.",
                    alt=f"Map of {len(texts)} sentences, {np.sum(pca.explained_):.0%} of the variance shown.")
    st.html(concordance.numbered(texts))
