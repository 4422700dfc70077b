"""Masking strategies: what 80/10/10 does to a text, to the model that reads it, and to learning."""

import streamlit as st

from app import layout, limits, session
from app.figures import strategies as figures
from app.figures import word_bars
from app.samples.cloze import PAPER
from app.samples.stories import STORY
from app.views.strategies import learning
from app.widgets.choice import SECTION, choice, pills
from model import Bert, Encoding, InputError
from model.pretraining.corpus import decode_utf8, split_sentences
from model.pretraining.masking import MaskingStrategy
from probes import cloze
from probes.masking_strategies import corruption

SOURCES = {"story": "a short story", "own": "sentences A and B", "paper": "the paper's example", "file": "a file"}
WORDS_LEAST = 20  # of a text whose words are averaged over
SECTIONS = {"text": "What it does to text", "model": "What the model sees", "learning": "What it does to learning"}


def page() -> None:
    layout.title(
        "Masking strategies",
        "Of the words BERT learns from, 80 % are masked, 10 % replaced, 10 % kept. Why not mask them all?",
    )
    section = choice(SECTION, SECTIONS, "question")
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
            columns, ("[MASK]", "unchanged", "random word"), (80, 10, 10), ("mask", "keep", "random"), strict=True
        )
    ]
    rate = last.slider("selected (% of wordpieces)", 1, 100, 15, key="rate", bind="query-params")
    whole = st.toggle("Whole words: all pieces of a word are selected together", key="whole", bind="query-params")
    if not sum(parts):
        raise InputError("Move at least one of the three sliders above zero: something must happen to a selected word.")
    mask, keep, random = (part / sum(parts) for part in parts)
    if sum(parts) != 100:
        st.caption(f"In proportion: {mask:.1%} [MASK], {keep:.1%} unchanged, {random:.1%} random.".replace("[", r"\["))
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
    bert, answer = session.bert(), st.container()
    strategy = _strategy()
    left, right = st.columns([3, 2])
    with left:
        source = _source()
    draws = right.slider("Draws counted", 10, limits.DRAWS, 500, 10, key="draws", bind="query-params")
    encoding = bert.tokenizer.encode(source[: limits.TEXT_CHARACTERS])
    with answer:
        layout.input_note(encoding.note)
        _corrupted(bert, encoding, strategy)
    _observed_shares(bert, encoding, strategy, draws)


def _corrupted(bert: Bert, encoding: Encoding, strategy: MaskingStrategy) -> None:
    """One draw: the text as the model would read it."""
    number = int(st.query_params.get("draw", "0")) if st.query_params.get("draw", "0").isdecimal() else 0
    place = st.container()
    if st.button("Draw again", icon=":material/casino:"):
        st.query_params["draw"] = str(number := number + 1)
    corrupted, replacement = corruption.sample(bert, encoding, strategy, number)
    with place:
        st.caption(
            f"{sum(map(bool, replacement))} of {len(encoding)} tokens are selected in this draw (coloured): the model must "
            "name the word that stood there, whatever it reads now. Below a changed token stands the original."
        )
        st.html(figures.corrupted(encoding, corrupted, replacement))


def _observed_shares(bert: Bert, encoding: Encoding, strategy: MaskingStrategy, draws: int) -> None:
    """The same over many draws, beside what the strategy says."""
    shares = corruption.observed_shares(bert, encoding, strategy, draws)
    selected, masked, *_ = shares.itertuples()
    layout.chart(
        figures.shares(shares),
        key="shares",
        finding=f"{selected.observed:.1%} of the wordpieces were selected over {draws} draws (expected "
        f"{selected.expected:.1%}), and {masked.observed:.1%} of those were masked (expected {masked.expected:.1%}).",
        help="Dots are observed shares with their 95 % intervals, orange ticks the expected ones. Each replacement is drawn "
        "alone, so its interval is binomial; how many are selected is nearly fixed by the sampler, so that interval is much "
        "narrower.",
        alt="; ".join(f"{row.what}: {row.observed:.1%}, expected {row.expected:.1%}" for row in shares.itertuples()),
    )
    if shares["expected"].iloc[0] > strategy.mlm_probability + 1e-9:
        unit = "word" if strategy.whole_word else "wordpiece"
        st.caption(f"At least one {unit} is always selected, so a text this short gives up more than the rate.")


def _model() -> None:
    bert = session.bert()
    bert.require_mlm()
    answer = st.container()
    text = _source()
    encoding = bert.tokenizer.encode(text[: limits.TEXT_CHARACTERS])
    targets = [token for token in encoding.tokens if not token.is_special and token.id not in bert.tokenizer.special_ids]
    targets = targets[: limits.TARGETS_OFFERED]
    if not targets:
        raise InputError("The text has no word that could be masked.")
    names = {str(token.position): layout.escape(token.text) for token in targets}
    default = str(next((token.position for token in reversed(targets) if token.text.isalpha()), targets[-1].position))
    if st.session_state.setdefault("replaced of", text) != text:
        st.session_state["replaced"], st.session_state["replaced of"] = default, text
    position = int(pills("One word, masked, replaced and unchanged", names, "replaced", default))
    random_word = st.text_input("The random word", "apple", key="instead", bind="query-params", max_chars=60)
    with answer:
        _one_word(bert, encoding, position, random_word)
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
    """The same over many positions: how far training and use are apart; the story stands in for a short text."""
    positions = st.slider("Positions averaged", 20, limits.POSITIONS_AVERAGED, 60, 10, key="averaged", bind="query-params")
    long = len(text.split()) >= WORDS_LEAST
    sentences = split_sentences(text if long else STORY)[: limits.SENTENCES_READ]
    encodings = [bert.tokenizer.encode(sentence) for sentence in sentences]
    mismatch = session.answer(
        bert, "mismatch", (tuple(encodings), positions), lambda: corruption.mismatch(bert, encodings, positions)
    )
    masked, replaced, unchanged = mismatch.itertuples()
    layout.chart(
        figures.mismatch(mismatch),
        key="mismatch",
        finding=f"Of {masked.positions} words{'' if long else ' of the short story'}, one at a time, the model names "
        f"{masked.accuracy:.0%} where it reads [MASK], {replaced.accuracy:.0%} where it reads a random word and "
        f"{unchanged.accuracy:.0%} where it reads the word itself.",
        help="In training it meets all three, in use only the last: the gap between the first and the last group is that "
        "mismatch, measured.",
        alt="; ".join(
            f"{row.replacement}: accuracy {row.accuracy:.0%}, detected {row.detected:.0%}" for row in mismatch.itertuples()
        ),
    )
    st.markdown(
        f"It notices **{replaced.detected:.0%}** of the random words, drawn for each place anew (its best guess is another "
        f"word), and wrongly doubts **{unchanged.detected:.0%}** of the words that were left as they are."
    )
