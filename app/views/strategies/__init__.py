"""Masking strategies: what 80/10/10 does to a text, to the model that reads it, and to learning."""

import streamlit as st

from app import layout, limits, session
from app.figures import strategies as figures
from app.figures import word_bars
from app.samples.stories import STORY
from app.views.strategies import learning
from model import Bert, Encoding, InputProblem
from model.pretraining.corpus import decoded, sentences
from model.pretraining.masking import Mix
from probes import cloze
from probes.masking_strategies import corruption

PAPER = "My dog is hairy."  # with its full stop: without it the model would put one in place of the last word
SOURCES = ("the paper's example", "the sidebar's sentences", "a short story", "a file")


def page() -> None:
    layout.title("Masking strategies", "BERT learns from chosen words of which 80 % are masked, 10 % replaced and 10 "
                                       "% kept. "
                                      "What does such a mix do, and why not mask them all?")
    section = st.segmented_control("Question", list(SECTIONS), default=next(iter(SECTIONS)), required=True,
                                   key="question", bind="query-params")
    SECTIONS[section or next(iter(SECTIONS))]()


def mix_chosen() -> Mix:
    """Three sliders and the rate; the sliders count in proportion, so they always make a whole."""
    columns = st.columns(4)
    parts = [column.slider(name, 0, 100, start, 5, key=key, bind="query-params") for column, name, start, key in zip(
        columns, ("[MASK]", "random word", "kept"), (80, 10, 10), ("mask", "random", "keep"), strict=False)]
    rate = columns[3].slider("chosen (% of wordpieces)", 1, 100, 15, key="rate", bind="query-params")
    whole = st.toggle("Whole words: all pieces of a word are chosen together", key="whole", bind="query-params")
    if not sum(parts):
        raise InputProblem("Move at least one of the three sliders above zero: something must happen to a chosen word.")
    mask, random, keep = (part / sum(parts) for part in parts)
    if sum(parts) != 100:
        st.caption(f"In proportion: {mask:.0%} [MASK], {random:.0%} random, {keep:.0%} kept.".replace("[", r"\["))
    return Mix(mask, random, keep, rate / 100, whole)


def _source() -> str:
    """The text that is looked at."""
    source = st.segmented_control("Text", SOURCES, default=SOURCES[0], required=True, key="passage", bind="query-params")
    if source == SOURCES[0]:
        return PAPER
    if source == SOURCES[2]:
        return STORY
    if source == SOURCES[3]:
        given = st.file_uploader("A text file", type=["txt"], max_upload_size=limits.TEXT_MEGABYTES)
        if given is None:
            raise InputProblem("Choose a text file to look at it here.")
        return decoded(given.getvalue(), given.name)
    return " ".join(text for text in session.texts() if text)


def _text() -> None:
    bert, mix = session.bert(), mix_chosen()
    encoding = bert.tokenizer.encode(_source()[:limits.TEXT_CHARACTERS])
    layout.notes(encoding.note)
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    if left.button("Draw again", icon=":material/casino:"):
        st.session_state["draw"] = st.session_state.get("draw", 0) + 1
    draws = right.slider("Draws counted below", 10, limits.DRAWS, 500, 10, key="draws", bind="query-params")
    after, fate = corruption.drawn(bert, encoding, mix, st.session_state.get("draw", 0))
    st.caption("What you are looking at: one draw. Coloured tokens were chosen: the model must name the word that stood "
               "there, whatever it reads now. Below a changed token stands the original.")
    st.html(figures.corrupted(encoding, after, fate))
    table = corruption.shares(bert, encoding, mix, draws)
    layout.chart(figures.shares(table), key="shares",
                looking=f"{table['observed'].iloc[0]:.1%} of the wordpieces were chosen over {draws} draws, and "
                        f"{table['observed'].iloc[1]:.1%} of those were masked. Dots are observed shares with their 95 % "
                        "intervals, orange ticks the expected ones; the fates are shares of the chosen wordpieces. Each "
                        "fate is drawn alone, so its interval is binomial; how many are chosen is nearly fixed by the "
                        "sampler, so that interval is much narrower.",
                alt="; ".join(f"{row.what}: {row.observed:.1%}, expected {row.expected:.1%}" for row in table.itertuples()))
    if table["expected"].iloc[0] > mix.chosen + 1e-9:
        unit = "word" if mix.whole_words else "wordpiece"
        st.caption(f"At least one {unit} is always chosen, so a text this short gives up more than the rate.")


def _model() -> None:
    bert = session.bert()
    bert.need_mlm()
    text = _source()
    encoding = bert.tokenizer.encode(text[:limits.TEXT_CHARACTERS])
    ordinary = [t for t in encoding.tokens if not t.special and t.id not in bert.tokenizer.special_ids][
        :limits.BLANKS_OFFERED]
    if not ordinary:
        raise InputProblem("The text has no word that could be masked.")
    names = {token.position: token.text for token in ordinary}
    start = next((t.position for t in reversed(ordinary) if t.text.isalpha()), ordinary[-1].position)
    position = st.pills("One word under three fates", list(names), default=start, required=True,
                        format_func=lambda place: layout.plain(names[place]), key=f"fate-{hash(text)}")
    typed = st.text_input("The random word", "apple", key="instead", bind="query-params", max_chars=60)
    _one(bert, encoding, position or start, typed)
    _average(bert, text)


def _one(bert: Bert, encoding: Encoding, position: int, typed: str) -> None:
    pieces = cloze.spelled(bert, typed)
    if len(pieces) > 1:
        raise InputProblem(f"“{typed}” is spelled with {len(pieces)} wordpieces; a random word is a single one.")
    true = bert.tokenizer.words[encoding.ids[position]]
    predicted = corruption.fates(bert, encoding, position, pieces[0])
    for column, row, read in zip(st.columns(3), predicted, ("[MASK]", typed, true), strict=True):
        with column:
            st.markdown(f"It reads **{layout.plain(read)}**")
            listed = cloze.listed(bert, row, 5)
            layout.chart(word_bars.bars(listed, true), key=f"fate-bars-{read}-{column}",
                        looking=f"What you are looking at: its guesses for the word here; *{layout.plain(true)}* is orange.",
                        alt=", ".join(f"{one.word} {one.probability:.1%}" for one in listed.itertuples()))


def _average(bert: Bert, text: str) -> None:
    most = st.slider("Positions averaged", 20, limits.POSITIONS_AVERAGED, 60, 10, key="averaged", bind="query-params")
    listed = [bert.tokenizer.encode(sentence) for sentence in sentences(text)[:limits.SENTENCES_READ]]
    table = session.answer(bert, "mismatch", (tuple(listed), most), lambda: corruption.mismatch(bert, listed, most))
    layout.chart(figures.mismatch(table), key="mismatch",
                looking=f"What you are looking at: the three fates over {table['positions'].iloc[0]} positions of this "
                        "text, one at a time. In training the model meets all three; in use it meets only words that are "
                        "what they seem. The gap between the first and the last group is that mismatch, measured.",
                alt="; ".join(f"{row.fate}: accuracy {row.accuracy:.0%}, noticed {row.noticed:.0%}"
                              for row in table.itertuples()))
    random, kept = table.iloc[1], table.iloc[2]
    st.markdown(f"It notices **{random.noticed:.0%}** of the random words (its best guess is another word), and wrongly "
                f"doubts **{kept.noticed:.0%}** of the words that were left as they are.")


SECTIONS = {"What it does to text": _text, "What the model sees": _model,
            "What it does to learning": learning.section}
