"""Train: watch a BERT learn, replay how one learned, and order a training of your own."""

from pathlib import Path

import pandas as pd
import streamlit as st

from app import jobs, layout, limits, session
from app.jobs import panel
from app.views.train import replay as replaying
from app.widgets import model_name
from app.work import training
from model import InputProblem
from probes import training_replay

WORK = "app.work.training:learn"
SOURCES = {training.SMALL_WORLD: "The small world", "paste": "Text I paste", "upload": "A file I upload"}
SIZES = {"tiny": "tiny: 2 layers of 128", "mini": "mini: 4 layers of 256", "small": "small: 4 layers of 512"}
CHOICES = ("Replay", "Train your own")
EVERY = 3.0  # seconds: drawing takes processor time from the training it shows


def page() -> None:
    layout.title("Train", "How does BERT come to know anything? Watch one learn, step by step, or train your own.")
    orders = [job for job in jobs.all() if job.work == WORK]
    under_way = next((order for order in orders if order.state == "running"), None)
    shown = st.segmented_control("Show", CHOICES, default=CHOICES[1 if under_way else 0], required=True, key="show",
                                 bind="query-params", label_visibility="collapsed")
    if shown == CHOICES[0]:
        if under_way:
            st.info(f"A training is under way: {layout.plain(under_way.title)}. It is shown under “{CHOICES[1]}”.")
        replaying.show()
    else:
        _orders(orders, under_way or next(iter(orders), None))


def _orders(orders: list[jobs.Job], first: jobs.Job | None) -> None:
    """The training under way or the last one, those that wait, and the form for another."""
    if first and first.state == "done":
        name = Path(first.arguments["out"]).name
        st.success(f"“{layout.plain(name)}” is trained: it is in the list of models, and under “{CHOICES[0]}”.")
    elif first:
        st.fragment(_live, run_every=EVERY if first.busy else None)(first.id, first.busy)
    for order in reversed(orders):
        if order.state == "waiting" and order is not first:
            panel.job(order.id)
    busy = first is not None and first.busy
    with st.expander("Order a training" + (" (it waits for its turn)" if busy else ""), expanded=not busy):
        _form()


def _live(id: str, was_busy: bool) -> None:
    """A training looked at again and again: how far it is, how good it is, what it makes of a sentence."""
    order = jobs.find(id)
    run = Path(order.arguments["out"])
    if was_busy and not order.busy:
        if order.state == "done":
            st.session_state["run"], st.session_state["show"] = run.name, CHOICES[0]
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**{layout.plain(order.title)}**")
        panel.bar(order)
        _figures(order.last)
        panel.buttons(order)
    rows, ceiling = training_replay.course(order.progress), training_replay.ceiling(run)
    left, right = st.columns(2, gap="large")
    with left:
        _sentence(run)
    with right:
        if len(rows) > 1:
            replaying.accuracies(rows, ceiling)
            replaying.losses(rows, ceiling)


def _sentence(run: Path) -> None:
    """A sentence of the reader's, asked again at every snapshot."""
    kept = training_replay.snapshots(run)
    if not kept:
        return
    text = st.text_input("A sentence with [MASK] for one hidden word", training_replay.question(run), key=f"live-{run.name}",
                         max_chars=limits.TEXT_CHARACTERS)
    try:
        answers = {snapshot.step: session.answered(snapshot.path, text) for snapshot in kept}
    except InputProblem as problem:
        st.warning(layout.plain(str(problem)))
        return
    step, last = list(answers.items())[-1]
    replaying.spoken(training_replay.followed(answers), "followed-live")
    best = pd.DataFrame(list(last.words.items())[:5], columns=["word", "probability"])
    best["probability"] = best["probability"].map("{:.1%}".format)
    st.caption(f"What it says now, after {step:,} steps:")
    st.table(best.set_index("word"))


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
        file = st.file_uploader("A UTF-8 text file, a blank line between documents", type=["txt"], key="uploaded")
        content = file.getvalue() if file else b""
    else:
        st.caption(f"{training.STORIES:,} little stories told by a grammar: small enough to be learned in three minutes "
                   "while a class watches, and everything that is true in them is known.")
    first, second, third = st.columns(3, gap="large")
    preset = first.selectbox("Size", list(SIZES), format_func=SIZES.__getitem__, key="size")
    length = second.select_slider("Length in wordpieces", [32, 64, 80, 128, 256], 80, key="length")
    minutes = third.number_input("Minutes", 0.5, float(limits.TRAIN_MINUTES), 3.0, 0.5, "%g", key="minutes")
    low, high = st.slider("Of the chosen words: masked up to the first mark, random up to the second, kept after it", 0, 100,
                          (80, 90), 5, key="mix", format="%d %%", help="Devlin et al. (2019) choose 15 % of the words; "
                          "of these 80 % are masked, 10 % replaced by a random word, 10 % kept.")
    st.caption(f"{low} % masked, {high - low} % random, {100 - high} % kept")
    free = model_name.free_name("my-bert")
    name = st.text_input("Name of the model", free, key=f"name-{free}", max_chars=40)
    if st.button("Train", type="primary", icon=":material/school:"):
        mix = {"mask": low / 100, "random": (high - low) / 100, "keep": (100 - high) / 100}
        _submit(name, content, {"source": source, "preset": preset, "minutes": minutes, "length": length,
                                "mix": mix})
        st.rerun()


def _submit(name: str, content: bytes, settings: dict) -> None:
    out = model_name.folder(name)
    if settings["source"] != training.SMALL_WORLD and len(content.split()) < limits.TRAIN_WORDS_LEAST:
        raise InputProblem(f"That is too little text to learn from: give at least {limits.TRAIN_WORDS_LEAST} words, "
                           "better many thousands.")
    jobs.submit(WORK, settings | {"out": str(out)}, f"{name}: {SIZES[settings['preset']]}, {settings['minutes']:g} min",
                {training.TEXT: content} if content else None)
