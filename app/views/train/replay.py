"""The half of the Train page that replays: a slider over snapshots moves predictions and attention together."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app import layout, limits, session
from app.figures import training, word_bars
from probes import training_replay

PACE = 0.9  # seconds a snapshot is shown while playing


def show() -> None:
    """Choose a run and a sentence, and look at one snapshot after the other."""
    runs = {found.name: found.path for found in session.models() if (found.path / "snapshots").is_dir()}
    if not runs:
        st.info("No model in the list has kept snapshots of its training yet: train one here.")
        return
    names = sorted(runs, key=lambda name: name != "smallworld")
    left, right = st.columns([1, 3])
    with left:
        run = layout.choice("Run", names, "run", names[0])
    text = right.text_input("A sentence with [MASK] for one hidden word", training_replay.question(runs[run]),
                            bind="query-params",
                            key=f"asked-{run}", max_chars=limits.TEXT_CHARACTERS)
    answers = {snapshot.step: session.answered(snapshot.path, text) for snapshot in training_replay.snapshots(runs[run])}
    st.fragment(_moment, run_every=PACE if st.session_state.get("playing") else None)(runs[run], answers)


def _moment(run: Path, answers: dict[int, training_replay.Answer]) -> None:
    """One snapshot: predictions, attention and the mark in the curves follow the slider."""
    step = _chosen(list(answers))
    said, followed = answers[step], training_replay.followed(answers)
    left, right = st.columns(2, gap="large")
    with left:
        best = pd.DataFrame(list(said.words.items())[:6], columns=["word", "probability"])
        layout.chart(word_bars.bars(best), key="said",
                    looking=f"What you are looking at: what the model says behind [MASK] after **{step:,}** steps.",
                    alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()))
        spoken(followed, "followed", step)
    with right:
        layer, head = _head(said, training_replay.telling(list(answers.values())[-1]))
        layout.chart(training.attention(said.attention[layer, head], said.texts, said.place), key="head",
                    looking=f"What you are looking at: where layer {layer + 1}, head {head + 1} looked after {step:,} "
                            "steps, a row for each word; the hidden one is framed.",
                    alt=f"Attention of layer {layer + 1}, head {head + 1} after {step:,} steps.")
    rows, ceiling = training_replay.history(run), training_replay.ceiling(run)
    left, right = st.columns(2, gap="large")
    with left:
        accuracies(rows, ceiling, step)
    with right:
        losses(rows, ceiling, step)


def _chosen(steps: list[int]) -> int:
    """The snapshot on the slider; while playing, the next one at every look."""
    playing, now = st.session_state.get("playing", False), st.session_state.get("snapshot")
    if now not in steps:
        st.session_state["snapshot"] = now = steps[-1]
    if st.session_state.pop("rewind", False):
        st.session_state["snapshot"] = now = steps[0]
    elif playing and now == steps[-1]:
        st.session_state["playing"] = False
        st.rerun()
    elif playing:
        st.session_state["snapshot"] = now = steps[steps.index(now) + 1]
    button, slider = st.columns([1, 6], vertical_alignment="bottom")
    if button.button("Pause" if playing else "Play", icon=":material/pause:" if playing else ":material/play_arrow:",
                     width="stretch"):
        st.session_state["playing"] = not playing
        if not playing and now == steps[-1]:
            st.session_state["rewind"] = True
        st.rerun()
    return slider.select_slider("Snapshot after training step", steps, key="snapshot",
                                format_func=lambda one: f"{one:,}")


def _head(said: training_replay.Answer, telling: int) -> tuple[int, int]:
    layers, heads = said.attention.shape[:2]
    options = [(layer, head) for layer in range(layers) for head in range(heads)]
    return st.selectbox("Head", options, index=telling, key="replay-head",
                        format_func=lambda one: f"layer {one[0] + 1}, head {one[1] + 1}")


def spoken(followed: pd.DataFrame, key: str, now: int | None = None) -> None:
    """The probability of a few words at every snapshot."""
    layout.chart(training.spoken(followed, now), key=key,
                looking="What you are looking at: how probable these words were at every snapshot.",
                alt="Lines of the probability of " + ", ".join(dict.fromkeys(followed["word"])) + " by step.")


def accuracies(rows: pd.DataFrame, ceiling: dict[str, float], now: int | None = None) -> None:
    """Held-out accuracies beside chance and the best possible."""
    best = (" Dashed: the best that any model could reach, computed from the grammar that told the stories."
            if ceiling else "")
    layout.chart(training.accuracies(rows, ceiling.get("accuracy"), now), key="accuracies",
                looking="What you are looking at: masked words named and pairs judged in held-out documents." + best,
                alt="Held-out accuracy of masked words and of pairs by training step."
                    + (f" The best possible for words is {ceiling['accuracy']:.1%}." if ceiling else ""))


def losses(rows: pd.DataFrame, ceiling: dict[str, float], now: int | None = None) -> None:
    """The losses of the training batches beside the least possible."""
    layout.chart(training.losses(rows, ceiling.get("loss"), now), key="losses",
                looking="What you are looking at: the two losses of the training batches; lower is better.",
                alt="Masked-word and next-sentence loss by training step.")
