"""Sentences: the section of Hidden states where whole sentences are compared."""

import streamlit as st

from app import layout, limits, session
from app.figures import contexts as context_figures
from app.figures import states as figures
from app.samples import senses
from app.widgets import text_inputs
from app.widgets.choice import choice
from probes.states import geometry, sentence_vectors, token_contexts

POOLINGS = {"mean": "mean of the tokens", "cls": "[CLS]"}


def section() -> None:
    bert = session.bert()
    left, right = st.columns([2, 3])
    with left:
        pooling = choice("One vector for a sentence", POOLINGS, key="pooling")
    with right:
        layer = text_inputs.layer(bert, "sentence_layer")
    with st.expander(f"The sentences: up to {limits.PASTED_SENTENCES}", icon=":material/article:"):
        text = text_inputs.sentence_box(senses.TOPICS, "many")
    texts = text_inputs.limit_sentences(token_contexts.split(text))
    vectors = session.answer(
        bert, "sentences", (texts, layer, pooling), lambda: sentence_vectors.vectors(bert, texts, layer, pooling)
    )
    cosines = geometry.cosine(vectors)
    first, second, cosine = geometry.nearest_pair(cosines)
    left, right = st.columns(2, gap="large")
    with left:
        numbers = [str(number) for number in range(1, len(texts) + 1)]
        layout.chart(
            figures.similarity_map(cosines, numbers, cell=15, every=1 + len(texts) // 12),
            key="sentence_cosines",
            finding=f"Sentences {first + 1} and {second + 1} are most alike at layer {layer}: cosine {cosine:.2f}; the mean "
            f"of all pairs is {geometry.anisotropy(vectors):.2f}.",
            alt=f"Square map of the cosines of {len(texts)} sentences.",
        )
    with right:
        pca = geometry.PCA(2).fit(vectors)
        layout.chart(
            figures.sentence_map(pca.transform(vectors), pca.explained_variance_ratio_, texts),
            key="sentence_map",
            finding=f"{pca.explained_variance:.0%} of the variance is on these two axes; each point is a sentence.",
            alt=f"Map of {len(texts)} sentences, {pca.explained_variance:.0%} of the variance shown.",
        )
    st.html(context_figures.numbered(texts))
