"""Probes: order an experiment, watch its layers come in, and open a result."""

from typing import Any

import streamlit as st

from app import jobs, layout, limits, ownership, session
from app.figures import probes as figures
from app.views.probes import result as result_view
from app.widgets import dataset, experiment_page
from app.widgets.experiment_page import Experiment, ListedResult
from model import InputError
from probes.probing import experiment, features, tasks
from probes.probing.results import ProbingResult
from probes.results import RESULT

PROBES = {"linear": "linear", "rank": "linear of low rank", "hidden": "one hidden layer"}
TREE = "the whole tree (structural probe)"
SINGLE = tuple(name for name in experiment.BUNDLED_DATA if name != experiment.PAIRS)  # a probe reads single sentences
FILES = "probing results of files"  # in the session: slug -> what the reader opened


def page() -> None:
    layout.title("Probes", "What is written in each layer, and would memory alone or random weights do as well?")
    experiment_page.page(EXPERIMENT, st.session_state.get(FILES, {}))
    _open_file()


def _form() -> None:
    """Data, task and model in, a job out."""
    first, second, third = st.columns(3)
    chosen = dataset.choose(first, "Data", experiment.READER, "data", SINGLE)
    if chosen is None:
        return
    treebank = chosen.treebank
    if treebank.pairs:
        st.info(
            layout.escape(
                f"{treebank.name} holds pairs of sentences; a probe reads single ones. Fine-tune learns from pairs."
            )
        )
        return
    titles = {task.name: task.title for task in tasks.available(treebank.sentences)}
    if any(sentence.heads for sentence in treebank.sentences):
        titles["tree"] = TREE
    task = second.selectbox("Question about each word, pair or sentence", list(titles), format_func=titles.__getitem__)
    probe = third.selectbox(
        "Probe",
        list(PROBES),
        format_func=PROBES.__getitem__,
        help="Linear is the one to believe; the others show what a stronger probe can memorise.",
    )
    button, more, note = st.columns([1.2, 1.2, 4], vertical_alignment="center")
    with more:
        settings, random_init = _settings(task)
    note.caption(
        f"{len(treebank):,} sentences; the model is the one chosen above. Random weights (random-init baseline), "
        "the control task and the most frequent label are always computed with it."
    )
    if button.button("Train probes", type="primary", icon=":material/play_arrow:", width="stretch"):
        arguments = {
            "model": session.checkpoint_path() + (experiment.RANDOM if random_init else ""),
            "task": task,
            "probe": probe,
            **settings,
            **chosen.arguments,
        }
        ownership.submit(EXPERIMENT.work, arguments, f"{titles[task]} in {session.bert().info.name}", chosen.files)
        st.rerun()


def _settings(task: str) -> tuple[dict[str, Any], bool]:
    """The arguments of the work that have a usual value, and whether random weights are probed instead of the model's."""
    with st.popover("More settings", icon=":material/tune:"):
        settings: dict[str, Any] = {
            "layers": st.text_input("Layers", "all", help="all, or numbers such as 0,2-4; 0 is the embeddings."),
            "pooling": st.selectbox(
                "Pieces of a word",
                features.POOLINGS,
                help="A word may be several pieces: its first, its last, or their mean.",
            ),
            "limit": st.number_input("Examples to learn from", 100, limits.PROBE_EXAMPLES, 3000, step=1000),
            "width": st.number_input("Rank or width", 1, 512, 64, help="Of low-rank, hidden-layer and structural probes."),
            "seeds": st.number_input(
                "Seeds",
                1,
                10,
                3,
                help="How often all is repeated, with control task, random weights and a drawn split anew.",
            ),
            "seed": st.number_input("First seed", 0, 10_000, 0, help="The same seed gives the same numbers."),
        }
        random_init = st.checkbox("Probe random weights (random-init) themselves")
        if task != "tree":
            settings |= {
                "code_length": st.checkbox("Description length in bits (MDL)", help="Voita & Titov (2020)"),
                "mix": st.checkbox("Mix of all layers (scalar mix)", help="Tenney et al. (2019)"),
            }
    return settings, random_init


def _preview(result: ProbingResult) -> None:
    layout.chart(
        figures.curve(result),
        key="growing",
        finding=f"{len(result.rows)} layers are done, counted over all seeds, with their baselines; the others follow.",
        alt=f"Scores of the first {len(result.rows)} layers with their baselines.",
    )


def _title(job: jobs.Job, result: ProbingResult) -> str:
    day, time = f"{job.id[4:6]}-{job.id[6:8]}", f"{job.id[9:11]}:{job.id[11:13]}:{job.id[13:15]}"
    unfinished = "" if result.finished else ", unfinished"
    return f"{result.name} · {result.settings['data']} ({day} {time}{unfinished})"


def _bundled() -> dict[str, ListedResult[ProbingResult]]:
    return {
        slug: ListedResult(f"{result.name} · {result.settings['data']} (shipped)", result)
        for slug, result in session.probing_results().items()
    }


def _open_file() -> None:
    """A result that was saved as JSON joins the list."""
    with st.expander("Open a saved result", icon=":material/folder_open:"):
        file = st.file_uploader(
            "A result saved as JSON", type=["json"], key="probe-file", max_upload_size=limits.UPLOAD_MEGABYTES
        )
        opened = st.session_state.setdefault(FILES, {})
        if file is None or f"{file.name} (opened)" in {entry.title for entry in opened.values()}:
            return
        try:
            result = ProbingResult.parse(file.getvalue().decode("utf-8", "replace"), file.name)
        except InputError as error:
            st.error(layout.escape(str(error)))
            return
        slug = f"file-{len(opened) + 1}"
        opened[slug] = ListedResult(f"{file.name} (opened)", result)
        experiment_page.open_next(EXPERIMENT.key, slug)
        st.rerun()


EXPERIMENT = Experiment(
    work=result_view.WORK,
    key="result",
    form_title="Train a probe",
    form=_form,
    file=RESULT,
    read=ProbingResult.read,
    has_scores=lambda result: bool(result.rows),
    title=_title,
    bundled=_bundled,
    preview=_preview,
    show=result_view.show,
)
