"""Mask: hide words and see what the model puts there."""

import zlib

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.components.strip import Chip, Span, strip
from app.figures import mask as figures
from app.figures import word_bars
from app.views.mask import directions, inside, sentence
from model import Bert, Encoding, InputProblem
from probes import cloze
from probes.cloze import joint, query
from probes.cloze.query import Blank, Mark, Question

UNITS = ("whole words", "wordpieces")


def page() -> None:
    layout.title("Mask", "Hide words, and ask the model what stood there, how sure it is, and what it used to tell.")
    bert = session.bert()
    bert.need_mlm()
    encoding = bert.tokenizer.encode(*session.texts())
    layout.notes(encoding.note)
    section = st.segmented_control("Look at", list(SECTIONS), default=next(iter(SECTIONS)), required=True, key="look",
                                   bind="query-params")
    if section == "Whole sentence":
        sentence.section(bert, encoding)
        return
    marks = _marked(bert, encoding)
    SECTIONS[section or next(iter(SECTIONS))](bert, query.question(bert, encoding, marks))


def _marked(bert: Bert, encoding: Encoding) -> list[Mark]:
    """The strip, and what is marked on it; kept in the address and, for this text, over a visit to other pages."""
    name = f"{zlib.crc32(repr((bert.about.name, encoding.ids)).encode()):08x}"
    known = st.session_state.get("marks")
    if known and known[0] == name:
        start = known[1]
    elif known is None and "marks" in st.query_params:
        start = query.fitting(encoding, query.read(st.query_params["marks"]))
    else:
        start = query.first_guess(encoding) if bert.tokenizer.mask not in encoding.ids else []
    unit = st.segmented_control("One click takes", UNITS, default=UNITS[0], required=True, key="unit",
                                bind="query-params")
    spans = strip([Chip(token.text, token.word, token.segment) for token in encoding.tokens],
                  [Span(mark.start, mark.stop, mark.kind, mark.word) for mark in start], unit == UNITS[0],
                  key=f"strip-{name}")
    marks = query.fitting(encoding, [Mark(span.start, span.stop, span.kind, span.word) for span in spans])
    st.session_state["marks"] = (name, marks)
    st.query_params["marks"] = query.written(marks)
    return marks


def _predictions(bert: Bert, asked: Question) -> None:
    left, right = st.columns(2)
    k = left.slider("How many words", 1, limits.WORDS_LISTED, 6, key="k", bind="query-params")
    typed = right.text_input("How likely is a word of your own?", key="candidate", bind="query-params", max_chars=60,
                             placeholder="any word").strip()
    if len(asked.blanks) > limits.BLANKS_SHOWN:
        st.info(f"The first {limits.BLANKS_SHOWN} of {len(asked.blanks)} blanks are shown.")
    shown = asked.blanks[:limits.BLANKS_SHOWN]
    best = cloze.best(bert, asked.encoding, [place for blank in shown for place in blank.positions], k)
    for row in range(0, len(shown), 3):
        for column, nth in zip(st.columns(max(2, min(3, len(shown)))), range(row, min(row + 3, len(shown))), strict=False):
            with column:
                _blank(bert, asked, nth, best)
    standings = _standings(bert, asked, shown, typed)
    if len(standings):
        st.caption("What you are looking at: the word that stood there and your own. A word of several wordpieces gets "
                   "as many masks as pieces; its probability is the product over them, each piece predicted with those "
                   "before it filled in. It has no rank, because single words never compete with it.")
        st.dataframe(standings, hide_index=True, height="content", alt="Rank and probability of chosen words")


def _blank(bert: Bert, asked: Question, nth: int, best: pd.DataFrame) -> None:
    blank = asked.blanks[nth]
    original = query.spelling(bert, blank.true) if blank.true else None
    head = f"Blank {nth + 1}" + (f": *{layout.plain(original)}* stood here" if original else "")
    st.markdown(f"**{head}**" + (", and the model still sees it" if blank.kept else ""))
    for place, position in enumerate(blank.positions):
        listed = best[best["position"] == position]
        true = bert.tokenizer.words[blank.true[place]] if blank.true else None
        piece = f"Piece {place + 1} of {len(blank.positions)}. " if len(blank.positions) > 1 else ""
        layout.chart(word_bars.bars(listed, true), key=f"blank-{nth}-{place}",
                    looking=f"{piece}What you are looking at: the model's guesses; orange is the word that stood here.",
                    alt="Bars: " + ", ".join(f"{row.word} {row.probability:.1%}" for row in listed.itertuples()))


def _standings(bert: Bert, asked: Question, shown: tuple[Blank, ...], typed: str) -> pd.DataFrame:
    rows = []
    for nth, blank in enumerate(shown):
        for whose, word in (("original", query.spelling(bert, blank.true)), ("yours", typed)):
            if word:
                found = query.standing(bert, asked, blank, word)
                rows.append({"blank": nth + 1, "whose": whose, "word": found.word,
                             "rank": "–" if found.rank is None else f"{found.rank + 1:,}",
                             "probability": figures.percent(found.probability),
                             "pieces": " × ".join(f"{piece} {figures.percent(share)}" for piece, share in
                                                  zip(found.pieces, found.each, strict=True))})
    return pd.DataFrame(rows)


def _together(bert: Bert, asked: Question) -> None:
    if not 2 <= len(asked.masked) <= limits.MASKS_FILLED:
        raise InputProblem(f"Mask between two and {limits.MASKS_FILLED} wordpieces to fill them together: "
                           f"{len(asked.masked)} are masked now.")
    rows = []
    decodings = session.answer(bert, "fillings", (asked.encoding, tuple(asked.masked)),
                             lambda: list(joint.fillings(bert, asked.encoding, asked.masked)))
    for found in decodings:
        order = " → ".join(str(found.positions.index(position) + 1) for position in found.order)
        rows.append({"method": METHODS[found.method], "filled with": " · ".join(
            bert.tokenizer.words[piece] for piece in found.ids),
            "joint probability": figures.percent(found.probability), "log": found.log,
            "decided in the order": order})
    st.caption("What you are looking at: the same masks filled in four ways. BERT predicts each mask as if the others "
               "stayed masked, so its best words need not fit together. The joint probability is the chain rule from left "
               "to right, for every row alike.")
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", alt="Four fillings and their joint probability",
                 column_config={"log": st.column_config.NumberColumn("log P", format="%.2f")})


METHODS = {"independent": "each alone (what BERT gives)", "left to right": "left to right",
           "confidence first": "highest confidence first", "best first": "best-first search"}
SECTIONS = {"Predictions": _predictions, "Masks together": _together, "Whole sentence": None,
            "Layer by layer": inside.layers, "Attention moved": inside.attention,
            "Both directions": directions.section, "Which words": inside.used}
