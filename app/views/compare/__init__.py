"""Compare: the same question to two models, or about two texts."""

import streamlit as st

from app import layout, session
from app.figures import compare as figures
from app.figures import states
from app.views.compare import attention, models, predictions, probes
from app.views.compare.models import Side
from model import smallworld
from probes import comparison

ENGLISH, EARLY = "English against random weights", "Small world at step 100 against the end"


def page() -> None:
    layout.title("Compare", "What is different between two models, or two texts?")
    offers = models.offered()
    presets = _presets(offers)
    st.pills("Begin with", list(presets), key="begin", on_change=_begin, args=(presets,))
    columns = st.columns(2, gap="large")
    with columns[0]:
        left = models.chosen("Left", "english", offers)
    with columns[1]:
        right = models.chosen("Right", "english, random weights", offers)
    drawn = {"Predictions": predictions.section, "Attention": attention.section, "Next sentence": _next, "States": _states,
             "Probes": probes.section}
    asked = st.segmented_control("Ask both", list(drawn), default="Predictions", required=True, key="ask",
                                 bind="query-params")
    for note in dict.fromkeys((left.trace.note, right.trace.note)):
        layout.notes(note)
    drawn[asked or "Predictions"](left, right)


def _presets(offers: dict[str, models.Offer]) -> dict[str, dict[str, str]]:
    """What each preset writes into the inputs; one whose models are not there is not offered."""
    story = "\n".join(sentence.text for sentence in next(smallworld.stories(2, 1)).sentences[:2])  # it learned from seed 1
    presets = {
        ENGLISH: {"left": "english", "right": "english, random weights", "left_text": "", "right_text": ""},
        EARLY: {"left": "smallworld, step 100", "right": "smallworld", "left_text": story, "right_text": story}}
    return {name: inputs for name, inputs in presets.items() if inputs["left"] in offers and inputs["right"] in offers}


def _begin(presets: dict[str, dict[str, str]]) -> None:
    """A preset fills the inputs and is not pressed any more: what follows is the reader's own."""
    for key, value in presets.get(st.session_state["begin"], {}).items():
        st.session_state[key] = value
    st.session_state["begin"] = None


def _next(left: Side, right: Side) -> None:
    answered = [(side, side.trace.nsp) for side in (left, right) if side.b is not None and side.trace.nsp is not None]
    for side in (left, right):
        if side.b is None:
            st.info(f"{layout.plain(side.label)} was given one sentence; next-sentence prediction needs two.")
        elif side.trace.nsp is None:
            st.info(f"{layout.plain(side.label)} has no next-sentence head.")
    if answered:
        layout.chart(figures.probabilities([value for _, value in answered if value is not None],
                                          [f"{n}. {side.label}" for n, (side, _) in enumerate(answered, start=1)]),
                    key="nsp",
                    looking="What you are looking at: how probable each side finds it that B follows A. Baseline: half of "
                            "the pairs in training were followers, so 50 % is knowing nothing.",
                    alt=", ".join(f"{side.label}: {value:.0%}" for side, value in answered))


def _states(left: Side, right: Side) -> None:
    found = session.answer(left.bert, "states of two sides", (left.key, right.key),
                         lambda: comparison.states(left.trace, right.trace))
    rows, columns = (list(map(str, range(size))) for size in found.cka.shape)
    layout.chart(states.square(found.cka, rows, columns, what="CKA", titles=(left.label, right.label)), key="cka_between",
                looking="What you are looking at: does a layer of one side arrange the tokens as a layer of the other does, "
                        "whatever the rotation? Debiased CKA over "
                        f"{len(found.units)} units; 1 is the same arrangement. Baseline: with the tokens of one side "
                        f"shuffled, the highest cell stays below {found.shuffled:.2f} in 95 % of the times.",
                alt=f"Map of CKA between {len(rows)} layers on the left and {len(columns)} on the right.")
