"""Why both directions: one blank read from the left, the right, both apart, both at once; and models trained so."""

import pandas as pd
import streamlit as st

from app import layout, session
from app.figures import mask as figures
from app.figures import strategies, word_bars
from app.samples.cloze import SMALL_WORLD_CLOZE
from app.views.mask import inside
from app.widgets import training_budget
from model import Bert
from probes import bundled, cloze
from probes.cloze import directions
from probes.cloze.query import ClozeQuery

NAMES = {
    "left": "left only (as GPT reads)",
    "right": "right only",
    "averaged": "apart, then averaged (as ELMo)",
    "both": "both at once (BERT)",
}
LISTED = 5


def section(bert: Bert, cloze_query: ClozeQuery) -> None:
    encoding = cloze_query.encoding
    position, token_id, name = inside.target_piece(bert, cloze_query)
    predictions = session.answer(bert, "sights", (encoding, position), lambda: directions.predict(bert, encoding, position))
    probabilities = {direction: float(row[token_id]) for direction, row in predictions.items()}
    rows = [(NAMES[direction], probability) for direction, probability in probabilities.items()]
    layout.chart(
        figures.directions(rows),
        key="sights",
        finding=f"P({layout.escape(name)}) is {figures.percent(probabilities['both'])} read from both sides at once, "
        f"{figures.percent(probabilities['left'])} from the left only and {figures.percent(probabilities['right'])} from "
        "the right only. For one side, attention is blocked in every layer. This model learned with both sides, so "
        "one-sided numbers show what it misses, not what a one-sided model could learn; that comes below.",
        alt="; ".join(f"{label} {probability:.2%}" for label, probability in rows),
    )
    tables = {direction: cloze.top_k(bert, row, LISTED) for direction, row in predictions.items()}
    _four(tables, "direction", name)
    _trained()
    _small_world()


def _trained() -> None:
    st.header("Trained from scratch in each direction", anchor=False)
    results = bundled.results(bundled.DIRECTIONS)
    baseline, ceiling = directions.most_frequent_accuracy(results), bundled.ceiling(bundled.DIRECTIONS)
    accuracy = directions.mean_accuracy(results)
    layout.chart(
        strategies.seeds(
            results,
            "masked",
            [(direction, NAMES[direction]) for direction in directions.DIRECTIONS],
            [("commonest word", baseline), ("best possible", ceiling)],
        ),
        key="trained-sights",
        finding=f"MLM accuracy on held-out words is {accuracy['both']:.1%} for both directions at once, "
        f"{accuracy['left']:.1%} for left only, {accuracy['right']:.1%} for right only; always the commonest "
        f"word {baseline:.1%}, the best possible {ceiling:.1%}. "
        f"{training_budget.sentence(bundled.DIRECTIONS)} Dots are seeds, bars their mean.",
        alt="; ".join(f"{direction} {share:.1%}" for direction, share in accuracy.items()),
    )
    gain = directions.bidirectional_gain(results)
    if gain > 0:
        st.markdown(f"Both directions at once are ahead of the better single one by **{100 * gain:.1f} points**.")
    else:
        st.markdown(
            f"After so few steps both directions at once are still **{-100 * gain:.1f} points behind** the better "
            "single one: with two sides to weigh, a model learns more slowly at first (so does the paper's, Appendix "
            "C.1), and the dashed line shows how much is left to learn."
        )
    st.caption(
        "The paper's nearest row (Devlin et al., 2019, Table 5): left to right and without next-sentence "
        "prediction, MNLI falls from 84.4 to 82.1 and SQuAD from 88.5 to 77.8. There whole tasks are scored after "
        "fine-tuning; here a word is predicted, in a small world where one side often tells all."
    )
    with st.expander("The command behind these results"):
        st.code(bundled.command(bundled.DIRECTIONS), language="sh")


def _small_world() -> None:
    """A sentence of the small world, filled by the three bundled models."""
    text = st.text_input(
        "Ask these models: a sentence of the small world with one [MASK]",
        SMALL_WORLD_CLOZE,
        key="small",
        bind="query-params",
        max_chars=400,
    )
    berts = {direction: session.load(str(folder)) for direction, folder in bundled.direction_models().items()}
    both = berts["both"]
    encoding = both.tokenizer.encode(text)
    predictions = directions.predict_with(berts, encoding, cloze.mask_positions(both, encoding)[0])
    _four({direction: cloze.top_k(both, row, LISTED) for direction, row in predictions.items()}, "small", None)


def _four(tables: dict[str, pd.DataFrame], key: str, original: str | None) -> None:
    """The likeliest words of each direction, two by two."""
    for cell, (direction, table) in zip([*st.columns(2), *st.columns(2)], tables.items(), strict=True):
        with cell:
            st.markdown(f"**{NAMES[direction]}**")
            layout.chart(
                word_bars.bars(table, original),
                key=f"{key}-{direction}",
                finding=f"*{layout.escape(table['word'][0])}* is its first choice ({table['probability'][0]:.0%}).",
                alt=", ".join(f"{row.word} {row.probability:.1%}" for row in table.itertuples()),
            )
