"""Sentences: the section of Hidden states where whole sentences are compared."""

import numpy as np
import streamlit as st

from app import frame, limits, samples, state
from app.figures import concordance
from app.figures import geometry as figures
from probes import contexts, geometry, pooling

from . import pasted

POOLINGS = {"mean of the tokens": "mean", "[CLS]": "cls"}


def section() -> None:
    bert = state.bert()
    left, right = st.columns([2, 3])
    kind = left.segmented_control("One vector for a sentence", list(POOLINGS), default="mean of the tokens", required=True,
                                  key="pooling", bind="query-params") or "mean of the tokens"
    with right:
        layer = pasted.layer(bert, "sentence_layer")
    with st.expander(f"The sentences: up to {limits.PASTED_SENTENCES}", icon=":material/article:"):
        typed = pasted.box(samples.TOPICS, "many")
    texts = pasted.bounded(contexts.split(typed))
    vectors = state.answer(bert, "sentences", (texts, layer, kind),
                           lambda: pooling.vectors(bert, texts, layer, POOLINGS[kind]))
    left, right = st.columns(2, gap="large")
    numbers = [str(number) for number in range(1, len(texts) + 1)]
    with left:
        similar = figures.square(geometry.cosine(vectors), numbers, cell=15, every=1 + len(texts) // 12)
        frame.chart(similar, key="sentence_cosines",
                    looking=f"What you are looking at: the cosine of every two sentences at layer {layer}. Baseline: the "
                            f"mean of all pairs is {geometry.anisotropy(vectors):.2f}.",
                    alt=f"Square map of the cosines of {len(texts)} sentences.")
    with right:
        pca = geometry.PCA(2).fit(vectors)
        frame.chart(figures.sentence_map(pca.transform(vectors), pca.explained_, texts), key="sentence_map",
                    looking=f"What you are looking at: the same sentences as points; the two axes show "
                            f"{np.sum(pca.explained_):.0%} of the variance.",
                    alt=f"Map of {len(texts)} sentences, {np.sum(pca.explained_):.0%} of the variance shown.")
    st.html(concordance.numbered(texts))
