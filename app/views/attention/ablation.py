"""What happens without a head: before and after, every head ranked, how many can go."""

import streamlit as st

from app import layout, limits, ownership, session
from app.components.board import BoardData, BoardState
from app.figures import attention as figures
from app.jobs import panel as job_panel
from app.samples.stories import SENTENCES
from app.widgets import remembered_job, text_inputs
from app.widgets.dropdown import dropdown
from app.work import heads as heads_work
from model import Bert, InputError, Trace
from model.tokenizer import MASK
from probes.cloze import query
from probes.heads import ablation
from probes.heads.ablation import AblationTarget

WORK = "app.work.heads:pruning"
MICHEL = (
    "Importance of a head: the mean over the masked words of |∂ loss / ∂ gate|, divided by the length (ℓ2) of its "
    "layer, as the paper's pruning does. A head has one gate for a whole input, so the absolute value is taken of the "
    "sum over positions; the authors' program takes it at every position and sums after that. Equation 2 of the paper "
    "can be read both ways, and the two orders differ."
)


def most_needed(bert: Bert, trace: Trace) -> tuple[int, int] | None:
    """The head without which the word to predict loses most; None where there is no word to predict."""
    positions = _positions(trace)
    if bert.mlm is None or not positions:
        return None
    (head, _), *_ = ablation.strongest(session.head_effects(bert, _target(bert, trace, _position(trace, positions))), 1)
    return head


def panel(bert: Bert, trace: Trace, state: BoardState, data: BoardData) -> None:
    target = _target(bert, trace, _chosen_position(trace)) if bert.mlm is not None else None
    left, right = st.columns([3, 2], gap="large")
    with left:
        if target is not None:
            _prediction(bert, target, state)
        else:
            st.caption("This checkpoint has no masked-word head, so there is no word to predict.")
    with right:
        _next_sentence(bert, trace, state)
        _how(state)
    if target is not None:
        _ranking(bert, target, state)
        _pruning()


def _how(state: BoardState) -> None:
    """Which heads are off, and how to switch others."""
    if state.off:
        names = ", ".join(f"{layer + 1}.{head + 1}" for layer, head in sorted(state.off))
        st.markdown(f"Switched off (layer.head): **{names}**")
    st.caption(
        "Choose a head on the board and press the key **o**, or under *More* let every click switch heads off: a head, or "
        "by its number a whole layer."
    )


def _positions(trace: Trace) -> list[int]:
    return [
        token.position
        for token in trace.tokens
        if (token.word is not None and token.text[0].isalnum()) or token.text == MASK
    ]


def _position(trace: Trace, positions: list[int]) -> int:
    """What is predicted to begin with: the first [MASK], or the longest word of sentence A."""
    masks = [position for position in positions if trace.wordpieces[position] == MASK]
    if masks:
        return masks[0]
    word = query.longest_word(query.words(trace.encoding))
    return next(token.position for token in trace.tokens if token.segment == 0 and token.word == word)


def _chosen_position(trace: Trace) -> int:
    """The word to predict, as the reader chooses it; it stands in the address."""
    positions = _positions(trace)
    if not positions:
        raise InputError("There is no word here to predict: type a sentence.")
    names = {str(position): f"{position} · {trace.wordpieces[position]}" for position in positions}
    start = str(_position(trace, positions))
    text_inputs.reset_if_tokens_changed("predicted_position", trace, start)
    return int(
        dropdown(
            "Word to predict",
            names,
            "predicted_position",
            start,
            help="It is masked, and the model predicts which word stood there.",
        )
    )


def _target(bert: Bert, trace: Trace, position: int) -> AblationTarget:
    return ablation.target_word(bert, trace.encoding, position)


def _off(state: BoardState) -> str:
    """What is switched off, in words."""
    if len(state.off) > 1:
        return f"the {len(state.off)} heads switched off"
    layer, head = next(iter(state.off))
    return f"layer {layer + 1} head {head + 1}"


def _answer(bert: Bert, target: AblationTarget) -> str:
    return bert.tokenizer.vocabulary[target.answer or 0]


def _prediction(bert: Bert, target: AblationTarget, state: BoardState) -> None:
    table, answer = ablation.distribution(bert, target, state.off, k=7), _answer(bert, target)
    probabilities = table.set_index("word").loc[answer]
    change = (
        f"{probabilities['before']:.1%} with all heads and {probabilities['after']:.1%} without {_off(state)} (ablation)"
        if state.off
        else f"{probabilities['before']:.1%} with all heads, and no head is switched off"
    )
    layout.chart(
        figures.before_after(table, answer),
        key="before_after",
        finding=f"P(**{layout.escape(answer)}**) in the masked place is {change}. Grey: all heads; colour: without those "
        "switched off.",
        alt="Bars before and after: "
        + ", ".join(f"{row.word} {row.before:.0%} to {row.after:.0%}" for row in table.itertuples()),
    )


def _next_sentence(bert: Bert, trace: Trace, state: BoardState) -> None:
    if bert.nsp is None or len(trace.encoding.texts) < 2:
        st.caption("P(IsNext) needs a checkpoint with a next-sentence head and a sentence B.")
        return
    before, after = ablation.next_sentence(bert, trace.encoding, state.off)
    st.metric(
        "P(IsNext): does B follow A?",
        f"{after:.1%}",
        f"{(after - before) * 100:+.1f} points against {before:.1%}" if state.off else None,
        delta_color="off",
        help="With the heads as they are switched now.",
    )


def _ranking(bert: Bert, target: AblationTarget, state: BoardState) -> None:
    effects = session.head_effects(bert, target)
    importance = session.answer(bert, "importance", (target,), lambda: ablation.importance(bert, [target]))
    answer, chosen = layout.escape(_answer(bert, target)), (state.layer, state.heads[0])
    strongest = ablation.strongest(effects)
    (layer, head), effect = strongest[0]
    layout.chart(
        figures.grid(effects, "bits lost", chosen, state.off),
        key="effects",
        finding=f"Layer {layer + 1} head {head + 1} matters most for *{answer}*: without it log P falls by {effect:.2f} "
        "bits; 0 is the whole model. Each head alone is switched off. Orange: without it log P rises.",
        alt="Grid of the effect of switching each head off.",
    )
    st.markdown(
        "Most needed here: "
        + " · ".join(f"layer {layer + 1} head {head + 1} ({effect:+.2f})" for (layer, head), effect in strongest)
    )
    agreement = ablation.size_agreement(effects, importance)
    layout.chart(
        figures.two_rankings(effects, importance, chosen),
        key="rankings",
        finding=f"Spearman ρ = {agreement:.2f} between the size of the effect and the slope of the loss at a head's gate "
        "(Michel et al., 2019; 1 is the same order, 0 none). The slope has no sign and knows only small changes, "
        "switching off is a large one.",
        alt=f"Scatter of switching-off effect and gradient importance, rank correlation {agreement:.2f}.",
    )


def _pruning() -> None:
    with st.expander("How many heads can go?"):
        text = st.text_area("Sentences to measure by, one a line", SENTENCES, height=180, key="pruning_sentences")
        lines = [line for line in text.splitlines() if line.strip()][: limits.PRUNING_SENTENCES]
        arguments = {"source": session.checkpoint_path(), "texts": lines, "points": 12, "words": 2, "orders": 5, "seed": 0}
        if st.button("Draw the pruning curve", disabled=not lines):
            ownership.submit(WORK, arguments, "How many heads can go")
        latest = remembered_job.latest(WORK, arguments)
        if latest is None:
            return
        job = job_panel.show(latest.id)
        if not (job.folder / heads_work.RESULT).is_file():
            return
        curve, words = heads_work.pruning_result(job.folder)
        config = session.bert().config
        heads = config.num_hidden_layers * config.num_attention_heads
        whole, half = curve.iloc[0], curve.iloc[len(curve) // 2]
        layout.chart(
            figures.pruning(curve, heads),
            key="pruning",
            finding=f"With {half['gone']} of {heads} heads off the loss on {words} masked words goes from "
            f"{whole['greedy']:.2f} to {half['greedy']:.2f} bits (greedy), {half['gradient']:.2f} (by gradient) and "
            f"{half['middle']:.2f} (random orders, the baseline). *Greedy* takes off those that hurt least now, on these "
            "same words: new words would fare a little worse; *by gradient* follows the importance of Michel et al. "
            "(2019), normalised by layer; dotted is the mean of random orders, with their range.",
            alt="Three curves of loss against the number of heads switched off.",
        )
        st.caption("How importance is measured here.", help=MICHEL)
