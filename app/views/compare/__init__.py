"""Compare: the same question to two models, or about two texts."""

import streamlit as st

from app import layout, session
from app.figures import compare as figures
from app.figures import states
from app.views.compare import attention, models, predictions, probes
from app.views.compare.models import ComparedSide
from app.widgets.choice import SECTION, choice
from model import smallworld
from probes import comparison

ENGLISH, EARLY = "English against random weights", "Small world at step 100 against the end"


def page() -> None:
    layout.title("Compare", "What is different between two models, or two texts?")
    options = models.offered()
    presets = _presets(options)
    st.pills("Begin with", list(presets), key="begin", on_change=_take_preset, args=(presets,))
    columns = st.columns(2, gap="large")
    with columns[0]:
        left = models.side("Left", "english", options)
    with columns[1]:
        right = models.side("Right", "english~random", options)
    sections = {
        "predictions": ("Predictions", predictions.section),
        "attention": ("Attention", attention.section),
        "nsp": ("Next sentence", _next_sentence),
        "states": ("States", _states),
        "probes": ("Probes", probes.section),
    }
    section = choice(SECTION, {slug: label for slug, (label, _) in sections.items()}, key="ask")
    for note in dict.fromkeys((left.trace.note, right.trace.note)):
        layout.input_note(note)
    sections[section][1](left, right)


def _presets(options: dict[str, models.ModelOption]) -> dict[str, dict[str, str]]:
    """What each preset writes into the inputs; one whose models are not there is not offered."""
    story = "\n".join(sentence.text for sentence in next(smallworld.stories(2, 1)).sentences[:2])  # it learned from seed 1
    presets = {
        ENGLISH: {"left": "english", "right": "english~random", "left_text": "", "right_text": ""},
        EARLY: {"left": "smallworld~100", "right": "smallworld", "left_text": story, "right_text": story},
    }
    return {name: inputs for name, inputs in presets.items() if inputs["left"] in options and inputs["right"] in options}


def _take_preset(presets: dict[str, dict[str, str]]) -> None:
    """A preset fills the inputs and is not pressed any more: what follows is the reader's own."""
    st.session_state.update(presets.get(st.session_state["begin"], {}))
    st.session_state["begin"] = None


def _next_sentence(left: ComparedSide, right: ComparedSide) -> None:
    probabilities: list[tuple[str, float]] = []
    for side in (left, right):
        if side.b is None:
            st.info(f"{layout.escape(side.label)} has one sentence; next-sentence prediction needs two.")
        elif side.trace.nsp is None:
            st.info(f"{layout.escape(side.label)} has no next-sentence head.")
        else:
            probabilities.append((side.label, side.trace.nsp))
    if probabilities:
        listed = [f"{label}: {probability:.0%}" for label, probability in probabilities]
        layout.chart(
            figures.probabilities(
                [probability for _, probability in probabilities],
                [f"{number}. {label}" for number, (label, _) in enumerate(probabilities, start=1)],
            ),
            key="nsp",
            finding=f"P(IsNext), that B follows A: {layout.escape('; '.join(listed))}. Half of the pairs in training were "
            "followers, so 50 % is knowing nothing.",
            alt=", ".join(listed),
        )


def _states(left: ComparedSide, right: ComparedSide) -> None:
    similarity = session.answer(
        left.bert, "states of two sides", (left.key, right.key), lambda: comparison.states(left.trace, right.trace)
    )
    rows, columns = (list(map(str, range(size))) for size in similarity.cka.shape)
    row, column, highest = similarity.most_alike
    layout.chart(
        states.similarity_map(similarity.cka, rows, columns, what="CKA", titles=(left.label, right.label)),
        key="cka_between",
        finding=f"Layer {row} on the left and layer {column} on the right are most alike: CKA {highest:.2f} (debiased, over "
        f"{len(similarity.units)} units); with the tokens of one side shuffled the highest cell stays below "
        f"{similarity.shuffled:.2f} in 95 % of the times. 1 means the same arrangement of tokens, whatever the rotation.",
        alt=f"Map of CKA between {len(rows)} layers on the left and {len(columns)} on the right.",
    )
