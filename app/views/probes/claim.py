"""Is it real? “Layer l knows t”, stated before looking."""

import streamlit as st

from app import session
from app.widgets import claim
from probes.probing import experiment, tasks

WORK = "app.work.claims:layer_knows"
JOB = "layer_claim"  # in the address


def show() -> None:
    """A layer and a task of the reader, for the model above."""
    st.markdown(claim.RULE)
    bert = session.bert()
    titles = {task.name: task.title for task in tasks.available(session.dataset(experiment.READER, None).sentences)}
    first, second = st.columns(2)
    layer = first.selectbox(
        "Layer",
        list(range(bert.config.num_hidden_layers + 1)),
        index=min(4, bert.config.num_hidden_layers),
        format_func=lambda layer: "0, the embeddings" if layer == 0 else str(layer),
        key="claim-layer",
    )
    task = second.selectbox(
        "knows", list(titles), index=list(titles).index("number"), format_func=titles.__getitem__, key="claim-task"
    )
    claim.ask(WORK, JOB, f"Is it real? Layer {layer} knows {titles[task]}", {"task": task, "layer": layer})
