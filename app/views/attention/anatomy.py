"""One head taken apart, step by step, with this sentence's numbers."""

import math

import streamlit as st

from app import layout
from app.components.board import Choice, Picture
from app.figures import attention as figures
from model import Bert, Trace
from probes.heads.anatomy import Anatomy, anatomy


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    layer, head = choice.layer, choice.heads[0]
    names = [f"{token.position + 1} · {token.text}" for token in trace.tokens]
    pinned = choice.pin or (None, None)
    left, right = st.columns(2)
    looks = left.selectbox("Token that looks", range(len(names)), format_func=lambda i: names[i],
                           index=_place(pinned[0], pinned[1], len(names), 2))
    at = right.selectbox("Token looked at", range(len(names)), format_func=lambda i: names[i],
                         index=_place(pinned[1], None, len(names), int(trace.attention[layer, head, looks].argmax())))
    taken = anatomy(bert, trace, layer, head, looks)
    if not taken.gate:
        st.info(f"Head {head + 1} of layer {layer + 1} is switched off: it still looks, but what it mixes in step 4 counts "
                "as zero, and in step 5 it adds nothing.")
    _states(bert, trace, taken, layer, head, looks)
    _neurons(taken, trace.texts, looks, at)
    _weights(taken, trace.texts, looks, at)
    _mixed(taken, trace.texts)
    _joined(bert, taken, layer, head)


def _place(first: int | None, other: int | None, length: int, otherwise: int) -> int:
    found = first if first is not None else other if other is not None else otherwise
    return min(found, length - 1)


def _states(bert: Bert, trace: Trace, taken: Anatomy, layer: int, head: int, looks: int) -> None:
    config = bert.config
    size, token = config.head_size, layout.plain(trace.texts[looks])
    st.markdown(f"**1 · One state, {config.num_attention_heads} heads.** Layer {layer + 1} is given {config.hidden_size} "
                f"numbers for *{token}*. Three matrices make a query, a key and a value of {config.hidden_size} numbers "
                f"from them, and each is split: {config.hidden_size} = {config.num_attention_heads} heads × {size}. "
                f"Head {head + 1} works with its {size}.")
    layout.chart(figures.split(taken.states[looks], trace.query[layer, :, looks], head), key="anatomy_split",
                looking=f"What you are looking at: the {config.hidden_size} numbers of the state of *{token}* and the query "
                        f"made from them, cut into {config.num_attention_heads} heads; head {head + 1} is framed. Blue is "
                        "positive, orange negative; each strip has its own range.",
                alt=f"The state of {config.hidden_size} numbers above its query, split into heads.")
    layout.chart(figures.strips({"query": taken.query, "key": taken.keys[looks], "value": taken.values[looks]}),
                looking=f"What you are looking at: the {size} numbers of query, key and value of *{token}* in layer "
                        f"{layer + 1}, head {head + 1}; all three come from the same state.",
                alt=f"Three strips of {size} colours: query, key and value.", key="anatomy_qkv")


def _neurons(taken: Anatomy, texts: list[str], looks: int, at: int) -> None:
    product = taken.products(at)
    one, other = layout.plain(texts[looks]), layout.plain(texts[at])
    st.markdown(f"**2 · Query meets key.** The query of *{one}* times the key of *{other}*, number by number; the sum is "
                f"{product.sum():.2f}, divided by √{len(product)} = {math.sqrt(len(product)):.2f} it is the score "
                f"**{taken.scores[at]:.2f}**.")
    layout.chart(figures.strips({f"query of {texts[looks]}": taken.query, f"key of {texts[at]}": taken.keys[at],
                                "query × key": product}),
                looking="What you are looking at: which of the numbers make two tokens fit. Blue in the last strip raises "
                        "the score, orange lowers it.",
                alt=f"Query, key and their product for {texts[looks]} and {texts[at]}.", key="anatomy_product")


def _weights(taken: Anatomy, texts: list[str], looks: int, at: int) -> None:
    st.markdown(f"**3 · Scores become weights.** The softmax turns the scores of *{layout.plain(texts[looks])}* against "
                f"every token into shares that sum to one; *{layout.plain(texts[at])}* gets **{taken.weights[at]:.3f}**.")
    layout.chart(figures.softmax(taken.scores, taken.weights, texts, at),
                looking="What you are looking at: scores above, weights below, one bar a token; the token looked at is "
                        f"orange. With equal scores every weight would be {1 / len(texts):.3f}.",
                alt="Bars of scores and of softmax weights for every token.", key="anatomy_softmax")


def _mixed(taken: Anatomy, texts: list[str]) -> None:
    st.markdown(f"**4 · Values are mixed.** Each token's value counts by its weight; their sum is what the head says, "
                f"{len(taken.mixed)} numbers.")
    layout.chart(figures.mixture(taken.values, taken.weights, texts), key="anatomy_mixture",
                looking="What you are looking at: the values with the largest weights, times their weights, and the sum; "
                        "all strips have one range, so pale ones add little.",
                alt="Weighted values of the heaviest tokens and their sum.")


def _joined(bert: Bert, taken: Anatomy, layer: int, head: int) -> None:
    st.markdown(f"**5 · All heads are joined.** The {bert.config.num_attention_heads} heads' results stand side by side and "
                f"one more matrix makes {bert.config.hidden_size} numbers of them, which are added to the state.")
    layout.chart(figures.written(taken.lengths, head),
                looking=f"What you are looking at: how much each head of layer {layer + 1} adds to this state; the length "
                        f"of the state itself is {taken.state_length:.1f} on average.",
                alt="Bars: the length of what each head adds.", key="anatomy_written")
