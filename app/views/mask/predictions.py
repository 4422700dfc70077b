"""Predictions: what the model puts into each blank, and how likely the original and a word of the reader's own are."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import layout, limits
from app.figures import mask as figures
from app.figures import word_bars
from model import Bert
from probes import cloze
from probes.cloze import query
from probes.cloze.query import ClozeQuery, TargetSpan


def section(bert: Bert, cloze_query: ClozeQuery, answer: DeltaGenerator) -> None:
    """The words for each blank in `answer`; below, how many of them, and a word of the reader's own."""
    left, right = st.columns(2)
    k = left.slider("How many words", 1, limits.WORDS_LISTED, 6, key="k", bind="query-params")
    candidate = right.text_input(
        "How likely is a word of your own?", key="candidate", bind="query-params", max_chars=60, placeholder="any word"
    ).strip()
    targets = cloze_query.targets[: limits.TARGETS_SHOWN]
    with answer:
        if len(targets) < len(cloze_query.targets):
            st.info(f"The first {len(targets)} of {len(cloze_query.targets)} blanks are shown.")
        for number, target in enumerate(targets, start=1):
            _blank(bert, cloze_query, target, number, k)
    table = _scores(bert, cloze_query, targets, candidate)
    if len(table):
        st.caption(
            _best(table),
            help="A word of several wordpieces gets as many masks as pieces; its probability is the product over them, each "
            "piece predicted with those before it filled in. No rank: it is several wordpieces.",
        )
        st.dataframe(table, hide_index=True, height="content", alt="Rank and probability of chosen words")


def _blank(bert: Bert, cloze_query: ClozeQuery, target: TargetSpan, number: int, k: int) -> None:
    original = query.join_pieces(bert, target.gold_ids) if target.gold_ids else None
    heading = f"Blank {number}" + (f": *{layout.escape(original)}* stood here" if original else "")
    st.markdown(f"**{heading}**" + (", and the model still sees it" if target.visible else ""))
    predicted = cloze.probabilities(bert, cloze_query.encoding, target.positions)  # (pieces, vocabulary)
    ranks = cloze.rank(predicted, target.gold_ids) if target.gold_ids else None
    for piece, row in enumerate(predicted):
        best = cloze.top_k(bert, row, k)
        gold = target.gold_ids[piece] if target.gold_ids else None
        gold_text = None if gold is None else bert.tokenizer.vocabulary[gold]
        finding = f"The model's first choice is *{layout.escape(best['word'][0])}* ({best['probability'][0]:.0%})"
        if gold is not None and ranks is not None:
            rank, orange = int(ranks[piece]), ", orange" if ranks[piece] < k else ""
            finding += (
                ", the word that stood there"
                if rank == 0
                else f"; *{layout.escape(gold_text or '')}*, which stood there, is number {rank + 1:,} "
                f"({figures.percent(float(row[gold]))}{orange})"
            )
        layout.chart(
            word_bars.bars(best, gold_text),
            key=f"blank-{number}-{piece}",
            finding=(f"Piece {piece + 1} of {len(predicted)}. " if len(predicted) > 1 else "") + f"{finding}.",
            alt="Bars: " + ", ".join(f"{bar.word} {bar.probability:.1%}" for bar in best.itertuples()),
        )


def _scores(bert: Bert, cloze_query: ClozeQuery, targets: tuple[TargetSpan, ...], candidate: str) -> pd.DataFrame:
    """One row for the original of each blank, and one for the reader's own word."""
    rows = []
    for number, target in enumerate(targets, start=1):
        for whose, word in (("original", query.join_pieces(bert, target.gold_ids)), ("yours", candidate)):
            if word:
                score = query.word_score(bert, cloze_query, target, word)
                rows.append(
                    {
                        "blank": number,
                        "whose": whose,
                        "word": score.word,
                        "rank": "–" if score.rank is None else f"{score.rank + 1:,}",
                        "probability": figures.percent(score.probability),
                        "pieces": " × ".join(
                            f"{piece} {figures.percent(probability)}"
                            for piece, probability in zip(score.pieces, score.each, strict=True)
                        ),
                    }
                )
    return pd.DataFrame(rows)


def _best(table: pd.DataFrame) -> str:
    """The words of the first blank with their probabilities, as a sentence."""
    words = [
        f"*{layout.escape(row.word)}* ({'the original' if row.whose == 'original' else 'yours'}) {row.probability}"
        for row in table[table["blank"] == table["blank"].iloc[0]].itertuples()
    ]
    return f"Blank {table['blank'].iloc[0]}: {', '.join(words)}."
