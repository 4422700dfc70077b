"""Start: what this is, live and without a click."""

from html import escape

import streamlit as st

from app import layout, limits, session
from app.figures import bipartite, word_bars
from model import Trace
from model.tokenizer import MASK
from probes import cloze
from probes.cloze import showcase


def page(menu) -> None:
    layout.title("Bertscope", "Look into BERT, ask it, change it. Everything here is computed by the model in the sidebar, "
                             "on this machine.")
    trace = session.trace()
    layout.notes(trace.note)
    listed = showcase.words(trace)
    names = dict(listed)
    first = showcase.worth_hiding(listed)
    hidden = st.pills("Hide a word of sentence A", list(names), default=first, required=True, key="hide",
                      format_func=lambda word: names[word])
    word = hidden if hidden in names else first
    left, right = st.columns([5, 6], gap="large")
    with left:
        _prediction(trace, word)
    with right:
        _attention(trace, word)
    _doors(menu)


def _prediction(trace: Trace, word: int) -> None:
    before, original, after = showcase.blanked(trace, word)
    st.html(f'<p class="sentence">{escape(before)}<span class="blank">?</span>{escape(after)}</p>')
    bert = session.bert()
    if bert.mlm is None:
        st.info("This checkpoint has no masked-word head, so it cannot guess the word.")
        return
    pair = len(trace.encoding.texts) == 2
    best = showcase.guesses(bert, trace.encoding, word)
    stood = "" if original == MASK else (
        f" The word that stood there, *{layout.plain(original)}*, is orange if it is among them.")
    layout.chart(word_bars.bars(best, cloze.vocabulary_word(bert, original)), key="guess",
                looking=f"*{layout.plain(best['word'][0])}* is BERT's first guess for the hidden word, with "
                        f"{best['probability'][0]:.0%}, read from both sides"
                        f"{' and from sentence B' if pair else ''}.{stood}",
                alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()))


def _attention(trace: Trace, word: int) -> None:
    layer, head = showcase.telling_head(trace, word)
    first = [token for token in trace.tokens if token.segment == 0]
    marked = frozenset(token.position for token in first if token.word == word)
    count = min(len(first), limits.TOKENS_DRAWN)
    names = " ".join(token.text for token in first if token.word == word)
    layout.chart(bipartite.bipartite(trace.attention[layer, head, :count, :count], trace.texts[:count], marked), key="lines",
                looking=f"What you are looking at: layer {layer + 1}, head {head + 1}, one of "
                        f"{trace.attention.shape[0] * trace.attention.shape[1]}. Left, each token; right, the tokens it "
                        f"looks at, thicker for more; orange is what *{layout.plain(names)}* looks at.",
                alt=f"Lines from each token to the tokens that head {head + 1} of layer {layer + 1} looks at.")


def _doors(menu) -> None:
    st.subheader("Where to go", anchor=False)
    for group, doors in menu.items():
        for column, entry in zip(st.columns(len(doors)), doors, strict=True) if group else ():
            with column.container(border=True, height="stretch"):
                st.page_link(entry.page(), label=f"**{entry.title}**", icon=entry.icon)
                st.caption(entry.question)
