"""Train: watch a BERT learn, replay how one learned, and order a training of your own."""

import os
import re
from pathlib import Path

import pandas as pd
import streamlit as st

from app import frame, jobs, limits, panel, state
from app.figures import training, words
from model import InputProblem, lesson
from probes import replay

WORK = "model.lesson:learn"
SENTENCE = "Every Monday Anna goes to the library with her [MASK]. They want to read a book."
SOURCES = {lesson.SMALL_WORLD: "The small world", "paste": "Text I paste", "upload": "A file I upload"}
SIZES = {"tiny": "tiny: 2 layers of 128", "mini": "mini: 4 layers of 256", "small": "small: 4 layers of 512"}


def page() -> None:
    frame.title("Train", "How does BERT come to know anything? Watch one learn, step by step, or train your own.")
    order = _current()
    choices = ["Replay", "Train your own"]
    shown = st.segmented_control("Show", choices, default=choices[1 if order and order.busy else 0], required=True,
                                 key="show", bind="query-params", label_visibility="collapsed")
    if order and order.busy and shown == "Replay":
        st.info(f"A training is under way: {frame.plain(order.title)}. See “Train your own”.", icon=":material/school:")
    if shown == "Replay":
        _replay()
    else:
        _order(order)


def _current() -> jobs.Job | None:
    """The training under way, or else the newest one."""
    trainings = [job for job in jobs.all() if job.work == WORK]
    return next((job for job in trainings if job.state == "running"), trainings[0] if trainings else None)


def _replay() -> None:
    runs = {found.name: found.path for found in state.models() if (found.path / "snapshots").is_dir()}
    if not runs:
        st.info("No model in the list has kept snapshots of its training yet: train one here.")
        return
    names = sorted(runs, key=lambda name: name != "smallworld")
    left, right = st.columns([1, 3])
    run = left.selectbox("Run", names, key="run", bind="query-params")
    text = right.text_input("A sentence with one hidden word", SENTENCE, key="asked", bind="query-params",
                            max_chars=limits.TEXT_CHARACTERS)
    kept = replay.snapshots(runs[run])
    answers = {snapshot.step: state.answered(snapshot.path, text) for snapshot in kept}
    st.fragment(_moment, run_every=0.9 if st.session_state.get("playing") else None)(runs[run], answers)


def _moment(run: Path, answers: dict[int, replay.Answer]) -> None:
    """One snapshot: the slider moves predictions, attention and the mark in the curves together."""
    steps = list(answers)
    chosen = st.session_state.get("snapshot")
    if chosen not in steps:
        st.session_state["snapshot"] = chosen = steps[-1]
    if st.session_state.get("playing"):
        if chosen == steps[-1]:
            st.session_state["playing"] = False
            st.rerun()
        st.session_state["snapshot"] = chosen = steps[steps.index(chosen) + 1]
    button, slider = st.columns([1, 6], vertical_alignment="bottom")
    if button.button("Stop" if st.session_state.get("playing") else "Play",
                     icon=":material/pause:" if st.session_state.get("playing") else ":material/play_arrow:"):
        st.session_state["playing"] = not st.session_state.get("playing")
        if st.session_state["playing"]:
            st.session_state["snapshot"] = steps[0]
        st.rerun()
    step = slider.select_slider("Snapshot after training step", steps, key="snapshot", format_func=lambda one: f"{one:,}")
    said = answers[step]
    left, right = st.columns(2, gap="large")
    with left:
        best = pd.DataFrame(list(said.words.items())[:6], columns=["word", "probability"])
        frame.chart(words.bars(best), key="said",
                    looking=f"What you are looking at: what the model says behind [MASK] after **{step:,}** steps.",
                    alt="Bars: " + ", ".join(f"{row.word} {row.probability:.0%}" for row in best.itertuples()))
        followed = replay.followed(answers)
        frame.chart(training.spoken(followed, step), key="followed",
                    looking="What you are looking at: how probable these words were at every snapshot.",
                    alt="Lines of the probability of " + ", ".join(dict.fromkeys(followed["word"])) + " by step.")
    with right:
        layer, head = _head(said)
        frame.chart(training.attention(said.attention[layer, head], said.texts, said.place), key="head",
                    looking=f"What you are looking at: where layer {layer + 1}, head {head + 1} looked after {step:,} "
                            "steps, a row for each word; the hidden one is framed.",
                    alt=f"Attention of layer {layer + 1}, head {head + 1} after {step:,} steps.")
    _curves(replay.history(run), replay.ceiling(run), step)


def _head(said: replay.Answer) -> tuple[int, int]:
    layers, heads = said.attention.shape[:2]
    options = [(layer, head) for layer in range(layers) for head in range(heads)]
    return st.selectbox("Head", options, index=len(options) - heads, key="replay-head",
                        format_func=lambda one: f"layer {one[0] + 1}, head {one[1] + 1}")


def _curves(rows: pd.DataFrame, ceiling: dict[str, float], now: int | None = None) -> None:
    best = (" The dashed line is the best that any model could reach, computed from the grammar that told the stories."
            if ceiling else "")
    left, right = st.columns(2, gap="large")
    with left:
        frame.chart(training.accuracies(rows, ceiling.get("accuracy"), now), key="accuracies",
                    looking="What you are looking at: held-out masked words named and pairs judged." + best,
                    alt="Held-out accuracy of masked words and of pairs by training step.")
    with right:
        frame.chart(training.losses(rows, ceiling.get("loss"), now), key="losses",
                    looking="What you are looking at: the two losses of the training batches; lower is better.",
                    alt="Masked-word and next-sentence loss by training step.")


def _order(order: jobs.Job | None) -> None:
    if order and (order.busy or order.state in ("stopped", "failed")):
        st.fragment(_live, run_every=2.0 if order.busy else None)(order.id, order.busy)
    elif order and order.state == "done":
        name = Path(order.arguments["out"]).name
        st.success(f"“{frame.plain(name)}” is trained: it is in the list of models, and under “Replay”.")
    waiting = order is not None and order.busy
    with st.expander("Order a training" + (" (it will wait for its turn)" if waiting else ""), expanded=not waiting):
        _form()


def _live(id: str, was_busy: bool) -> None:
    """A training under way, looked at again and again."""
    order = jobs.find(id)
    if was_busy and not order.busy:
        if order.state == "done":
            st.session_state["run"] = Path(order.arguments["out"]).name
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**{frame.plain(order.title)}**")
        panel.bar(order)
        _figures(order.last)
        panel.buttons(order)
    rows = pd.DataFrame([said for said in order.progress if "step" in said and "mlm_loss" in said])
    run = Path(order.arguments["out"])
    if len(rows) > 1:
        _curves(rows, replay.ceiling(run))
    kept = replay.snapshots(run)
    if kept:
        text = st.text_input("A sentence with one hidden word", SENTENCE, key="asked-live",
                             max_chars=limits.TEXT_CHARACTERS)
        try:
            answers = {snapshot.step: state.answered(snapshot.path, text) for snapshot in kept}
        except InputProblem as problem:
            st.warning(frame.plain(str(problem)))
            return
        followed = replay.followed(answers)
        top = next(iter(list(answers.values())[-1].words.items()))
        frame.chart(training.spoken(followed), key="followed-live",
                    looking=f"What you are looking at: what it says behind [MASK] at every snapshot so far; now "
                            f"“{frame.plain(top[0])}” with {top[1]:.0%}.",
                    alt="Lines of the probability of " + ", ".join(dict.fromkeys(followed["word"])) + " by step.")


def _figures(said: dict) -> None:
    columns = st.columns(4)
    columns[0].metric("Wordpieces a second", f"{said['tokens_per_second']:,.0f}" if "tokens_per_second" in said else "–")
    columns[1].metric("Time left", panel.spoken(said["eta"]) if "eta" in said else "–")
    for column, name, label in ((columns[2], "held_mlm_accuracy", "Masked words named"),
                                (columns[3], "held_nsp_accuracy", "Pairs judged")):
        column.metric(label, f"{said[name]:.1%}" if name in said else "–", help="On held-out documents.")


def _form() -> None:
    source = st.radio("Learn from", list(SOURCES), format_func=SOURCES.__getitem__, horizontal=True, key="source")
    content = b""
    if source == "paste":
        content = st.text_area("Text", key="pasted", height=180, max_chars=limits.TRAIN_TEXT_CHARACTERS,
                               help="Whole sentences; a blank line between documents.").encode("utf-8", "replace")
    elif source == "upload":
        file = st.file_uploader("A UTF-8 text file", type=["txt"], key="uploaded")
        content = file.getvalue() if file else b""
    else:
        st.caption("Twelve thousand little stories told by a grammar: small enough to be learned in three minutes while "
                   "a class watches, and everything that is true in them is known.")
    first, second, third = st.columns(3)
    preset = first.selectbox("Size", list(SIZES), format_func=SIZES.__getitem__, key="size")
    length = second.select_slider("Length in wordpieces", [32, 64, 80, 128, 256], 80, key="length")
    minutes = third.number_input("Minutes", 1, limits.TRAIN_MINUTES, 3, key="minutes")
    low, high = st.slider("Of the chosen words: masked | random | kept", 0, 100, (80, 90), 5, key="mix",
                          format="%d %%", help="Devlin et al. (2019) choose 15 % of the words; of these 80 % are masked, "
                          "10 % replaced by a random word, 10 % kept.")
    st.caption(f"{low} % masked, {high - low} % random, {100 - high} % kept")
    name = st.text_input("Name of the model", _free_name(), key="name", max_chars=40)
    if st.button("Train", type="primary", icon=":material/school:"):
        _submit(source, content, preset, length, float(minutes), low, high, name)
        st.rerun()


def _submit(source: str, content: bytes, preset: str, length: int, minutes: float, low: int, high: int, name: str
            ) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name, re.ASCII):
        raise InputProblem("The name of a model is made of letters, digits, - and _.")
    out = models_folder() / name
    if out.exists() or name in {found.name for found in state.models()}:
        raise InputProblem(f"There is a model called {name} already; choose another name.")
    if source != lesson.SMALL_WORLD and len(content.split()) < 200:
        raise InputProblem("That is too little text to learn from: give at least 200 words, better many thousands.")
    mix = {"mask": low / 100, "random": (high - low) / 100, "keep": (100 - high) / 100}
    arguments = {"out": str(out), "source": source, "preset": preset, "minutes": minutes, "length": length, "mix": mix}
    jobs.submit(WORK, arguments, f"{name}: {SIZES[preset]}, {minutes:g} min", {lesson.TEXT: content} if content else None)


def models_folder() -> Path:
    return Path(os.environ.get("BERTSCOPE_MODELS", "checkpoints")).absolute()


def _free_name() -> str:
    taken = {entry.name for entry in models_folder().iterdir()} if models_folder().is_dir() else set()
    return next(name for name in (f"my-bert-{number}" for number in range(1, 1000)) if name not in taken)
