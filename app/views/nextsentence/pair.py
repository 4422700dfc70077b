"""One pair: the answer of the next-sentence head, and how the pair was packed."""

import streamlit as st

from app import layout, session
from app.figures import nextsentence as figures
from app.figures import token_chips
from app.samples.pairs import SAMPLES, PairSample
from app.widgets import inputs
from model import Bert
from probes import nextsentence
from probes.nextsentence import lexical_overlap


def section(bert: Bert) -> None:
    prediction = nextsentence.predict(bert, *session.pair())
    layout.input_note(prediction.encoding.note)
    follows = "follows" if prediction.logit_difference >= 0 else "does not follow"
    st.markdown(f"## {prediction.answer}: the model says that B {follows} A")
    overlap = lexical_overlap.jaccard(*session.pair())
    layout.chart(
        figures.answer(prediction),
        key="nsp-answer",
        finding=f"P(IsNext) is {prediction.is_next:.1%}, P(NotNext) {prediction.not_next:.1%}; a head that knows nothing "
        f"would stand at one half (dotted). Shared words (lexical overlap): {overlap:.0%}.",
        alt=f"One bar: IsNext {prediction.is_next:.1%}, NotNext {prediction.not_next:.1%}.",
    )
    sample_picker()
    columns = st.columns(4)
    columns[0].metric("P(IsNext), output 0", f"{prediction.is_next:.4f}", help="The first output means: B follows A.")
    columns[1].metric("P(NotNext), output 1", f"{prediction.not_next:.4f}", help="The second output means: it does not.")
    columns[2].metric(
        "Margin (logit difference)",
        f"{prediction.logit_difference:+.3f}",
        help="Score of IsNext minus score of NotNext, before the softmax.",
    )
    columns[3].metric(
        "Shared words (lexical overlap)",
        f"{overlap:.2f}",
        help="The baseline without a model: content words in both sentences over all their content words.",
    )
    st.markdown("**How the pair was packed**")
    st.caption(
        f"{len(prediction.encoding)} wordpieces, [CLS] A [SEP] B [SEP], with the number, segment and position of each. "
        "The head reads only the last state of [CLS]."
    )
    st.html(token_chips.row(prediction.encoding.tokens))
    st.info(
        "One number says little: many pairs get a high one. **One change at a time** shows which of them would not.",
        icon=":material/lightbulb:",
    )


def sample_picker() -> None:
    """Ten pairs to start from; choosing one writes sentences A and B."""
    if sample := current_sample():
        st.markdown(f"**To think about:** {sample.question}")
    samples = {sample.title: sample for sample in SAMPLES}

    def take() -> None:
        if (sample := samples.get(st.session_state["start_pair"])) is not None:
            inputs.take({"a": sample.a, "b": sample.b, "nsp_text": sample.text})

    st.selectbox(
        "A pair to start from (or type your own above)",
        list(samples),
        key="start_pair",
        index=None,
        placeholder="Ten pairs, ten questions",
        on_change=take,
    )


def current_sample() -> PairSample | None:
    """The sample whose sentences stand above the page."""
    return next((sample for sample in SAMPLES if (sample.a, sample.b) == session.pair()), None)
