"""Hidden states: where meaning moves, layer by layer."""

import streamlit as st

from app import frame, state
from app.figures import geometry as figures
from app.figures import paths as moving
from app.figures import theme
from app.views import neighbours, neurons, pasted, senses, sentences
from probes import contexts, geometry, residual

ARTICLES = {"Paths": "paths", "Similarity": "similarity", "Word senses": "senses", "Neighbours": "neighbours",
            "Neurons": "neurons", "Sentences": "sentences"}


def page() -> None:
    frame.title("Hidden states", "Where does meaning move, layer by layer?")
    drawn = {"paths": _paths, "similarity": _similarity, "senses": senses.section, "neighbours": neighbours.section,
             "neurons": neurons.section, "sentences": sentences.section}
    chosen = st.segmented_control("Look at", list(ARTICLES), default="Paths", required=True, key="look",
                                  bind="query-params", label_visibility="collapsed")
    frame.notes(state.trace().note)
    drawn[ARTICLES[chosen or "Paths"]]()


def _paths() -> None:
    trace = state.trace()
    names = [f"{token.position} · {token.text}" for token in trace.tokens]
    left, middle, right = st.columns([2, 2, 5])
    flat = left.segmented_control("Dimensions", ["2-D", "3-D"], default="2-D", required=True, key="dimensions",
                                  bind="query-params")
    fitted = middle.segmented_control("Axes fitted on", ["all layers", "each layer"], default="all layers",
                                      required=True, key="axes", bind="query-params")
    own = [token.position for token in trace.tokens if not token.special]
    followed = right.multiselect("Follow the path of", list(range(len(names))), default=own[1:2] or own[:1],
                                 format_func=lambda place: names[place], max_selections=5,
                                 key=f"followed {trace.texts}")
    axes = 3 if flat == "3-D" else 2
    shared = fitted == "all layers"
    found = (geometry.shared_paths if shared else geometry.layer_paths)(trace.hidden, axes)
    kept = f"{found.overall.sum():.0%}"
    said = (f"one PCA over all layers, so a step is a real movement; these {axes} axes keep {kept} of the variance of all "
            "layers together." if shared else
            f"a PCA of each layer alone, so each picture is the best of its layer and only its shape counts; the {axes} "
            f"axes keep {kept} of the variance within layers.")
    frame.chart(moving.animated(found, trace.texts, _groups(trace), followed), key="paths",
                looking=f"What you are looking at: every token at one layer; press play or drag the slider. It is {said} "
                        "Each axis says what share of the current layer it shows: the rest of the truth is not in the "
                        "picture.",
                alt=f"{len(names)} tokens in {axes} dimensions at layers 0 to {len(found.points) - 1}, {kept} of the "
                    "variance shown.")


def _groups(trace) -> list[moving.Group]:
    special = [token.position for token in trace.tokens if token.special]
    groups = [moving.Group("[CLS] and [SEP]", "#868e96", special)]
    for segment, colour in enumerate((theme.ACCENT, theme.SECOND)):
        members = [token.position for token in trace.tokens if not token.special and token.segment == segment]
        if members:
            groups.append(moving.Group(f"sentence {'AB'[segment]}", colour, members))
    return groups


def _similarity() -> None:
    drawn = {"tokens": _tokens, "layers": _layers, "a word in other contexts": _steadiness, "what sub-layers write": _writes}
    chosen = st.segmented_control("Compare", list(drawn), default="tokens", required=True, key="compare",
                                  bind="query-params")
    drawn[chosen or "tokens"](state.trace())


def _tokens(trace) -> None:
    layer = pasted.layer(state.bert(), "token_layer")
    frame.chart(figures.square(geometry.cosine(trace.hidden)[layer], trace.texts), key="cosines",
                looking=f"What you are looking at: the cosine of every two tokens at layer {layer}. The baseline is the "
                        f"mean of all pairs, {geometry.anisotropy(trace.hidden[layer]):.2f} here: in most layers any two "
                        "tokens are somewhat alike.",
                alt=f"Square map of the cosines of {len(trace.texts)} tokens at layer {layer}.")


def _layers(trace) -> None:
    debiased = st.segmented_control("Measure", ["debiased CKA", "plain CKA"], default="debiased CKA", required=True,
                                    key="cka") == "debiased CKA"
    count, size = trace.hidden.shape[1:]
    noise = geometry.cka_of_noise(count, size, size)
    values = (geometry.layers_cka if debiased else geometry.layers_plain_cka)(trace.hidden, trace.hidden)
    names = [str(layer) for layer in range(len(values))]
    baseline = ("Baseline: noise gives 0 on average." if debiased else
                f"Baseline: with {count} tokens and {size} dimensions two clouds of pure noise would give {noise:.2f}, "
                "so plain CKA says little about one sentence.")
    frame.chart(figures.square(values, names, what="CKA", titles=("layer", "layer")),
                key="layers",
                looking="What you are looking at: do two layers arrange the tokens of this text alike, whatever the "
                        f"rotation? 1 means the same arrangement. {baseline}",
                alt=f"Square map of CKA between {len(names)} layers.")


def _steadiness(_) -> None:
    lines = pasted.passage("drift_text")
    found = contexts.steadiness(state.gathered(lines))
    repeated = found.words["word"].tolist()
    word = st.selectbox("One word", repeated, index=repeated.index("bank") if "bank" in repeated else 0, key="drift_word")
    frame.chart(figures.steadiness(found, word), key="steadiness",
                looking="What you are looking at: the mean cosine between uses of the same wordpiece in different "
                        f"sentences ({len(repeated)} pieces are used at least twice), beside all pairs of tokens. Where "
                        "the lines are far apart a word keeps its identity; where they meet, context has taken over "
                        "(Ethayarajh, 2019).",
                alt="Lines over layers: similarity of a word to itself in other contexts, and of random pairs.")


def _writes(trace) -> None:
    parts = {"what attention adds": "attention", "what feed-forward adds": "feed-forward", "length of the state": "state",
             "direction kept": "turn"}
    part = st.segmented_control("Show", list(parts), default="what attention adds", required=True, key="writes")
    explained = {
        "attention": "the length of what attention adds to a token, divided by the length of the token's state: 0 leaves "
                     "it as it was, 1 adds as much as was there.",
        "feed-forward": "the length of what the feed-forward network adds, divided by the length of the state it is "
                        "added to: 0 leaves it as it was.",
        "state": "the length of every state. Each layer ends with a normalisation, so lengths hardly tell tokens apart.",
        "turn": "the cosine of a token before and after a layer: 1 means the layer did not turn it."}
    found = residual.writes(state.bert(), trace.encoding)
    frame.chart(figures.writes(found, trace.texts, parts[part]), key="written",
                looking=f"What you are looking at: {explained[parts[part]]}",
                alt=f"Map of layers and tokens: {part}.")
