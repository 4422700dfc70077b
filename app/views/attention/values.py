"""The quantity on the board: raw attention, other weights, or the difference to another run."""

import streamlit as st

from app import layout, limits, session
from app.components.board import BoardData
from app.samples import minimal_pair
from app.widgets import text_inputs
from app.widgets.choice import select
from model import Bert, Edits, Trace
from probes import heads

# slug -> the name on screen, and what the numbers mean
QUANTITIES = {
    "attention": (
        "Attention",
        "Each row is a token (query); it spreads a weight of 1 over the columns (keys). Attention says where a head reads, "
        "not why the model answers as it does: attention is not explanation.",
    ),
    "norms": (
        "Attention × value length (norm-based)",
        "Attention times the length of the vector it carries (Kobayashi et al., 2020). A "
        "token that gets much attention but carries little, often [SEP], fades, and a head "
        "that is switched off carries nothing. It says how much is moved, not whether that "
        "matters to the answer.",
    ),
    "rollout": (
        "Rollout",
        "How much of each input token could have flowed to each position up to this layer, all heads "
        "averaged and half of each step staying in place (Abnar & Zuidema, 2020); heads that are switched "
        "off are left out. It follows the paths only; what values and feed-forward layers do on the way "
        "is left out.",
    ),
    "sentence": (
        "Against a sentence",
        "Second minus first: blue where the second sentence gets more attention, orange "
        "where less. Only tokens that both have are compared; small differences can come "
        "from length alone.",
    ),
    "off": (
        "Against heads off",
        "With the crossed-out heads switched off minus the whole model: what the heads above "
        "them do differently. Layers up to the first head that is off cannot change.",
    ),
}


def quantity_picker() -> str:
    """The quantity on the board, by its slug."""
    return select("On the board", {slug: name for slug, (name, _) in QUANTITIES.items()}, key="quantity")


def second_sentence(bert: Bert) -> str:
    """The sentence that A is compared with: to begin with A with one word changed, a minimal pair."""
    a, b = session.texts()
    changed = session.answer(bert, "minimal pair", (a, b), lambda: minimal_pair.of(bert, bert.tokenizer.encode(a, b)))
    text_inputs.suggest("second", changed)
    return st.text_input(
        "Compare sentence A with",
        value=changed,
        key="second",
        bind="query-params",
        max_chars=limits.TEXT_CHARACTERS,
        help="Change a word or two: the difference is drawn on the tokens both sentences have.",
    )


def board_data(quantity: str, bert: Bert, whole: Trace, trace: Trace, edits: Edits, layer: int, second: str) -> BoardData:
    """The values for the board: of the whole model and of the one with these edits; one layer where all are too many."""
    positions, texts = list(range(len(trace.tokens))), trace.wordpieces
    if quantity == "norms":
        values = heads.norms(bert, trace)
    elif quantity == "rollout":
        values = heads.rollout(trace)
    elif quantity == "sentence":
        other = session.trace_of(bert, second, session.texts()[1], edits.heads_off)
        layout.input_note(other.note)
        values, positions, other_positions = heads.attention_difference(trace, other)
        pairs = zip(positions, other_positions, strict=True)
        texts = [_renamed(trace.wordpieces[here], other.wordpieces[there]) for here, there in pairs]
    elif quantity == "off":
        values, _, _ = heads.attention_difference(whole, trace)
    else:
        values = trace.attention
    name, meaning = QUANTITIES[quantity]
    tokens = [trace.tokens[position] for position in positions]
    layers = list(range(len(values)))
    labels = heads.as_grid(session.head_summary(bert, trace), "label").tolist() if quantity == "attention" else None
    if values.size > limits.BOARD_VALUES:
        layers = [layer]
        values, labels = values[layers], labels and [labels[layer]]
    return BoardData(
        values,
        texts,
        [token.segment for token in tokens],
        [token.word for token in tokens],
        layers,
        bert.config.num_hidden_layers,
        labels,
        name,
        meaning,
    )


def _renamed(before: str, after: str) -> str:
    return before if before == after else f"{before}→{after}"
