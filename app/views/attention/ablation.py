"""What happens without a head: before and after, every head ranked, how many can go."""

import streamlit as st

from app import jobs, layout, limits, session
from app.components.board import Choice, Picture
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.work import heads as headruns
from model import Bert, InputProblem, Trace
from probes.heads import ablation

WORK = "app.work.heads:pruning"
MICHEL = ("Importance of a head: the mean over the masked words of |∂ loss / ∂ gate|, divided by the length (ℓ2) of its "
          "layer, as the paper's pruning does. A head has one gate for a whole input, so the absolute value is taken of the "
          "sum over positions; the authors' program takes it at every position and sums after that. Equation 2 of the paper "
          "can be read both ways, and the two orders differ.")
SENTENCES = """The old man walked slowly down the long street.
She put the keys on the table and closed the door.
The children played in the garden until the sun went down.
He was born in a small town near the river.
The book that you gave me is on the shelf.
They could not see the house because of the trees.
In the morning the train leaves for the city.
My brother bought a new car last year.
The king and the queen lived in a large castle.
Water turns into ice when it is very cold.
The doctor said that the patient would soon be well.
We had bread, cheese and a glass of wine."""


def panel(bert: Bert, trace: Trace, choice: Choice, shown: Picture) -> None:
    if not choice.off:
        st.info("Press *switch off* above the board and click heads, or a layer's number for all of a layer; then this "
                "shows what changed. The key **o** switches the chosen head.")
    names = ", ".join(f"{layer + 1}.{head + 1}" for layer, head in sorted(choice.off))
    if names:
        st.markdown(f"Switched off (layer.head): **{names}**")
    question = _question(bert, trace) if bert.mlm is not None else None
    left, right = st.columns([3, 2], gap="large")
    with left:
        if question is not None:
            _words(bert, question, choice)
        else:
            st.caption("This checkpoint has no masked-word head, so there is no word to predict.")
    with right:
        _follows(bert, trace, choice)
    if question is not None:
        _ranking(bert, question, choice)
        _pruning()


def _question(bert: Bert, trace: Trace) -> ablation.Question:
    fit = [token.position for token in trace.tokens if (token.word is not None and token.text[0].isalnum())
           or token.text == "[MASK]"]
    if not fit:
        raise InputProblem("There is no word here to predict: type a sentence.")
    first = next((p for p in fit if trace.texts[p] == "[MASK]"), fit[len(fit) // 2])
    position = st.selectbox("Word to predict", fit, index=fit.index(first),
                            format_func=lambda p: f"{p + 1} · {trace.texts[p]}",
                            help="It is masked, and the model is asked which word stood there.")
    return ablation.masked(bert, trace.encoding, position)


def _words(bert: Bert, question: ablation.Question, choice: Choice) -> None:
    table = ablation.distribution(bert, question, choice.off, k=7)
    answer = bert.tokenizer.words[question.answer or 0]
    layout.chart(figures.before_after(table, answer), key="before_after",
                looking=f"What you are looking at: the likeliest words at the masked place, with all heads (grey) and "
                        f"without those switched off (colour). **{layout.plain(answer)}** is the word asked for.",
                alt="Bars before and after: " + ", ".join(f"{r.word} {r.before:.0%} to {r.after:.0%}"
                                                          for r in table.itertuples()))


def _follows(bert: Bert, trace: Trace, choice: Choice) -> None:
    if bert.nsp is None or len(trace.encoding.texts) < 2:
        st.caption("P(IsNext) needs a checkpoint with a next-sentence head and a sentence B.")
        return
    before, after = ablation.next_sentence(bert, trace.encoding, choice.off)
    st.metric("P(IsNext): does B follow A?", f"{after:.1%}", f"{(after - before) * 100:+.1f} points against {before:.1%}"
              if choice.off else None, delta_color="off", help="With the heads as they are switched now.")


def _ranking(bert: Bert, question: ablation.Question, choice: Choice) -> None:
    asked = (session.source(), question)
    if st.button("Rank all heads on this prediction", type="primary"):
        st.session_state["ranking"] = (asked, ablation.effects(bert, question), ablation.importance(bert, [question]))
    kept = st.session_state.get("ranking")
    if kept is None or kept[0] != asked:
        return
    _, effects, gradients = kept
    answer = layout.plain(bert.tokenizer.words[question.answer or 0])
    chosen = (choice.layer, choice.heads[0])
    layout.chart(figures.grid(effects, "bits lost", chosen, choice.off), key="effects",
                looking=f"What you are looking at: how many bits of log P(*{answer}*) are lost when each head alone is "
                        "switched off (all heads in one batch). Orange heads stood in the way; 0 is the whole model.",
                alt="Grid of the effect of switching each head off.")
    st.markdown("Most needed here: " + " · ".join(f"layer {layer + 1} head {head + 1} ({effect:+.2f})"
                                                  for (layer, head), effect in ablation.strongest(effects)))
    agreement = ablation.agreement(abs(effects), gradients)
    layout.chart(figures.two_rankings(effects, gradients, chosen), key="rankings",
                looking="What you are looking at: the same heads by the slope of the loss at their gates (Michel et al., "
                        "2019). It has no sign, so it is compared with the size of the effect: Spearman "
                        f"ρ = {agreement:.2f} (1 is the same order, 0 none). The slope knows only small changes, "
                        "switching off is a large one.",
                alt=f"Scatter of switching-off effect and gradient importance, rank correlation {agreement:.2f}.")


def _pruning() -> None:
    with st.expander("How many heads can go?"):
        text = st.text_area("Sentences to measure by, one a line", SENTENCES, height=180, key="pruning_sentences")
        lines = [line for line in text.splitlines() if line.strip()][: limits.PRUNING_SENTENCES]
        arguments = {"source": session.source(), "texts": lines, "points": 12, "words": 2, "orders": 5, "seed": 0}
        if st.button("Draw the pruning curve", disabled=not lines):
            jobs.submit(WORK, arguments, "How many heads can go")
        latest = jobs.latest(WORK, arguments)
        if latest is None:
            return
        job = job_panel.job(latest.id)
        if not (job.folder / headruns.RESULT).is_file():
            return
        curve, words = headruns.pruning_found(job.folder)
        heads = session.bert().config.num_hidden_layers * session.bert().config.num_attention_heads
        whole, half = curve.iloc[0], curve.iloc[len(curve) // 2]
        st.caption(f"With {half['gone']} of {heads} heads off the loss goes from {whole['greedy']:.2f} to "
                   f"{half['greedy']:.2f} bits (greedy), {half['gradient']:.2f} (by gradient) and {half['middle']:.2f} "
                   "(random orders).", help=MICHEL)
        layout.chart(figures.pruning(curve, heads), key="pruning",
                    looking=f"The loss on {words} masked words as heads go. *Greedy* takes off those that hurt least now, "
                            "*by gradient* follows the importance of Michel et al. (2019), normalised by layer; dotted is "
                            "the mean of random orders, with their range. The greedy order is chosen on these same words: "
                            "new words would fare a little worse.",
                    alt="Three curves of loss against the number of heads switched off.")
