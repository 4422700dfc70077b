"""Similarity: the section of Hidden states that compares tokens, layers, contexts and what sub-layers add."""

import streamlit as st

from app import layout, session
from app.figures import states as figures
from app.widgets import text_inputs
from probes.states import geometry, residual_stream, token_contexts


def section() -> None:
    drawn = {"tokens": _tokens, "layers": _layers, "a word in other contexts": _steadiness,
             "words of one sentence": _intra_sentence, "what sub-layers write": _writes}
    chosen = st.segmented_control("Compare", list(drawn), default="tokens", required=True, key="compare",
                                  bind="query-params")
    drawn[chosen or "tokens"](session.trace())


def _tokens(trace) -> None:
    layer = text_inputs.layer(session.bert(), "token_layer")
    layout.chart(figures.square(geometry.cosine(trace.hidden)[layer], trace.texts), key="cosines",
                looking=f"What you are looking at: the cosine of every two tokens at layer {layer}. The baseline is the "
                        f"mean of all pairs, {geometry.anisotropy(trace.hidden[layer]):.2f} here: in most layers any two "
                        "tokens are somewhat alike.",
                alt=f"Square map of the cosines of {len(trace.texts)} tokens at layer {layer}.")


def _layers(trace) -> None:
    debiased = st.segmented_control("Measure", ["debiased CKA", "plain CKA"], default="debiased CKA", required=True,
                                    key="cka", bind="query-params") == "debiased CKA"
    count, size = trace.hidden.shape[1:]
    noise = geometry.cka_of_noise(count, size, size)
    values = (geometry.layers_cka if debiased else geometry.layers_plain_cka)(trace.hidden, trace.hidden)
    names = [str(layer) for layer in range(len(values))]
    baseline = ("Baseline: noise gives 0 on average." if debiased else
                f"Baseline: with {count} tokens and {size} dimensions two clouds of pure noise would give {noise:.2f}, "
                "so plain CKA says little about one sentence.")
    layout.chart(figures.square(values, names, what="CKA", titles=("layer", "layer")),
                key="layers",
                looking="What you are looking at: do two layers arrange the tokens of this text alike, whatever the "
                        f"rotation? 1 means the same arrangement. {baseline}",
                alt=f"Square map of CKA between {len(names)} layers.")


def _steadiness(_) -> None:
    lines = text_inputs.passage("drift_text")
    found = token_contexts.steadiness(session.gathered(lines))
    repeated = found.words["word"].tolist()
    first = "bank" if "bank" in repeated else next((word for word in repeated if word.isalpha()), repeated[0])
    word = st.selectbox("One word", repeated, index=repeated.index(first), key="drift_word", bind="query-params")
    layout.chart(figures.steadiness(found, word), key="steadiness",
                looking="What you are looking at: the mean cosine between uses of the same wordpiece in different "
                        f"sentences ({len(repeated)} pieces are used at least twice), beside all pairs of tokens. Where "
                        "the lines are far apart a word keeps its identity; where they meet, context has taken over "
                        "(Ethayarajh, 2019).",
                alt="Lines over layers: similarity of a word to itself in other contexts, and of random pairs.")


def _intra_sentence(_) -> None:
    found = token_contexts.intra_sentence(session.gathered(text_inputs.passage("drift_text")))
    last = len(found.mean) - 1
    layout.chart(figures.intra_sentence(found), key="intra_sentence",
                looking=f"At layer {last} a token has a cosine of {found.mean[last]:.2f} with the mean of its sentence, "
                        f"over {len(found.sentences)} sentences (intra-sentence similarity; Ethayarajh, 2019); in "
                        f"sentences dealt at random from the same tokens it would be {found.shuffled[last]:.2f}. Where the "
                        "lines part, the tokens of a sentence have come to share a direction. The paper subtracts the mean "
                        "of all pairs instead; short sentences are near their own mean whatever is in them, so the baseline "
                        "here has the same lengths.",
                alt="Lines over layers: similarity of tokens to the mean of their sentence, and the same at random.")


def _writes(trace) -> None:
    parts = {"what attention adds": "attention", "what feed-forward adds": "feed-forward", "length of the state": "state",
             "direction kept": "turn"}
    part = st.segmented_control("Show", list(parts), default="what attention adds", required=True, key="writes",
                                bind="query-params")
    explained = {
        "attention": "the length of what attention adds to a token, divided by the length of the token's state: 0 leaves "
                     "it as it was, 1 adds as much as was there.",
        "feed-forward": "the length of what the feed-forward network adds, divided by the length of the state it is "
                        "added to: 0 leaves it as it was.",
        "state": "the length of every state. Each layer ends with a normalisation, so lengths hardly tell tokens apart.",
        "turn": "the cosine of a token before and after a layer: 1 means the layer did not turn it."}
    found = residual_stream.writes(session.bert(), trace.encoding)
    layout.chart(figures.writes(found, trace.texts, parts[part]), key="written",
                looking=f"What you are looking at: {explained[parts[part]]}",
                alt=f"Map of layers and tokens: {part}.")
