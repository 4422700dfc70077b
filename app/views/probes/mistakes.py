"""The mistakes of a probe: which label it takes for which, the test examples themselves, precision and recall."""

from urllib.parse import quote

import streamlit as st

from app import layout
from app.figures import mistakes as mistake_figures
from app.views.probes.live_probe import RANDOM
from app.widgets import confusion
from probes.probing import results
from probes.probing.results import ProbingResult


def show(result: ProbingResult) -> None:
    """Of one layer, the best to begin with."""
    if not result.confusion:
        st.info("The structural probe draws trees, it gives no labels to confuse: see the live probe.")
        return
    layers, best = sorted(int(layer) for layer in result.confusion), int(results.best_row(result)["layer"])
    layer = st.selectbox(
        "Layer",
        layers,
        index=layers.index(best) if best in layers else len(layers) - 1,
        format_func=lambda layer: "0, the embeddings" if layer == 0 else str(layer),
    )
    left, right = st.columns(2, gap="large")
    with left:
        confusion.chart(result.confusion[str(layer)], result.classes, f"layer {layer}", "confusion")
    with right:
        wrong = result.mistakes.get(str(layer), [])
        st.caption(f"{len(wrong)} of the wrong test examples. Click one to open it in Attention.")
        model = quote(result.settings["model"].removesuffix(RANDOM))
        st.html(mistake_figures.listed(wrong, f"attention?model={model}"))
    labels = result.labels.get(str(layer), [])
    if not labels:
        return
    worst = min(labels, key=lambda label: label["f1"])
    st.caption(
        layout.escape(
            f"F1 from {worst['f1']:.0%} ({worst['label']}, {worst['count']} test examples) to "
            f"{max(label['f1'] for label in labels):.0%}: of the examples with this predicted label, how many have it "
            "(precision); of those that have it, how many get it (recall); their harmonic mean (F1). A label "
            f"of few examples says little. Seed {result.settings['seed']}."
        )
    )
    percent = {name: st.column_config.NumberColumn(format="percent") for name in ("precision", "recall", "f1")}
    st.dataframe(labels, hide_index=True, width="content", column_config=percent)
