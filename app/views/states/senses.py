"""Word senses: from which layer on does the model keep the senses of a word apart?"""

import streamlit as st

from app import layout, session
from app.figures import paths as path_figures
from app.figures import states as figures
from app.figures import theme
from app.samples.senses import SENSES
from app.widgets import text_inputs
from app.widgets.choice import select
from model import Bert, InputError
from probes.states import geometry, word_senses
from probes.states.word_senses import LabelledUses, WordUses


def section() -> None:
    word, labelled = _inputs()
    bert, sentences = session.bert(), text_inputs.limit_sentences(list(labelled.sentences))
    uses = session.answer(bert, "uses", (word, sentences), lambda: word_senses.uses(bert, word, sentences))
    labels = [labelled.labels[sentence] for sentence in uses.sentence]
    missing = len(labelled.sentences) - len(set(uses.sentence.tolist()))
    if missing:
        layout.input_note(f"{missing} of the sentences do not contain “{word}” and are left out.")
    left, right = st.columns(2, gap="large")
    with left:
        _map(uses, labels, labelled.names)
    with right:
        _separation(bert, uses, labels)


def _inputs() -> tuple[str, LabelledUses]:
    """A sample, or the reader's own word and sentences; all three stand in the address."""
    left, right = st.columns([2, 3])
    with left:
        samples = _samples()
        sample = select("Begin with", {name: name for name in samples}, key="preset", on_change=_take_sample)
    word = right.text_input("Word", sample, key="word", bind="query-params", max_chars=60)
    with st.expander("Its sentences: one a line, an empty line between senses", icon=":material/article:"):
        text = text_inputs.sentence_box(samples[sample], "uses")
    return word, word_senses.parse(text)


def _take_sample() -> None:
    sample = st.session_state["preset"]
    st.session_state.update(word=sample, uses=_samples()[sample])


def _samples() -> dict[str, str]:
    """Words with sentences written for this page, then ambiguous words of the reader with its own sentences."""
    examples = session.sense_examples()
    of_reader = {
        word: "\n\n".join("\n".join([f"{sense}:", *texts]) for sense, texts in senses.items())
        for word, senses in examples.items()
    }
    return SENSES | {word: text for word, text in of_reader.items() if word not in SENSES}


def _map(uses: WordUses, labels: list[int], names: tuple[str, ...]) -> None:
    paths = geometry.layer_paths(uses.vectors)
    groups = [
        path_figures.PointGroup(name, theme.CATEGORIES[sense % len(theme.CATEGORIES)], members)
        for sense, name in enumerate(names)
        if (members := [use for use, label in enumerate(labels) if label == sense])
    ]
    texts = [uses.sentences[sentence] for sentence in uses.sentence]
    layout.chart(
        path_figures.animated(paths, [""] * len(texts), groups, hover=texts),
        key="uses_map",
        finding=f"{paths.explained_variance:.0%} of the variance within layers is on screen: the best two axes of each "
        f"layer. Each of the {len(texts)} points is “{layout.escape(uses.word)}” in one sentence (hover to read it).",
        alt=f"{len(texts)} uses of {uses.word} in two dimensions at each layer, coloured by sense.",
    )


def _separation(bert: Bert, uses: WordUses, labels: list[int]) -> None:
    try:
        separation = session.answer(
            bert,
            "separation",
            (uses.word, uses.sentences, tuple(labels)),
            lambda: word_senses.separation(uses.vectors, labels),
        )
    except InputError as problem:
        st.info(layout.escape(str(problem)))
        return
    layer = separation.best_layer
    best = f"{separation.silhouette[layer]:.2f}"
    layout.chart(
        figures.sense_separation(separation),
        key="separation",
        finding=f"The senses of *{layout.escape(uses.word)}* lie furthest apart at **layer {layer}**: silhouette {best} "
        f"(1 apart, 0 mixed; p = {separation.p_value[layer]:.3f}), beside {separation.null_mean[layer]:z.2f} for random "
        f"labellings (grey) and {separation.silhouette[0]:z.2f} at layer 0, where only the position of the word tells its "
        "uses apart.",
        alt=f"Separation of the senses by layer, largest {best} at layer {layer}, with the band of random labellings.",
    )
