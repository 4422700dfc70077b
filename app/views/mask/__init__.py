"""Mask: hide words and see what the model puts there."""

import zlib

import streamlit as st

from app import layout, session
from app.components.strip import StripSpan, StripToken, strip
from app.views.mask import address, directions, inside, joint, predictions, sentence
from app.widgets.choice import choice
from model import Bert, Encoding
from probes.cloze import query
from probes.cloze.query import MarkedSpan

PREDICTIONS = "predictions"
LIKELIHOOD = "likelihood"  # the one section about a whole sentence, without a strip
SECTIONS = {
    PREDICTIONS: ("Predictions", predictions.section),
    "joint": ("Fill the masks together (joint decoding)", joint.section),
    LIKELIHOOD: ("How likely is it? (pseudo-log-likelihood)", None),
    "lens": ("Layer by layer (logit lens)", inside.layers),
    "shift": ("Where attention went (attention shift)", inside.attention),
    "directions": ("Left, right or both (directionality)", directions.section),
    "attribution": ("Which words mattered (attribution)", inside.words),
}


def page() -> None:
    layout.title("Mask", "Hide words, and ask the model what stood there, how sure it is, and what it used to tell.")
    bert = session.bert()
    bert.require_mlm()
    encoding = bert.tokenizer.encode(*session.texts())
    layout.input_note(encoding.note)
    slug = choice("Show", {slug: label for slug, (label, _) in SECTIONS.items()}, key="look")
    _, draw = SECTIONS[slug]
    if draw is None:
        sentence.section(bert, encoding)
    elif slug == PREDICTIONS:
        # the words on the left, what the model puts into the blanks beside them: both in sight without scrolling
        words, answer = st.columns([3, 2], gap="large")
        with words:
            spans = _marked_spans(bert, encoding)
        predictions.section(bert, query.build(bert, encoding, spans), answer)
    else:
        draw(bert, query.build(bert, encoding, _marked_spans(bert, encoding)))


def _marked_spans(bert: Bert, encoding: Encoding) -> list[MarkedSpan]:
    """The strip, and what is marked on it; it stands in the address and, for this text, outlives visits to other pages."""
    name = f"{zlib.crc32(repr((bert.info.name, encoding.ids)).encode()):08x}"
    remembered = st.session_state.get("marks")
    if remembered and remembered[0] == name:
        start = remembered[1]
    elif remembered is None and "marks" in st.query_params:
        start = query.valid_spans(encoding, address.decode(st.query_params["marks"]))
    else:
        start = query.default_span(encoding) if bert.tokenizer.mask_id not in encoding.ids else []
    unit = choice("One click takes", {"words": "whole words", "pieces": "wordpieces"}, key="click")
    clicked = strip(
        [StripToken(token.text, token.word, token.segment) for token in encoding.tokens],
        [StripSpan(span.start, span.stop, span.kind, span.word) for span in start],
        unit == "words",
        key=f"strip-{name}",
    )
    spans = query.valid_spans(encoding, [MarkedSpan(span.start, span.stop, span.kind, span.word) for span in clicked])
    st.session_state["marks"] = (name, spans)
    st.query_params["marks"] = address.encode(spans)
    return spans
