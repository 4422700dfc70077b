"""Train: replay how a BERT learned, watch one that learns now, and order a training of one's own."""

from pathlib import Path

import streamlit as st

from app import jobs, layout, limits, ownership, session
from app.jobs import panel
from app.views.train import replay
from app.widgets import experiment_page, model_name
from app.widgets.choice import SECTION, choice
from app.work import training
from model import InputError
from probes import training_replay

WORK = "app.work.training:train"
SOURCES = {training.SMALL_WORLD: "Small world (generated)", "paste": "Text I paste", "upload": "A file I upload"}
SIZES = {"tiny": "tiny: 2 layers of 128", "mini": "mini: 4 layers of 256", "small": "small: 4 layers of 512"}
SHOW = {"replay": "Replay", "own": "Train your own"}
EVERY = 3.0  # seconds: drawing takes processor time from the training it shows


def page() -> None:
    layout.title("Train", "How does BERT come to know anything? Watch one learn, step by step, or train your own.")
    running = jobs.running()
    if running is not None and (running.work != WORK or not ownership.is_mine(running)):
        running = None
    if running and "show" not in st.query_params:
        st.session_state.setdefault("show", "own")
    if choice(SECTION, SHOW, "show") == "own":
        _own()
        return
    if running:
        st.info(f"A training is under way: {layout.escape(running.title)}. It is shown under “{SHOW['own']}”.")
    replay.show()


def _own() -> None:
    """The training under way or the last one, those that wait, and the form for another."""
    orders = experiment_page.watch_and_order(WORK, "Set up a training run", _form, _progress, _open_replay, EVERY)
    current = experiment_page.current_job(orders)
    if current and current.state == "done":
        name = layout.escape(Path(current.arguments["out"]).name)
        st.success(f"“{name}” is trained: it is in the list of models, and under “{SHOW['replay']}”.")


def _open_replay(job: jobs.Job) -> None:
    if job.state == "done":
        st.session_state.update(run=Path(job.arguments["out"]).name, show="replay")


def _progress(job: jobs.Job) -> None:
    """How fast and how good a training is, and what it makes of a sentence."""
    run = Path(job.arguments["out"])
    _metrics(job.last_progress)
    history, ceiling = training_replay.course(job.progress), training_replay.ceiling(run)
    left, right = st.columns(2, gap="large")
    with left:
        _sentence(run)
    with right:
        if len(history) > 1:
            replay.accuracies(history, ceiling)
            replay.losses(history, ceiling)


def _metrics(progress: dict) -> None:
    columns = st.columns(4)
    speed, eta = progress.get("tokens_per_second"), progress.get("eta")
    columns[0].metric("Wordpieces a second", "–" if speed is None else f"{speed:,.0f}")
    columns[1].metric("Time left", "–" if eta is None else panel.format_duration(eta))
    for column, name, label in (
        (columns[2], "heldout_mlm_accuracy", "MLM accuracy"),
        (columns[3], "heldout_nsp_accuracy", "NSP accuracy"),
    ):
        accuracy = progress.get(name)
        column.metric(label, "–" if accuracy is None else f"{accuracy:.1%}", help="On held-out documents.")


def _sentence(run: Path) -> None:
    """A sentence of the reader's, predicted again by every snapshot."""
    snapshots = session.training_snapshots(run)
    if not snapshots:
        return
    text = st.text_input(
        "A sentence with [MASK] for one hidden word",
        training_replay.question(run),
        key=f"live-{run.name}",
        max_chars=limits.TEXT_CHARACTERS,
    )
    try:
        predictions = {snapshot.step: session.snapshot_prediction(snapshot.path, text) for snapshot in snapshots}
    except InputError as error:
        st.warning(layout.escape(f"{error} Write [MASK] where a word is missing."))
        return
    replay.word_probabilities(predictions, "followed-live")
    step, prediction = list(predictions.items())[-1]
    st.caption(f"Its first choices after {step:,} steps:")
    st.dataframe(
        prediction.top(5),
        hide_index=True,
        column_config={"probability": st.column_config.NumberColumn(format="percent")},
        alt=f"The most probable words after {step:,} steps",
    )


def _form() -> None:
    source = st.radio("Learn from", list(SOURCES), format_func=SOURCES.__getitem__, horizontal=True, key="source")
    content = b""
    if source == "paste":
        content = st.text_area(
            "Text",
            key="pasted",
            height=180,
            max_chars=limits.TRAIN_TEXT_CHARACTERS,
            help="Whole sentences; a blank line between documents.",
        ).encode("utf-8", "replace")
    elif source == "upload":
        file = st.file_uploader("A UTF-8 text file, a blank line between documents", type=["txt"], key="uploaded")
        content = file.getvalue() if file else b""
    else:
        st.caption(
            f"{training.STORIES:,} little stories of a grammar: small enough to be learned in three minutes while a "
            "class watches, and everything that is true in them is known."
        )
    first, second, third = st.columns(3, gap="large")
    preset = first.selectbox("Size", list(SIZES), format_func=SIZES.__getitem__, key="size")
    length = second.select_slider("Length in wordpieces", [32, 64, 80, 128, 256], 80, key="length")
    minutes = third.number_input("Minutes", 0.5, float(limits.TRAIN_MINUTES), 3.0, 0.5, "%g", key="minutes")
    masked, replaced = st.slider(
        "Of the selected words: [MASK] up to the first mark, random up to the second, unchanged after it",
        0,
        100,
        (80, 90),
        5,
        key="mix",
        format="%d %%",
        help="Devlin et al. (2019) select 15 % of the words; "
        "of these 80 % are masked, 10 % replaced by a random word, 10 % left unchanged.",
    )
    st.caption(f"{masked} % masked, {replaced - masked} % random, {100 - replaced} % unchanged")
    free = model_name.free_name("my-bert")
    name = st.text_input("Name of the model", free, key=f"name-{free}", max_chars=40)
    if st.button("Train", type="primary", icon=":material/school:"):
        mix = {"mask": masked / 100, "random": (replaced - masked) / 100, "keep": (100 - replaced) / 100}
        _submit(name, content, {"source": source, "preset": preset, "minutes": minutes, "length": length, "masking": mix})
        st.rerun()


def _submit(name: str, content: bytes, settings: dict) -> None:
    out = model_name.folder(name)
    words = len(content.split())
    if settings["source"] != training.SMALL_WORLD and words < limits.TRAIN_WORDS_LEAST:
        raise InputError(
            f"That is too little text to learn from: {words} words, at least {limits.TRAIN_WORDS_LEAST} are needed, "
            "better many thousands."
        )
    ownership.submit(
        WORK,
        settings | {"out": str(out)},
        f"{name}: {SIZES[settings['preset']]}, {settings['minutes']:g} min",
        {training.TEXT: content} if content else None,
    )
