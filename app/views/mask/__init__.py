"""Mask: hide words and see what the model puts there."""

import zlib

import streamlit as st

from app import layout, session
from app.components.strip import StripSpan, StripToken, strip
from app.views.mask import address, directions, inside, joint, predictions, sentence
from app.widgets.choice import SECTION, choice
from model import Bert, Encoding
from probes.cloze import query
from probes.cloze.query import MarkedSpan

PREDICTIONS = "predictions"
JOINT = "joint"  # the one section with masks of its own: two to begin with
LIKELIHOOD = "likelihood"  # the one section about a whole sentence, without a strip
SECTIONS = {
    PREDICTIONS: ("Predictions", predictions.section),
    JOINT: ("Masks together", joint.section),
    LIKELIHOOD: ("Whole sentence", None),
    "lens": ("Layer by layer", inside.layers),
    "shift": ("Attention moved", inside.attention),
    "directions": ("One side or both", directions.section),
    "attribution": ("Which words", inside.words),
}


def page() -> None:
    layout.title("Mask", "Hide words, and ask the model what stood there, how sure it is, and which words it used.")
    bert = session.bert()
    bert.require_mlm()
    encoding = bert.tokenizer.encode(*session.texts())
    layout.input_note(encoding.note)
    slug = choice(SECTION, {slug: label for slug, (label, _) in SECTIONS.items()}, key="look")
    _, draw = SECTIONS[slug]
    if draw is None:
        sentence.section(bert, encoding)
    elif slug == PREDICTIONS:
        # the words on the left, what the model puts into the blanks beside them: both in sight without scrolling
        words, answer = st.columns([3, 2], gap="large")
        with words:
            spans = _marked_spans(bert, encoding, slug)
        if _has_target(bert, encoding, spans):
            predictions.section(bert, query.build(bert, encoding, spans), answer)
    else:
        spans = _marked_spans(bert, encoding, slug)
        if _has_target(bert, encoding, spans):
            draw(bert, query.build(bert, encoding, spans))


def _has_target(bert: Bert, encoding: Encoding, spans: list[MarkedSpan]) -> bool:
    """Whether there is a word to predict; else the page says how to mark one."""
    if any(span.kind != "replace" for span in spans) or bert.tokenizer.mask_id in encoding.ids:
        return True
    st.info("No word is hidden: click one, or write [MASK] into a sentence.", icon=":material/visibility_off:")
    return False


def _marked_spans(bert: Bert, encoding: Encoding, section: str) -> list[MarkedSpan]:
    """The strip, and what is marked on it; it stands in the address and, for this text, outlives visits to other pages."""
    name = f"{zlib.crc32(repr((bert.info.name, encoding.ids)).encode()):08x}"
    marks: dict[str, tuple[str, list[MarkedSpan]]] = st.session_state.setdefault("marks", {})
    own = JOINT if section == JOINT else PREDICTIONS
    remembered = marks.get(own)
    if remembered and remembered[0] == name:
        start = remembered[1]
    elif not marks and "marks" in st.query_params:
        start = query.valid_spans(encoding, address.decode(st.query_params["marks"]))
    else:
        start = _first_spans(bert, encoding, section)
    clicked = strip(
        [StripToken(token.text, token.word, token.segment) for token in encoding.tokens],
        [StripSpan(span.start, span.stop, span.kind, span.word) for span in start],
        st.session_state.get("click", st.query_params.get("click", "words")) == "words",
        key=f"strip-{own}-{name}",
    )
    choice("One click takes", {"words": "whole words", "pieces": "wordpieces"}, key="click")
    spans = query.valid_spans(encoding, [MarkedSpan(span.start, span.stop, span.kind, span.word) for span in clicked])
    marks[own] = (name, spans)
    st.query_params["marks"] = address.encode(spans)
    return spans


def _first_spans(bert: Bert, encoding: Encoding, section: str) -> list[MarkedSpan]:
    """What is hidden to begin with: the longest word of sentence A, or two words whose best fillings clash."""
    if bert.tokenizer.mask_id in encoding.ids:
        return []
    if section == JOINT:
        words = joint.clashing_words(bert, encoding)
    else:
        words = [query.longest_word(query.words(encoding))]
    positions = [[token.position for token in encoding.tokens if token.word == word] for word in words]
    return [MarkedSpan(pieces[0], pieces[-1] + 1, "mask") for pieces in positions]
