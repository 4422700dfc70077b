"""Input: how text becomes what the model reads."""

import streamlit as st

from app import layout, limits, session
from app.figures import input, token_chips
from probes.states import input_embeddings as asked


def page() -> None:
    layout.title("Input", "How does text become what BERT reads?")
    trace = session.trace()
    layout.notes(trace.note)
    words, numbers, positions, size = st.tabs(["Wordpieces", "Three embeddings", "Positions", "Parameters"])
    with words:
        _wordpieces(trace)
    with numbers:
        _embeddings(trace)
    with positions:
        _positions()
    with size:
        _parameters()


def _wordpieces(trace) -> None:
    st.caption("What you are looking at: the input as the model gets it. Each chip is one wordpiece with its number in "
               "the vocabulary, its segment and its position; touching chips are pieces of one word. Hover over a chip.")
    st.html(token_chips.row(trace.tokens))
    whole = sum(not token.special and not token.continues for token in trace.tokens)
    left, middle, right = st.columns(3)
    left.metric("Wordpieces", len(trace.tokens), help="With [CLS] and [SEP].")
    middle.metric("Words and signs", whole)
    right.metric("Room", f"{session.bert().config.max_position_embeddings}", help="The most this model reads at once.")
    st.markdown("BERT's input is **[CLS] A [SEP]**, or **[CLS] A [SEP] B [SEP]** for a pair. A word that is not in the "
                "vocabulary is spelled from pieces: try *unbelievably* or your own name in the sidebar.")


def _embeddings(trace) -> None:
    parts = asked.parts(trace)
    names = [f"{token.position} · {token.text}" for token in trace.tokens]
    chosen = st.select_slider("Token", options=range(len(names)), value=min(2, len(names) - 1),
                              format_func=lambda place: names[place], key="token")
    text = trace.tokens[chosen].text
    layout.chart(input.token_strips(parts[:, chosen], asked.PARTS), key="strips",
                looking=f"What you are looking at: the {parts.shape[-1]} numbers that enter the first layer for "
                        f"*{layout.plain(text)}*. Blue is positive, orange negative; the last strip is the sum of the three "
                        "above it, normalised. Each strip has its own colour range.",
                alt=f"Four strips of {parts.shape[-1]} colours for the token {text}: token, segment and position "
                    "embedding and their normalised sum.")
    layout.chart(input.sequence_strips(parts, asked.PARTS, trace.texts), key="sequence",
                looking="What you are looking at: the same for the whole input, a row a token. Segment rows repeat within a "
                        "sentence; position rows would be the same for any text.",
                alt="Four panels of colour, tokens down and dimensions across: token, segment, position, and their sum.")


def _positions() -> None:
    bert = session.bert()
    count = min(limits.POSITIONS_COMPARED, bert.config.max_position_embeddings)
    learned = bert.config.position_embedding_type == "absolute"
    layout.chart(input.similarities(asked.position_similarity(bert, count),
                                        asked.sinusoid_similarity(bert.config.hidden_size, count),
                                        f"{bert.about.name}: {'learned' if learned else 'sinusoidal'}"), key="positions",
                looking=f"What you are looking at: how alike the embeddings of every two of the first {count} positions "
                        "are. BERT learned left what the Transformer fixed right: near positions alike, far ones not. "
                        "Nobody told BERT that 5 comes after 4.",
                alt="Two square maps of cosine similarity between positions; both are bright along the diagonal.")


def _parameters() -> None:
    ledgers = asked.ledgers(session.bert())
    name = st.segmented_control("Model", list(ledgers), default=next(iter(ledgers)), required=True, key="ledger")
    config, parts = ledgers[name]
    total = sum(part.count for part in parts)
    layout.chart(input.treemap(parts, name), key="treemap",
                looking=f"What you are looking at: all {total:,} parameters of {layout.plain(name)} "
                        f"({config.num_hidden_layers} layers, hidden {config.hidden_size}, {config.num_attention_heads} "
                        "heads) by area. Click a field to look inside; click the top line to come back.",
                alt=f"Treemap of the {total:,} parameters of {name}.")
    table = input.ledger_table({key: parts for key, (_, parts) in ledgers.items()})
    st.dataframe(table, hide_index=True, height="content", alt="Parameters of each part in this model, base and large",
                 column_config={key: st.column_config.NumberColumn(format="localized") for key in ledgers})
    with st.expander("The formula of every line"):
        st.dataframe([vars(part) for part in parts], hide_index=True, alt="Formula and count of every part")
