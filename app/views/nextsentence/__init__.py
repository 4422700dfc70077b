"""Next sentence: does B follow A, and how would the model know?"""

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import nextsentence as figures
from app.figures import token_chips
from app.samples.pairs import LESSONS
from app.views.nextsentence import benchmark, document
from model import Bert, Encoding
from probes import nextsentence
from probes.nextsentence import evidence, lexical_overlap, perturbations

READING = "Reading the pair again and again …"


def page() -> None:
    layout.title("Next sentence", "Does sentence B follow sentence A, and how would the model know?")
    bert = session.bert()
    bert.need_nsp()
    chosen = st.segmented_control("Look at", list(SECTIONS), default="Pair", required=True, key="nsp",
                                  bind="query-params", label_visibility="collapsed")
    SECTIONS[chosen or "Pair"](bert)


def _choice() -> None:
    """Ten pairs to choose from; choosing writes the sentences of the sidebar."""
    titles = {lesson.title: lesson for lesson in LESSONS}

    def take() -> None:
        if (lesson := titles.get(st.session_state["start_pair"])) is not None:
            st.session_state.update(a=lesson.a, b=lesson.b, nsp_text=lesson.text)

    st.selectbox("A pair to start from (or type your own in the sidebar)", list(titles), key="start_pair", index=None,
                 placeholder="Ten pairs, ten questions", on_change=take)
    a, b = session.texts()
    lesson = next((lesson for lesson in LESSONS if (lesson.a, lesson.b) == (a, b)), None)
    if lesson:
        st.markdown(f"**To think about:** {lesson.question}")


def _texts() -> tuple[str, str]:
    a, b = session.texts()
    return a, b or ""


def _pair(bert) -> None:
    _choice()
    judgement = nextsentence.judge(bert, *_texts())
    layout.notes(judgement.encoding.note)
    word = "follows" if judgement.margin >= 0 else "does not follow"
    st.markdown(f"### {judgement.answer}: the model says that B {word} A")
    layout.chart(figures.answer(judgement), key="nsp-answer",
                looking="What you are looking at: the two outputs of the next-sentence head as probabilities. The dotted "
                        "line is one half, where a head that knows nothing would stand.",
                alt=f"One bar: IsNext {judgement.is_next:.1%}, NotNext {judgement.not_next:.1%}.")
    left, middle, right, last = st.columns(4)
    left.metric("P(IsNext), output 0", f"{judgement.is_next:.4f}", help="The first output means: B follows A.")
    middle.metric("P(NotNext), output 1", f"{judgement.not_next:.4f}", help="The second output means: it does not.")
    right.metric("Margin", f"{judgement.margin:+.3f}", help="Score of IsNext minus score of NotNext, before the softmax.")
    last.metric("Shared words", f"{lexical_overlap.shared(*_texts()):.2f}",
                help="The baseline without a model: content words in both sentences over all their content words.")
    st.markdown("**How the pair was packed**")
    st.caption("What you are looking at: [CLS] A [SEP] B [SEP] with the number, segment and position of each piece. The "
               "head reads only the last state of [CLS].")
    st.html(token_chips.row(judgement.encoding.tokens))
    st.info("One number says little: many pairs get a high one. The **Controls** change one thing at a time.",
            icon=":material/lightbulb:")


def _controls(bert) -> None:
    _choice()
    lesson = next((lesson for lesson in LESSONS if (lesson.a, lesson.b) == _texts()), None)
    st.session_state.setdefault("nsp_text", lesson.text if lesson else "")
    text = st.text_area("The text that A comes from (for one of the controls)", key="nsp_text", height=100,
                        max_chars=limits.DOCUMENT_CHARACTERS, persist_state="session")
    found = session.answer(bert, "controls", (*_texts(), text), lambda: perturbations.outcomes(bert, *_texts(), text))
    st.success(layout.plain(perturbations.verdict(found)), icon=":material/gavel:")
    layout.chart(figures.outcomes(found), key="nsp-controls",
                looking="What you are looking at: P(IsNext) after one change each; the orange line is the pair as it is, "
                        "the dotted one is one half. Where a change is drawn by chance, small marks are the single "
                        "draws and the dot is their mean.",
                alt="; ".join(f"{o.control.title}: {o.mean:.2f}" for o in found if len(o.probabilities)))
    st.dataframe(_table(found), hide_index=True, height="content",
                 column_config={name: st.column_config.NumberColumn(format="%.3f")
                                for name in ("P(IsNext)", "lowest", "highest", "change")},
                 alt="Every control with its probability and the input that was read")
    st.caption("If a change breaks a cue and the number stays, the head did not use that cue for this pair.")


def _table(found: list[perturbations.Outcome]) -> pd.DataFrame:
    base = found[0].mean
    return pd.DataFrame([{
        "control": outcome.control.title, "P(IsNext)": outcome.mean, "change": outcome.mean - base,
        "readings": len(outcome.probabilities),
        "lowest": outcome.probabilities.min(initial=1.0) if len(outcome.probabilities) else None,
        "highest": outcome.probabilities.max(initial=0.0) if len(outcome.probabilities) else None,
        "input read (the first)": outcome.control.missing or outcome.control.shown} for outcome in found])


def _gathered(bert: Bert, encoding: Encoding) -> evidence.Evidence:
    """All the evidence, with a bar that says how far it is."""
    bar = st.progress(0.0, READING)
    steps = evidence.gather(bert, encoding)
    while not isinstance(found := next(steps), evidence.Evidence):
        bar.progress(min(1.0, found), READING)
    bar.empty()
    return found


def _evidence(bert) -> None:
    _choice()
    encoding = nextsentence.packed(bert, *_texts())
    layout.notes(encoding.note)
    found = session.answer(bert, "evidence", _texts(), lambda: _gathered(bert, encoding))
    whole = found.layers[-1]
    together = f" ({found.window} neighbours are hidden together, the input is long)" if found.window > 1 else ""
    st.caption(f"What you are looking at: how much the margin ({found.margin:+.2f}) falls when a token is replaced by "
               f"[MASK]{together}. Blue tokens speak for IsNext, orange ones against; 0 is no effect.")
    st.html(figures.tokens(found))
    left, right = st.columns(2, gap="large")
    with left:
        layout.chart(figures.looks(found), key="nsp-looks",
                    looking="What you are looking at: where [CLS] looks in each layer, mean over the heads. The last bar is "
                            "an even look at all tokens.",
                    alt="Share of the attention of [CLS] to itself, A, [SEP] and B in each layer.")
    with right:
        layout.chart(figures.layers(found), key="nsp-layers",
                    looking="What you are looking at: the state of [CLS] after each layer through the same head, which was "
                            "trained on the last one only. At 0 [CLS] has seen nothing: any pair gives this number.",
                    alt="P(IsNext) after each layer: " + ", ".join(f"{value:.2f}" for value in found.layers))
    layer, head = divmod(int(abs(found.heads - whole).argmax()), found.heads.shape[1])
    layout.chart(figures.heads(found), key="nsp-heads",
                looking=f"What you are looking at: P(IsNext) with one head switched off, against {whole:.3f} with none off. "
                        f"The largest change: layer {layer + 1}, head {head + 1} off gives {found.heads[layer, head]:.3f}.",
                alt=f"Map of {found.heads.size} heads; layer {layer + 1}, head {head + 1} changes P(IsNext) most, to "
                    f"{found.heads[layer, head]:.3f}.")


SECTIONS = {"Pair": _pair, "Controls": _controls, "Evidence": _evidence, "A document": document.section,
            "An exam": benchmark.section}
