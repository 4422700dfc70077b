"""Compare: the same question to two models, or about two texts."""

import numpy as np
import streamlit as st

from app import frame
from app.figures import comparison as figures
from app.figures import geometry, words
from app.views import probed, sides
from app.views.sides import Side
from model import MissingHead, smallworld
from model.tokenizer import MASK
from probes import cloze, comparison, showcase

ENGLISH = "English against random weights"
WORLD = "Small world at step 100 against the end"
SHOWN = 8


def page() -> None:
    frame.title("Compare", "What is different between two models, or two texts?")
    offers = sides.offered()
    presets = _presets(offers)
    st.pills("Begin with", list(presets), key="begin", on_change=_begin, args=(presets,))
    columns = st.columns(2, gap="large")
    with columns[0]:
        left = sides.chosen("Left", "english", offers)
    with columns[1]:
        right = sides.chosen("Right", "english, random weights", offers)
    drawn = {"Predictions": _predictions, "Attention": _attention, "Next sentence": _next, "States": _states,
             "Probes": probed.section}
    asked = st.segmented_control("Ask both", list(drawn), default="Predictions", required=True, key="ask",
                                 bind="query-params")
    for note in dict.fromkeys((left.trace.note, right.trace.note)):
        frame.notes(note)
    drawn[asked or "Predictions"](left, right)


def _presets(offers: dict[str, sides.Offer]) -> dict[str, dict[str, str]]:
    """What each preset writes into the inputs; one whose models are not there is not offered."""
    presets = {ENGLISH: {"left": "english", "right": "english, random weights", "left_text": "", "right_text": ""}}
    story = "\n".join(sentence.text for sentence in next(smallworld.stories(1, 1)).sentences[:2])
    presets[WORLD] = {"left": "smallworld, step 100", "right": "smallworld", "left_text": story, "right_text": story}
    return {name: inputs for name, inputs in presets.items() if inputs["left"] in offers and inputs["right"] in offers}


def _begin(presets: dict[str, dict[str, str]]) -> None:
    """A preset fills the inputs and is not pressed any more: what follows is the reader's own."""
    for key, value in presets.get(st.session_state["begin"], {}).items():
        st.session_state[key] = value
    st.session_state["begin"] = None


def _predictions(left: Side, right: Side) -> None:
    guesses = []
    same = (left.a, left.b) == (right.a, right.b) and len(showcase.words(left.trace)) == len(showcase.words(right.trace))
    shared = _hidden(left, "Hide a word on both sides") if same else None
    for column, side in zip(st.columns(2, gap="large"), (left, right), strict=True):
        with column:
            try:
                guesses.append(_guess(side, shared if same else _hidden(side, f"Hide a word: {side.label}")))
            except MissingHead as problem:
                st.info(frame.plain(str(problem)))
    if len(guesses) == 2:
        (p, left_words), (q, right_words) = guesses
        even = comparison.agreement(p, left_words, np.full(len(left_words), 1 / len(left_words)), left_words)
        st.metric("Probability that both predictions share",
                  f"{comparison.agreement(p, left_words, q, right_words):.1%}",
                  help="For every word of both vocabularies the smaller of its two probabilities, summed. 100 %: the same "
                       "prediction. 0 %: no word in common.")
        st.caption(f"Baseline: with a model that finds every word equally likely, the left side would share {even:.1%}.")


def _hidden(side: Side, label: str) -> int:
    names = dict(showcase.words(side.trace))
    listed = list(names)
    first = next((word for word in listed if names[word] == MASK), listed[len(listed) // 2])
    return st.pills(label, listed, default=first, required=True, key=f"hide {label} {side.a}",
                    format_func=lambda word: names[word])


def _guess(side: Side, hidden: int):
    before, original, after = showcase.blanked(side.trace, hidden)
    encoding = side.bert.tokenizer.encode(f"{before}{MASK}{after}", side.b)
    masks = cloze.masks(side.bert, encoding)
    places = [masks[before.count(MASK)]]
    best = cloze.best(side.bert, encoding, places, SHOWN)
    frame.chart(words.bars(best, original), key=f"guess {side.label} {side.a} {hidden}",
                looking=f"What you are looking at: the guesses of {frame.plain(side.label)} for the hidden word; "
                        f"*{frame.plain(original)}* is orange if it is among them.",
                alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()))
    return cloze.probabilities(side.bert, encoding, places)[0, : side.bert.tokenizer.size], side.bert.tokenizer.words


def _attention(left: Side, right: Side) -> None:
    found = comparison.attentions(left.trace, right.trace)
    texts = [unit.text for unit in found.units]
    if found.matched:
        frame.chart(figures.heads_apart(found.namesakes()), key="apart",
                    looking="What you are looking at: how differently each head looks on the two sides: 0 the same rows, 1 "
                            f"nothing in common. Baseline: two different heads of {frame.plain(left.label)} are "
                            f"{found.usual():.2f} apart on average.",
                    alt="Map of layers and heads: distance between the two sides.")
    else:
        st.info("The models have different numbers of layers or heads, so no head has a namesake; below is, for each head "
                "on the left, the head on the right that looks most like it on this text. Baseline: two different heads "
                f"on the left are {found.usual():.2f} apart on average.")
        table = found.closest().sort_values("apart", ignore_index=True)
        table[["layer", "head", "to_layer", "to_head"]] += 1
        st.dataframe(table, hide_index=True, height=280, alt="Closest head on the right for each head on the left",
                     column_config={"to_layer": "layer, right", "to_head": "head, right",
                                    "apart": st.column_config.NumberColumn(format="%.2f")})
    _heads(found, texts, left, right)


def _heads(found: comparison.Attentions, texts: list[str], left: Side, right: Side) -> None:
    for column, name, side, values in zip(st.columns(2, gap="large"), ("left", "right"), (left, right),
                                          (found.left, found.right), strict=True):
        with column:
            layer = st.slider(f"Layer, {name}", 1, values.shape[0], min(3, values.shape[0]), key=f"{name} layer") - 1
            head = st.slider(f"Head, {name}", 1, values.shape[1], 1, key=f"{name} head") - 1
            frame.chart(figures.head(values[layer, head], texts), key=f"{name} attention",
                        looking=f"What you are looking at: layer {layer + 1}, head {head + 1} of {frame.plain(side.label)}. "
                                "A row is a token that looks, a column what it looks at; pieces that the two vocabularies "
                                "cut differently are joined.",
                        alt=f"Attention map of layer {layer + 1}, head {head + 1} of {side.label}.")


def _next(left: Side, right: Side) -> None:
    answered = [(side, side.trace.nsp) for side in (left, right) if side.b is not None and side.trace.nsp is not None]
    for side in (left, right):
        if side.b is None:
            st.info(f"{frame.plain(side.label)} was given one sentence; next-sentence prediction needs two.")
        elif side.trace.nsp is None:
            st.info(f"{frame.plain(side.label)} has no next-sentence head.")
    if answered:
        frame.chart(figures.probabilities([value for _, value in answered if value is not None],
                                          [f"{n}. {side.label}" for n, (side, _) in enumerate(answered, start=1)]),
                    key="nsp",
                    looking="What you are looking at: how probable each side finds it that B follows A. Baseline: half of "
                            "the pairs in training were followers, so 50 % is knowing nothing.",
                    alt=", ".join(f"{side.label}: {value:.0%}" for side, value in answered))


def _states(left: Side, right: Side) -> None:
    found = comparison.states(left.trace, right.trace)
    rows, columns = (list(map(str, range(size))) for size in found.cka.shape)
    frame.chart(geometry.square(found.cka, rows, columns, what="CKA", titles=(left.label, right.label)), key="cka_between",
                looking="What you are looking at: does a layer of one side arrange the tokens as a layer of the other does, "
                        "whatever the rotation? Debiased CKA over "
                        f"{len(found.units)} units; 1 is the same arrangement. Baseline: with the tokens of one side "
                        f"shuffled, the highest cell stays below {found.shuffled:.2f} in 95 % of the times.",
                alt=f"Map of CKA between {len(rows)} layers on the left and {len(columns)} on the right.")
