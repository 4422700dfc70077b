"""What the answer about a pair rests on: tokens, the attention of [CLS], heads, layers."""

import streamlit as st

from app import layout, session
from app.figures import nextsentence as figures
from app.views.nextsentence.pair import sample_picker
from model import Bert
from probes.nextsentence.evidence import PARTS


def section(bert: Bert) -> None:
    evidence = session.nsp_evidence(bert, *session.pair())  # cached: a rerun of the page runs no forward pass
    layout.input_note(evidence.encoding.note)
    token, effect = evidence.strongest_token
    together = f" with its neighbours, {evidence.window} together, as the input is long," if evidence.window > 1 else ""
    st.caption(
        f"Masking *{layout.escape(token.text)}*{together} changes the answer most: the margin, logit of IsNext against "
        f"NotNext, goes from {evidence.logit_difference:+.2f} to {evidence.logit_difference - effect:+.2f}. Blue tokens "
        "speak for IsNext, orange ones against; 0 is no effect (occlusion)."
    )
    st.html(figures.occlusion(evidence))
    probability, at_input = evidence.by_layer[-1], evidence.by_layer[0]
    left, right = st.columns(2, gap="large")
    with left:
        weights = dict(zip(PARTS, evidence.attention[-1].tolist(), strict=True))
        uniform = dict(zip(PARTS, evidence.uniform_attention.tolist(), strict=True))
        part = max(weights, key=weights.__getitem__)
        layout.chart(
            figures.cls_attention(evidence),
            key="nsp-looks",
            finding=f"In the last layer [CLS] attends most to {part}: {weights[part]:.0%} of its attention, where "
            f"attending to all tokens alike would give {uniform[part]:.0%} (last bar). Mean over the heads of each layer.",
            alt="Share of the attention of [CLS] to itself, A, [SEP] and B in each layer.",
        )
    with right:
        layout.chart(
            figures.by_layer(evidence),
            key="nsp-layers",
            finding=f"P(IsNext) goes from {at_input:.2f} before the first layer, where [CLS] has seen nothing and any pair "
            f"gives this number, to {probability:.2f} after the last. The head was trained on the last layer only.",
            alt="P(IsNext) after each layer: " + ", ".join(f"{value:.2f}" for value in evidence.by_layer),
        )
    (layer, head), without = evidence.strongest_head
    layout.chart(
        figures.head_ablation(evidence),
        key="nsp-heads",
        finding=f"Of {evidence.ablated.size} heads, layer {layer + 1} head {head + 1} matters most: switched off, P(IsNext) "
        f"is {without:.3f} instead of {probability:.3f}.",
        alt=f"P(IsNext) with each head switched off; layer {layer + 1} head {head + 1} changes it most, to {without:.3f}.",
    )
    sample_picker()
