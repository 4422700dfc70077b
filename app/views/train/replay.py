"""The half of the Train page that replays: a slider over snapshots moves predictions and attention together."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import training, word_bars
from app.widgets.dropdown import dropdown
from probes import training_replay
from probes.training_replay import SnapshotPrediction

PACE = 0.9  # seconds a snapshot is on the screen while playing
WORDS = 6  # first choices of a snapshot


def show() -> None:
    """Choose a run and a sentence, and go from snapshot to snapshot."""
    runs = {info.name: info.path for info in session.models() if (info.path / "snapshots").is_dir()}
    if not runs:
        st.info("No model in the list has snapshots of its training yet: train one here.")
        return
    names = sorted(runs, key=lambda name: name != "smallworld")
    left, right = st.columns([1, 3])
    with left:
        name = layout.choice("Run", names, "run", names[0])
    text = right.text_input(
        "A sentence with [MASK] for one hidden word",
        training_replay.question(runs[name]),
        bind="query-params",
        key=f"text-{name}",
        max_chars=limits.TEXT_CHARACTERS,
    )
    snapshots = session.training_snapshots(runs[name])
    predictions = {snapshot.step: session.snapshot_prediction(snapshot.path, text) for snapshot in snapshots}
    st.fragment(_snapshot, run_every=PACE if st.session_state.get("playing") else None)(runs[name], predictions)


def _snapshot(run: Path, predictions: dict[int, SnapshotPrediction]) -> None:
    """One snapshot: predictions, attention and the mark in the curves follow the slider."""
    step = _chosen_step(list(predictions))
    prediction = predictions[step]
    left, right = st.columns(2, gap="large")
    with left:
        _first_choices(prediction, step)
        word_probabilities(predictions, "followed", step)
    with right:
        _attention(prediction, step, list(predictions.values())[-1].head)
    history, ceiling = session.training_history(run), training_replay.ceiling(run)
    left, right = st.columns(2, gap="large")
    with left:
        accuracies(history, ceiling, step)
    with right:
        losses(history, ceiling, step)


def _first_choices(prediction: SnapshotPrediction, step: int) -> None:
    words = prediction.top(WORDS)
    first, second = list(words.itertuples())[:2]
    layout.chart(
        word_bars.bars(words),
        key="first-choices",
        finding=f"After **{step:,}** steps the first choice behind [MASK] is *{layout.escape(str(first.word))}* "
        f"({first.probability:.1%}), the second *{layout.escape(str(second.word))}* ({second.probability:.1%}).",
        alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in words.itertuples()),
    )


def _attention(prediction: SnapshotPrediction, step: int, default: tuple[int, int]) -> None:
    layers, heads = prediction.attention.shape[:2]
    names = {
        f"{layer + 1}.{head + 1}": f"layer {layer + 1}, head {head + 1}" for layer in range(layers) for head in range(heads)
    }
    chosen = dropdown("Head", names, "replay_head", f"{default[0] + 1}.{default[1] + 1}")
    layer, head = (int(number) - 1 for number in chosen.split("."))
    wordpiece, weight = prediction.strongest_target(layer, head)
    layout.chart(
        training.attention(prediction.attention[layer, head], prediction.texts, prediction.place),
        key="head",
        finding=f"After {step:,} steps layer {layer + 1}, head {head + 1} attends from [MASK] most to "
        f"*{layout.escape(wordpiece)}* ({weight:.0%}; alike to all {len(prediction.texts)} tokens would be "
        f"{1 / len(prediction.texts):.0%}). Rows: from (query), [MASK] framed; columns: to (key).",
        alt=f"Attention of layer {layer + 1}, head {head + 1} after {step:,} steps.",
    )


def _chosen_step(steps: list[int]) -> int:
    """The snapshot on the slider; while playing, the next one at every look."""
    playing, now = st.session_state.get("playing", False), st.session_state.get("snapshot")
    if now not in steps:
        linked = st.query_params.get("step", "")
        st.session_state["snapshot"] = now = int(linked) if linked in map(str, steps) else steps[-1]
    if st.session_state.pop("rewind", False):
        st.session_state["snapshot"] = now = steps[0]
    elif playing and now == steps[-1]:
        st.session_state["playing"] = False
        st.rerun()
    elif playing:
        st.session_state["snapshot"] = now = steps[steps.index(now) + 1]
    button, slider = st.columns([1, 6], vertical_alignment="bottom")
    if button.button(
        "Pause" if playing else "Play", icon=":material/pause:" if playing else ":material/play_arrow:", width="stretch"
    ):
        st.session_state["playing"] = not playing
        if not playing and now == steps[-1]:
            st.session_state["rewind"] = True
        st.rerun()
    step = slider.select_slider("Snapshot after training step", steps, key="snapshot", format_func="{:,}".format)
    if step == steps[-1]:
        st.query_params.pop("step", None)
    elif st.query_params.get("step") != str(step):
        st.query_params["step"] = str(step)
    return step


def word_probabilities(predictions: dict[int, SnapshotPrediction], key: str, step: int | None = None) -> None:
    """The probability of a few words at every snapshot."""
    (first_step, first), *_, (last_step, last) = [*predictions.items(), *predictions.items()]
    word, probability = next(iter(last.words.items()))
    followed = training_replay.followed(predictions)
    layout.chart(
        training.spoken(followed, step),
        key=key,
        finding=f"*{layout.escape(word)}*, the first choice at step {last_step:,} ({probability:.1%}), had "
        f"{first.words.get(word, 0.0):.1%} at step {first_step:,}. A line for each word that was ever first, or is "
        "probable at the end.",
        alt="Lines of the probability of " + ", ".join(dict.fromkeys(followed["word"])) + " by step.",
    )


def accuracies(history: pd.DataFrame, ceiling: dict[str, float], step: int | None = None) -> None:
    """MLM and NSP accuracy on held-out documents, beside chance and the best possible."""
    values = training_replay.values_at(history, step)
    measured = [
        f"{label} {values[name]:.1%}{baseline}"
        for name, label, baseline in (
            ("heldout_mlm_accuracy", "MLM accuracy", f" (best possible {ceiling['accuracy']:.1%})" if ceiling else ""),
            ("heldout_nsp_accuracy", "NSP accuracy", " (guessing: 50 %)"),
        )
        if name in values
    ]
    best = " Dashed: the best that any model could reach, computed from the grammar of the stories." if ceiling else ""
    layout.chart(
        training.accuracies(history, ceiling.get("accuracy"), step),
        key="accuracies",
        finding=f"{' and '.join(measured) or 'Nothing measured yet'} on held-out documents at step "
        f"{values.get('step', 0):,.0f}.{best}",
        alt="Held-out accuracy of masked words and of pairs by training step."
        + (f" The best possible for words is {ceiling['accuracy']:.1%}." if ceiling else ""),
    )


def losses(history: pd.DataFrame, ceiling: dict[str, float], step: int | None = None) -> None:
    """MLM and NSP loss of the training batches, beside the least possible."""
    values = training_replay.values_at(history, step)
    measured = [
        f"{label} {values[name]:.2f}{baseline}"
        for name, label, baseline in (
            ("mlm_loss", "MLM loss", f" (least possible {ceiling['loss']:.2f})" if ceiling else ""),
            ("nsp_loss", "NSP loss", " (guessing: 0.69)"),
        )
        if name in values
    ]
    layout.chart(
        training.losses(history, ceiling.get("loss"), step),
        key="losses",
        finding=f"{' and '.join(measured) or 'Nothing measured yet'} on the training batches at step "
        f"{values.get('step', 0):,.0f}, in nats; lower is better.",
        alt="Masked-word and next-sentence loss by training step.",
    )
