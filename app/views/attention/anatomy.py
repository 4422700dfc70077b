"""One head taken apart, step by step, with this sentence's numbers."""

import math

import streamlit as st

from app import layout
from app.components.board import BoardData, BoardState
from app.figures import attention as figures
from app.widgets import text_inputs
from app.widgets.dropdown import dropdown
from model import Bert, Trace
from probes.heads.anatomy import HeadAnatomy, dissect


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    layer, head = state.layer, state.heads[0]
    names = [f"{token.position} · {token.text}" for token in trace.tokens]
    pinned_query, pinned_key = state.pin or (None, None)
    first = pinned_query if pinned_query is not None else pinned_key if pinned_key is not None else 2
    options = {str(position): name for position, name in enumerate(names)}
    left, right = st.columns(2)
    text_inputs.follow("from", (trace.wordpieces, state.pin))
    query = int(dropdown("From (query)", options, "from", str(min(first, len(names) - 1)), column=left))
    anatomy = dissect(bert, trace, layer, head, query)
    strongest = anatomy.strongest_key if pinned_key is None else pinned_key
    text_inputs.follow("to", (trace.wordpieces, state.pin, layer, head, query))
    key = int(dropdown("To (key)", options, "to", str(min(strongest, len(names) - 1)), column=right))
    if not anatomy.gate:
        st.info(
            f"Head {head + 1} of layer {layer + 1} is switched off: it still attends, but what it mixes in step 4 counts "
            "as zero, and in step 5 it adds nothing."
        )
    _projections(bert, trace, anatomy, layer, head, query)
    _scores(anatomy, trace.wordpieces, query, key)
    _weights(anatomy, trace.wordpieces, query, key)
    _context(anatomy, trace.wordpieces)
    _output(bert, anatomy, layer, head)


def _projections(bert: Bert, trace: Trace, anatomy: HeadAnatomy, layer: int, head: int, query: int) -> None:
    config = bert.config
    size, token = config.head_size, layout.escape(trace.wordpieces[query])
    st.markdown(
        f"**1 · One state, {config.num_attention_heads} heads.** The input of layer {layer + 1} is {config.hidden_size} "
        f"numbers for *{token}*. Three matrices make a query, a key and a value of {config.hidden_size} numbers "
        f"from them, and each is split: {config.hidden_size} = {config.num_attention_heads} heads × {size}. "
        f"Head {head + 1} works with its {size}."
    )
    layout.chart(
        figures.split(anatomy.states[query], anatomy.queries, head),
        key="anatomy_split",
        finding=f"{config.hidden_size} numbers are the state of *{token}*; the query made from them is cut into "
        f"{config.num_attention_heads} heads of {size}, and head {head + 1} is framed. Blue is positive, orange negative; "
        "each strip has its own range.",
        alt=f"The state of {config.hidden_size} numbers above its query, split into heads.",
    )
    layout.chart(
        figures.strips({"query": anatomy.query, "key": anatomy.keys[query], "value": anatomy.values[query]}),
        finding=f"{size} numbers each are the query, the key and the value of *{token}* in layer {layer + 1}, head "
        f"{head + 1}; all three come from the same state.",
        alt=f"Three strips of {size} colours: query, key and value.",
        key="anatomy_qkv",
    )


def _scores(anatomy: HeadAnatomy, texts: list[str], query: int, key: int) -> None:
    size = len(anatomy.query)
    st.markdown(
        f"**2 · Query meets key.** The query of *{layout.escape(texts[query])}* times the key of "
        f"*{layout.escape(texts[key])}*, number by number; the sum is {anatomy.dot_product(key):.2f}, divided by √{size} = "
        f"{math.sqrt(size):.2f} it is the score **{anatomy.scores[key]:.2f}**."
    )
    rows = {
        f"query of {texts[query]}": anatomy.query,
        f"key of {texts[key]}": anatomy.keys[key],
        "query × key": anatomy.products(key),
    }
    layout.chart(
        figures.strips(rows),
        finding=f"The score {anatomy.scores[key]:.2f} is the sum of these {size} products, divided by √{size}. Blue in the "
        "last strip raises it, orange lowers it.",
        alt=f"Query, key and their product for {texts[query]} and {texts[key]}.",
        key="anatomy_product",
    )


def _weights(anatomy: HeadAnatomy, texts: list[str], query: int, key: int) -> None:
    strongest = anatomy.strongest_key
    st.markdown(
        f"**3 · Scores become weights.** The softmax turns the scores of *{layout.escape(texts[query])}* against "
        f"every token into weights that sum to one; *{layout.escape(texts[key])}* gets **{anatomy.weights[key]:.3f}**."
    )
    layout.chart(
        figures.softmax(anatomy.scores, anatomy.weights, texts, key),
        finding=f"*{layout.escape(texts[strongest])}* gets the largest weight, {anatomy.weights[strongest]:.3f}; with equal "
        f"scores every weight would be {1 / len(texts):.3f}. Scores above, weights below; the chosen key is orange.",
        alt="Bars of scores and of softmax weights for every token.",
        key="anatomy_softmax",
    )


def _context(anatomy: HeadAnatomy, texts: list[str]) -> None:
    strongest = anatomy.strongest_key
    st.markdown(
        f"**4 · Values are mixed.** Each token's value counts by its weight; their sum is the head's context, "
        f"{len(anatomy.context)} numbers."
    )
    layout.chart(
        figures.mixture(anatomy.values, anatomy.weights, texts),
        key="anatomy_mixture",
        finding=f"{anatomy.weights[strongest]:.0%} of the mixture is the value of *{layout.escape(texts[strongest])}*. "
        "Shown are the values with the largest weights, times their weights, and the sum, all on one range: pale ones add "
        "little.",
        alt="Weighted values of the heaviest tokens and their sum.",
    )


def _output(bert: Bert, anatomy: HeadAnatomy, layer: int, head: int) -> None:
    strongest, length = anatomy.strongest_head
    st.markdown(
        f"**5 · All heads are joined.** The {bert.config.num_attention_heads} heads' results stand side by side and "
        f"one more matrix makes {bert.config.hidden_size} numbers of them, which are added to the state."
    )
    layout.chart(
        figures.written(anatomy.head_output_norms, head),
        finding=f"Head {strongest + 1} of layer {layer + 1} adds most to this state, a vector of length {length:.2f}, head "
        f"{head + 1} one of {anatomy.head_output_norms[head]:.2f}; the states themselves have {anatomy.state_length:.1f} "
        "on average.",
        alt="Bars: the length of what each head adds.",
        key="anatomy_written",
    )
