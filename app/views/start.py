"""Start: what this is, live and without a click."""

from html import escape

import streamlit as st

from app import layout, limits, network, session
from app.browser import route
from app.figures import bipartite, word_bars
from app.figures import mask as mask_figures
from app.widgets import qr_code, text_inputs
from app.widgets.choice import pills
from model import Bert, Trace, __version__
from model.tokenizer import MASK
from probes import cloze, heads
from probes.cloze import query
from probes.heads import extremes

WORDS_TRIED = 16  # words of a sentence that are all hidden in turn; a longer one would keep the reader waiting


def page(menu) -> None:
    layout.title(
        "Bertscope",
        "Look into BERT, ask it, change it. Everything here is computed on this machine, by the model chosen above.",
    )
    trace = session.trace()
    layout.input_note(trace.note)
    word = _hidden_word(trace)
    left, right = st.columns([5, 6], gap="large")
    with left:
        _prediction(trace, word)
    with right:
        _attention(trace, word)
    _doors(menu)
    _handout(session.bert())
    st.caption(f"Bertscope {__version__}. Nothing typed here leaves the machine that runs it.")


def _hidden_word(trace: Trace) -> int:
    """The word that is hidden, by its index; of each the list says whether the model names it."""
    words = query.words(trace.encoding)[: limits.TARGETS_OFFERED]
    named = _named(trace, words)
    marks = {True: " ✓", False: " ✗", None: ""}
    labels = {str(word): f"{text}{marks[named.get(word)]}" for word, text in words}
    first = str(query.longest_word(words))
    text_inputs.reset_if_tokens_changed("hide", trace, first)
    label = "Hide a word of sentence A"
    if named:
        label += f": each hidden alone, the model names {sum(named.values())} of {len(named)} (✓)"
    return int(pills(label, labels, "hide", first))


def _named(trace: Trace, words: list[tuple[int, str]]) -> dict[int, bool]:
    """word index -> whether the model's first choice in its place is the word itself; empty without a masked-word head."""
    bert = session.bert()
    if bert.mlm is None or len(words) > WORDS_TRIED:
        return {}
    return session.answer(
        bert,
        "named words",
        session.texts(),
        lambda: {
            word: query.predict_word(bert, trace.encoding, word, 1)["word"][0] == cloze.vocabulary_word(bert, text)
            for word, text in words
        },
    )


def _prediction(trace: Trace, word: int) -> None:
    before, original, after = query.split_at(trace.encoding, word)
    st.html(f'<p class="sentence">{escape(before)}<span class="blank">?</span>{escape(after)}</p>')
    bert = session.bert()
    if bert.mlm is None:
        st.info("This checkpoint has no masked-word head, so it cannot predict the word.")
        return
    best = query.predict_word(bert, trace.encoding, word)
    piece = cloze.vocabulary_word(bert, original)
    words = best["word"].tolist()
    finding = f"The model's first choice is *{layout.escape(words[0])}* ({best['probability'][0]:.0%})"
    if piece == words[0]:
        finding += ", the word that stood there (orange)"
    elif piece in words:
        number = words.index(piece)
        share = mask_figures.percent(float(best["probability"][number]))
        finding += f"; *{layout.escape(original)}*, which stood there, is number {number + 1} ({share}, orange)"
    elif original != MASK:
        finding += f"; *{layout.escape(original)}*, which stood there, is not among its {len(words)} best"
    pair = " and sentence B" if len(trace.encoding.texts) == 2 else ""
    layout.chart(
        word_bars.bars(best, piece),
        key="guess",
        finding=f"{finding}. It read both sides of the blank{pair}.",
        alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()),
    )


def _attention(trace: Trace, word: int) -> None:
    first = [token for token in trace.tokens if token.segment == 0]
    pieces = [token for token in first if token.word == word]
    layer, head = heads.most_informative(trace.attention, trace.encoding, [token.position for token in pieces])
    layers, heads_of_layer = trace.attention.shape[:2]
    count = min(len(first), limits.TOKENS_DRAWN)
    key, weight = extremes.most_attended(trace, layer, head, [token.position for token in pieces], count)
    layout.chart(
        bipartite.lines(
            trace.attention[layer, head, :count, :count],
            trace.wordpieces[:count],
            frozenset(token.position for token in pieces),
        ),
        key="lines",
        finding=f"In layer {layer + 1} head {head + 1}, one of {layers * heads_of_layer}, "
        f"*{layout.escape(' '.join(token.text for token in pieces))}* (orange) attends most to "
        f"*{layout.escape(trace.wordpieces[key])}* ({weight:.0%}; all alike would be {1 / len(trace.tokens):.0%}). Left: "
        "from (query); right: to (key).",
        alt=f"Lines from each token to the tokens that head {head + 1} of layer {layer + 1} attends to.",
    )


def _doors(menu) -> None:
    st.header("Where to go", anchor=False)
    for group, entries in menu.items():
        for column, entry in zip(st.columns(len(entries)), entries, strict=True) if group else ():
            with column.container(border=True, height="stretch"):
                st.page_link(entry.page(), label=f"**{entry.title}**", icon=entry.icon)
                st.caption(entry.question)


def _handout(bert: Bert) -> None:
    st.header("Without a server", anchor=False)
    st.caption(
        f"One HTML file with *{layout.escape(bert.info.name)}*, its wordpieces, its heads and the lessons: it opens from a "
        f"stick, on a phone, offline, and the browser computes. Weights are rounded to 8 bits.{_missing_heads(bert)}"
    )
    folder, place = session.folder(bert.info.name), st.empty()
    if not session.has_handout(folder) and not place.button("Make the file", key="handout", icon=":material/draft:"):
        return
    with place, st.spinner("Rounding the weights and measuring what that changes …"):
        file = session.handout(folder)
    place.empty()
    path = route.path(bert.info.name)
    left, right = st.columns([3, 1], gap="large")
    with left:
        st.html(
            f'<p class="handout"><a href="{path}" download="bert-{escape(bert.info.name.replace("/", "-"))}.html">Save the '
            f'file</a> <a href="{path}" target="_blank" rel="noopener">Open it</a></p>'
        )
        st.caption(
            f"{file.size / 1e6:.1f} MB, {len(file.content) / 1e6:.1f} MB of them travel (compressed). A browser that has it "
            "is not sent it again."
        )
    address = network.room_address(st.context.url or "", st.get_option("server.address") or "")
    if address is None:
        left.caption(
            "Only this machine reaches this app: started with `--host 0.0.0.0`, it shows an address for the room here."
        )
        return
    left.caption(f"For everyone in the room: {layout.escape(address + path)}. Each phone then does its own computing.")
    right.html(qr_code.image(address + path))


def _missing_heads(bert: Bert) -> str:
    absent = [name for name, head in (("masked-word", bert.mlm), ("next-sentence", bert.nsp)) if head is None]
    if not absent:
        return ""
    return (
        f" This checkpoint has no {' and no '.join(absent)} head: the file shows the rest, and says so where one is needed."
    )
