"""How likely a sentence is: each word masked in turn, and two sentences compared."""

import math

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import mask as figures
from app.samples import minimal_pair
from app.samples.cloze import GRAMMATICAL, UNGRAMMATICAL
from app.widgets import inputs, text_inputs
from app.widgets.choice import choice
from model import Bert, Encoding, InputError
from probes.cloze import sentence_score
from probes.cloze.sentence_score import SentenceScore

VARIANTS = {"l2r": ("within_word_l2r", "with the rest of its word"), "alone": ("original", "alone")}
ABOUT = (
    "A word of several wordpieces gives its own pieces away: with *##gre* and *##ation* left unmasked *con* is easy, and a "
    "rare word looks likely. So by default the later pieces of a word are hidden together with the one to predict, as "
    "if the word were spelled from left to right (Kauf & Ivanova, 2023). *Alone* is the older way (Salazar et al., "
    "2020), to compare with published numbers. Words of one piece score alike in both."
)
EXAMPLE = {"a": GRAMMATICAL, "b": "", "rival": UNGRAMMATICAL}


def section(bert: Bert, encoding: Encoding) -> None:
    answer = st.container()
    encodings = _inputs(bert, encoding)
    slugs = {slug: label for slug, (_, label) in VARIANTS.items()}
    variant, _ = VARIANTS[choice("A wordpiece is hidden", slugs, key="variant", help=ABOUT)]
    with answer:
        _answer(bert, encodings, variant)


def _answer(bert: Bert, encodings: list[Encoding], variant: str) -> None:
    scores = session.answer(
        bert, "scores", (tuple(encodings), variant), lambda: sentence_score.score(bert, encodings, variant)
    )
    if len(scores) == 2:
        _verdict(*scores)
    piece, probability = scores[0].most_surprising
    st.caption(
        f"This input scores {scores[0].total:.2f} nats over {len(scores[0].pieces)} wordpieces, {scores[0].mean:.2f} each; "
        f"the least expected is *{layout.escape(piece)}* ({figures.percent(probability)}). A blind pick from the "
        f"vocabulary would score {-math.log(bert.tokenizer.vocab_size):.2f} each. Pale was expected, orange was a surprise.",
        help="Each piece is masked in turn, and the logarithms of the probability of the piece that stands there are added "
        "up (pseudo-log-likelihood; Salazar et al., 2020).",
    )
    for score in scores:
        st.html(figures.token_probabilities(score.pieces, score.log_probs))
    _table(scores)


def _inputs(bert: Bert, encoding: Encoding) -> list[Encoding]:
    """The input, and the version of it that the reader types beside it."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    a, b = session.texts()
    changed = session.answer(bert, "minimal pair", (a, b), lambda: minimal_pair.of(bert, encoding))
    text_inputs.suggest("rival", changed)
    rival = left.text_input(
        "Compare with another sentence",
        changed,
        key="rival",
        bind="query-params",
        placeholder="a second version of sentence A",
        max_chars=limits.TEXT_CHARACTERS,
    ).strip()
    right.button("Try: the keys … are / is", on_click=inputs.take, args=(EXAMPLE,))
    encodings = [encoding, *([bert.tokenizer.encode(rival, b)] if rival else [])]
    longest = max(map(len, encodings))
    if longest > limits.SENTENCE_SCORED:
        raise InputError(
            f"Scoring masks every word in turn, so at most {limits.SENTENCE_SCORED} wordpieces can be "
            f"scored here; this input has {longest}."
        )
    return encodings


def _table(scores: list[SentenceScore]) -> None:
    table = pd.DataFrame(
        {
            "sentence": [score.text for score in scores],
            "wordpieces": [len(score.pieces) for score in scores],
            "score": [score.total for score in scores],
            "per piece": [score.mean for score in scores],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height="content",
        alt="Scores of the sentences",
        column_config={
            "score": st.column_config.NumberColumn("sum of log P", format="%.2f"),
            "per piece": st.column_config.NumberColumn("mean of log P", format="%.2f"),
        },
    )


def _verdict(first: SentenceScore, second: SentenceScore) -> None:
    better = "first" if first.total >= second.total else "second"
    st.markdown(
        f"The model finds the **{better}** sentence more natural, by {abs(first.total - second.total):.2f} nats"
        + (
            "."
            if len(first.pieces) == len(second.pieces)
            else "; they differ in length, and every further piece lowers a sum: see the mean as well."
        )
    )
