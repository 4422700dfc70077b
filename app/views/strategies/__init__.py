"""Masking strategies: what 80/10/10 does to a text, to the model that reads it, and to learning."""

import streamlit as st

from app import layout, limits, session
from app.figures import strategies as figures
from app.figures import word_bars
from app.samples.cloze import PAPER
from app.samples.stories import STORY
from app.views.strategies import learning
from app.widgets.choice import choice
from model import Bert, Encoding, InputError
from model.pretraining.corpus import decode_utf8, split_sentences
from model.pretraining.masking import MaskingStrategy
from probes import cloze
from probes.masking_strategies import corruption

SOURCES = {"paper": "the paper's example", "own": "sentences A and B", "story": "a short story", "file": "a file"}
SECTIONS = {"text": "What it does to text", "model": "What the model sees", "learning": "What it does to learning"}


def page() -> None:
    layout.title(
        "Masking strategies",
        "BERT learns from selected words of which 80 % are masked, 10 % replaced and 10 % left as they are. "
        "What does such a mix do, and why not mask them all?",
    )
    section = choice("Question", SECTIONS, "question")
    if section == "text":
        _text()
    elif section == "model":
        _model()
    else:
        learning.section()


def _strategy() -> MaskingStrategy:
    """Three sliders and the rate; the sliders count in proportion, so they always make a whole."""
    *columns, last = st.columns(4)
    parts = [
        column.slider(label, 0, 100, start, 5, key=key, bind="query-params")
        for column, label, start, key in zip(
            columns, ("[MASK]", "random word", "unchanged"), (80, 10, 10), ("mask", "random", "keep"), strict=True
        )
    ]
    rate = last.slider("selected (% of wordpieces)", 1, 100, 15, key="rate", bind="query-params")
    whole = st.toggle("Whole words: all pieces of a word are selected together", key="whole", bind="query-params")
    if not sum(parts):
        raise InputError("Move at least one of the three sliders above zero: something must happen to a selected word.")
    mask, random, keep = (part / sum(parts) for part in parts)
    if sum(parts) != 100:
        st.caption(f"In proportion: {mask:.0%} [MASK], {random:.0%} random, {keep:.0%} unchanged.".replace("[", r"\["))
    return MaskingStrategy(mask, random, keep, rate / 100, whole)


def _source() -> str:
    """The text to corrupt."""
    source = choice("Text", SOURCES, "passage")
    if source == "paper":
        return PAPER
    if source == "story":
        return STORY
    if source == "file":
        file = st.file_uploader("A text file", type=["txt"], max_upload_size=limits.TEXT_MEGABYTES)
        if file is None:
            raise InputError("Choose a text file to see it here.")
        return decode_utf8(file.getvalue(), file.name)
    return " ".join(text for text in session.texts() if text)


def _text() -> None:
    bert, strategy = session.bert(), _strategy()
    encoding = bert.tokenizer.encode(_source()[: limits.TEXT_CHARACTERS])
    layout.input_note(encoding.note)
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    if left.button("Draw again", icon=":material/casino:"):
        st.session_state["draw"] = st.session_state.get("draw", 0) + 1
    draws = right.slider("Draws counted below", 10, limits.DRAWS, 500, 10, key="draws", bind="query-params")
    corrupted, replacement = corruption.sample(bert, encoding, strategy, st.session_state.get("draw", 0))
    st.caption(
        f"{sum(map(bool, replacement))} of {len(encoding)} tokens are selected in this draw (coloured): the model must name "
        "the word that stood there, whatever it reads now. Below a changed token stands the original."
    )
    st.html(figures.corrupted(encoding, corrupted, replacement))
    shares = corruption.observed_shares(bert, encoding, strategy, draws)
    selected, masked, *_ = shares.itertuples()
    layout.chart(
        figures.shares(shares),
        key="shares",
        finding=f"{selected.observed:.1%} of the wordpieces were selected over {draws} draws (expected "
        f"{selected.expected:.1%}), and {masked.observed:.1%} of those were masked (expected {masked.expected:.1%}). Dots "
        "are observed shares with their 95 % intervals, orange ticks the expected ones. Each replacement is drawn alone, "
        "so its interval is binomial; how many are selected is nearly fixed by the sampler, so that interval is much "
        "narrower.",
        alt="; ".join(f"{row.what}: {row.observed:.1%}, expected {row.expected:.1%}" for row in shares.itertuples()),
    )
    if shares["expected"].iloc[0] > strategy.mlm_probability + 1e-9:
        unit = "word" if strategy.whole_word else "wordpiece"
        st.caption(f"At least one {unit} is always selected, so a text this short gives up more than the rate.")


def _model() -> None:
    bert = session.bert()
    bert.require_mlm()
    text = _source()
    encoding = bert.tokenizer.encode(text[: limits.TEXT_CHARACTERS])
    targets = [token for token in encoding.tokens if not token.is_special and token.id not in bert.tokenizer.special_ids]
    targets = targets[: limits.TARGETS_OFFERED]
    if not targets:
        raise InputError("The text has no word that could be masked.")
    names = {token.position: token.text for token in targets}
    default = next((token.position for token in reversed(targets) if token.text.isalpha()), targets[-1].position)
    position = st.pills(
        "One word, masked, replaced and unchanged",
        list(names),
        default=default,
        required=True,
        format_func=lambda position: layout.escape(names[position]),
        key=f"replacement-{hash(text)}",
    )
    random_word = st.text_input("The random word", "apple", key="instead", bind="query-params", max_chars=60)
    _one_word(bert, encoding, position or default, random_word)
    _many_words(bert, text)


def _one_word(bert: Bert, encoding: Encoding, position: int, random_word: str) -> None:
    """What the model predicts at one position when it reads [MASK], a random word, or the word itself."""
    pieces = cloze.to_piece_ids(bert, random_word)
    if len(pieces) > 1:
        raise InputError(f"“{random_word}” is spelled with {len(pieces)} wordpieces; a random word is a single one.")
    gold_id = encoding.ids[position]
    gold = bert.tokenizer.vocabulary[gold_id]
    rows = session.answer(  # (replacements, vocabulary)
        bert,
        "replacements",
        (encoding, position, pieces[0]),
        lambda: corruption.predict_by_replacement(bert, encoding, position, pieces[0]),
    )
    for number, (column, probabilities, word) in enumerate(
        zip(st.columns(3), rows, ("[MASK]", random_word, gold), strict=True)
    ):
        with column:
            st.markdown(f"It reads **{layout.escape(word)}**")
            top = cloze.top_k(bert, probabilities, 5)
            first = next(top.itertuples())
            layout.chart(
                word_bars.bars(top, gold),
                key=f"replacement-bars-{number}",
                finding=f"Its first choice is *{layout.escape(str(first.word))}* ({first.probability:.1%}); "
                f"*{layout.escape(gold)}*, which stood there, has {probabilities[gold_id]:.1%} (orange).",
                alt=", ".join(f"{row.word} {row.probability:.1%}" for row in top.itertuples()),
            )


def _many_words(bert: Bert, text: str) -> None:
    """The same over many positions: how far training and use are from each other."""
    positions = st.slider("Positions averaged", 20, limits.POSITIONS_AVERAGED, 60, 10, key="averaged", bind="query-params")
    encodings = [bert.tokenizer.encode(sentence) for sentence in split_sentences(text)[: limits.SENTENCES_READ]]
    mismatch = session.answer(
        bert, "mismatch", (tuple(encodings), positions), lambda: corruption.mismatch(bert, encodings, positions)
    )
    masked, replaced, unchanged = mismatch.itertuples()
    layout.chart(
        figures.mismatch(mismatch),
        key="mismatch",
        finding=f"Of {masked.positions} words, one at a time, the model names {masked.accuracy:.0%} where it reads [MASK], "
        f"{replaced.accuracy:.0%} where it reads a random word and {unchanged.accuracy:.0%} where it reads the word "
        "itself. In training it meets all three, in use only the last: the gap between the first and the last group is "
        "that mismatch, measured.",
        alt="; ".join(
            f"{row.replacement}: accuracy {row.accuracy:.0%}, detected {row.detected:.0%}" for row in mismatch.itertuples()
        ),
    )
    st.markdown(
        f"It notices **{replaced.detected:.0%}** of the random words (its best guess is another word), and wrongly "
        f"doubts **{unchanged.detected:.0%}** of the words that were left as they are."
    )
