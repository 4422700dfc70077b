"""Input: how text becomes what the model reads."""

import streamlit as st

from app import layout, limits, session
from app.figures import input, token_chips
from app.widgets import text_inputs
from app.widgets.choice import SECTION, choice
from model import Trace
from probes.states import input_embeddings


def page() -> None:
    layout.title("Input", "How does text become what BERT reads?")
    trace = session.trace()
    layout.input_note(trace.note)
    section = choice(SECTION, {slug: label for slug, (label, _) in SECTIONS.items()}, key="tab")
    SECTIONS[section][1](trace)


def _wordpieces(trace: Trace) -> None:
    words = sum(not token.is_special and not token.is_continuation for token in trace.tokens)
    st.caption(
        f"{words} words and signs of punctuation become {len(trace.tokens)} wordpieces, [CLS] and [SEP] included.",
        help="Each chip is one wordpiece with its number in the vocabulary, its segment and its position; touching "
        "chips are pieces of one word. Hover over a chip.",
    )
    st.html(token_chips.row(trace.tokens))
    left, middle, right = st.columns(3)
    left.metric("Wordpieces", len(trace.tokens), help="With [CLS] and [SEP].")
    middle.metric("Words and punctuation", words)
    right.metric(
        "Maximum length", f"{session.bert().config.max_position_embeddings}", help="The most this model reads at once."
    )
    st.markdown(
        "BERT's input is **[CLS] A [SEP]**, or **[CLS] A [SEP] B [SEP]** for a pair. A word that is not in the "
        "vocabulary is spelled from pieces: try *unbelievably* or your own name as sentence A."
    )


def _embeddings(trace: Trace) -> None:
    parts = input_embeddings.parts(trace)  # (4, seq, hidden)
    lengths = input_embeddings.lengths(parts)
    position = text_inputs.token(trace, "Token", "token")
    text, (token, segment, place, _) = trace.tokens[position].text, lengths[:, position]
    layout.chart(
        input.token_strips(parts[:, position], input_embeddings.PARTS),
        key="strips",
        finding=f"The embeddings of *{layout.escape(text)}* have lengths {token:.2f} (token), {segment:.2f} (segment) and "
        f"{place:.2f} (position); their sum, normalised, is the {parts.shape[-1]} numbers that enter the first layer (last "
        "strip). Blue is positive, orange negative; each strip has its own colour range.",
        alt=f"Four strips of {parts.shape[-1]} colours for the token {text}: token, segment and position "
        "embedding and their normalised sum.",
    )
    layout.chart(
        input.sequence_strips(parts, input_embeddings.PARTS, trace.wordpieces),
        key="sequence",
        finding=f"{len(trace.tokens)} tokens, a row each, in {len(trace.encoding.texts)} "
        f"segment{'s' if len(trace.encoding.texts) > 1 else ''}: segment rows repeat within a sentence; position rows would "
        "be the same for any text.",
        alt="Four panels of colour, tokens down and dimensions across: token, segment, position, and their sum.",
    )


def _positions(_: Trace) -> None:
    bert = session.bert()
    count = min(limits.POSITIONS_COMPARED, bert.config.max_position_embeddings)
    kind = "learned" if bert.config.position_embedding_type == "absolute" else "sinusoidal"
    own = input_embeddings.position_similarity(bert, count)
    fixed = input_embeddings.sinusoid_similarity(bert.config.hidden_size, count)
    (adjacent, any_two), (fixed_adjacent, fixed_any_two) = map(input_embeddings.neighbour_similarity, (own, fixed))
    layout.chart(
        input.similarities(own, fixed, f"{bert.info.name}: {kind}"),
        key="positions",
        finding=f"Adjacent positions have a cosine of {adjacent:.2f}, any two of the first {count} one of {any_two:z.2f}; "
        f"in the Transformer's fixed sinusoids (right) {fixed_adjacent:.2f} and {fixed_any_two:z.2f}. BERT learned that "
        "near positions are alike: nothing in its input says that 5 comes after 4.",
        alt="Two square maps of cosine similarity between positions; both are bright along the diagonal.",
    )


def _parameters(_: Trace) -> None:
    tables = input_embeddings.parameter_tables(session.bert())
    tables_by_slug: dict[str, str] = dict(zip(("own", "base", "large"), tables, strict=False))
    name = tables_by_slug[choice("Size", tables_by_slug, key="ledger")]
    config, parts = tables[name]
    total = sum(part.count for part in parts)
    layout.chart(
        input.treemap(parts, name),
        key="treemap",
        finding=f"{total:,} parameters are in {layout.escape(name)} ({config.num_hidden_layers} layers, hidden "
        f"{config.hidden_size}, {config.num_attention_heads} heads), drawn by area (blue: embeddings; grey: layers; "
        "purple: masked-word head; orange: next-sentence head).",
        help="Click a field to look inside; click the top line to come back.",
        alt=f"Treemap of the {total:,} parameters of {name}.",
    )
    st.dataframe(
        input.ledger_table({key: parts for key, (_, parts) in tables.items()}),
        hide_index=True,
        height="content",
        alt="Parameters of each part in this model, base and large",
        column_config={key: st.column_config.NumberColumn(format="localized") for key in tables},
    )
    with st.expander("The formula of every line"):
        st.dataframe([vars(part) for part in parts], hide_index=True, alt="Formula and count of every part")


SECTIONS = {
    "pieces": ("Wordpieces", _wordpieces),
    "embeddings": ("Three embeddings", _embeddings),
    "positions": ("Positions", _positions),
    "parameters": ("Parameters", _parameters),
}
