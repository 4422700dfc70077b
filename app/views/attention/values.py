"""What the board draws: raw attention, other weights, or the difference to another run."""


import streamlit as st

from app import layout, limits, session
from app.components.board import Picture
from model import Bert, Edits, Trace
from probes import heads

MEANING = {
    "attention": ("Attention", "How much of each row's look goes to each column. Attention says where a head reads, not "
                               "why the model answers as it does: attention is not explanation."),
    "norms": ("Weighted by values", "Attention times the length of the vector it carries (Kobayashi et al., 2020). A "
                                    "token that gets much attention but carries little, often [SEP], fades, and a head "
                                    "that is switched off carries nothing. It says how much is moved, not whether that "
                                    "matters to the answer."),
    "rollout": ("Rollout", "How much of each input token could have flowed to each position up to this layer, all heads "
                           "averaged and half of each step kept in place (Abnar & Zuidema, 2020); heads that are switched "
                           "off are left out. It follows the paths only; what values and feed-forward layers do on the way "
                           "is left out."),
    "sentence": ("Against a sentence", "Second minus first: blue where the second sentence gets more attention, orange "
                                       "where less. Only tokens that both have are compared; small differences can come "
                                       "from length alone."),
    "off": ("Against heads off", "With the crossed-out heads switched off minus the whole model: what the heads above "
                                 "them do differently. Layers up to the first head that is off cannot change."),
}


def control() -> str:
    """Let the reader choose what is drawn."""
    return st.segmented_control("What is drawn", list(MEANING), default="attention", required=True, key="drawn",
                                bind="query-params", format_func=lambda name: MEANING[name][0]) or "attention"


def second_sentence() -> str:
    """The sentence to compare with, where that is asked for."""
    a, _ = session.texts()
    return st.text_input("Compare sentence A with", value=a, key="second", bind="query-params",
                         max_chars=limits.TEXT_CHARACTERS,
                         help="Change a word or two: the difference is drawn on the tokens both sentences have.")


def picture(drawn: str, bert: Bert, whole: Trace, trace: Trace, edits: Edits, layer: int, second: str) -> Picture:
    """The values for the board: of the whole model and of the one with these edits; one layer where all are too many."""
    positions, texts = list(range(len(trace.tokens))), trace.texts
    if drawn == "norms":
        values = heads.norms(bert, trace)
    elif drawn == "rollout":
        values = heads.rollout(trace)
    elif drawn == "sentence":
        other = session.traced(bert, second, session.texts()[1], edits.heads_off)
        layout.notes(other.note)
        values, positions, there = heads.difference(trace, other)
        texts = [trace.texts[i] if trace.texts[i] == other.texts[j] else f"{trace.texts[i]}→{other.texts[j]}"
                 for i, j in zip(positions, there, strict=True)]
    elif drawn == "off":
        values, _, _ = heads.difference(whole, trace)
    else:
        values = trace.attention
    name, meaning = MEANING[drawn]
    tokens = [trace.tokens[position] for position in positions]
    layers = list(range(len(values)))
    labels = heads.square(session.head_summary(bert, trace), "label").tolist() if drawn == "attention" else None
    if values.size > limits.BOARD_VALUES:
        layers = [layer]
        values, labels = values[layers], labels and [labels[layer]]
    return Picture(values, texts, [token.segment for token in tokens], [token.word for token in tokens],
                   layers, bert.config.num_hidden_layers, labels, name, meaning)
