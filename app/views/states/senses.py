"""One word, many senses: the section of Hidden states where a word is followed through its contexts."""

import streamlit as st

from app import layout, session
from app.figures import paths as moving
from app.figures import states as figures
from app.figures import theme
from app.samples import senses as samples
from app.widgets import text_inputs
from model import Bert, InputProblem
from probes.states import geometry, word_senses


def section() -> None:
    left, right = st.columns([2, 3])
    preset = left.segmented_control("Begin with", list(samples.SENSES), default="bank", required=True, key="preset",
                                    bind="query-params", on_change=_begin) or "bank"
    word = right.text_input("Word", preset, key="word", bind="query-params", max_chars=60)
    with st.expander("Its sentences: one a line, an empty line between senses", icon=":material/article:"):
        typed = text_inputs.box(samples.SENSES[preset], "uses")
    labelled = word_senses.parsed(typed)
    bert, sentences = session.bert(), text_inputs.bounded(list(labelled.sentences))
    found = session.answer(bert, "uses", (word, sentences), lambda: word_senses.uses(bert, word, sentences))
    labels = [labelled.labels[sentence] for sentence in found.sentence]
    missing = len(labelled.sentences) - len(set(found.sentence.tolist()))
    if missing:
        layout.notes(f"{missing} of the sentences do not contain “{word}” and are left out.")
    left, right = st.columns(2, gap="large")
    with left:
        _map(found, labels, labelled.names)
    with right:
        _separation(bert, found, labels)


def _begin() -> None:
    """A preset brings its word and its sentences."""
    st.session_state["word"] = st.session_state["preset"]
    st.session_state["uses"] = samples.SENSES[st.session_state["preset"]]


def _map(found: word_senses.Uses, labels: list[int], names: tuple[str, ...]) -> None:
    each = geometry.layer_paths(found.vectors)
    groups = [moving.Group(name, theme.CATEGORIES[sense % len(theme.CATEGORIES)], members)
              for sense, name in enumerate(names)
              if (members := [use for use, label in enumerate(labels) if label == sense])]
    texts = [found.sentences[sentence] for sentence in found.sentence]
    layout.chart(moving.animated(each, [""] * len(texts), groups, hover=texts), key="uses_map",
                looking=f"What you are looking at: each point is “{layout.plain(found.word)}” in one sentence (hover to "
                        "read it); the axes are the best two of each layer, and say how much of it they show.",
                alt=f"{len(texts)} uses of {found.word} in two dimensions at each layer, coloured by sense.")


def _separation(bert: Bert, found: word_senses.Uses, labels: list[int]) -> None:
    try:
        apart = session.answer(bert, "separation", (found.word, found.sentences, tuple(labels)),
                             lambda: word_senses.separation(found.vectors, labels))
    except InputProblem as problem:
        st.info(layout.plain(str(problem)))
        return
    best = int(apart.silhouette.argmax())
    layout.chart(figures.separation(apart), key="separation",
                looking=f"What you are looking at: how far the senses lie apart (mean silhouette by cosine; 1: tight and "
                        f"far apart, 0: mixed). Most separate at layer {best}: {apart.silhouette[best]:.2f}, p = "
                        f"{apart.p[best]:.3f}. Grey: the same vectors with the senses dealt at random 200 times. At layer 0 "
                        "only the place of the word tells its uses apart.",
                alt=f"Separation of the senses by layer, largest {apart.silhouette[best]:.2f} at layer {best}, with the "
                    "band of random labellings.")
