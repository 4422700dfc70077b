"""Probes: order an experiment, watch its layers come in, and look at what was found."""

import streamlit as st

from app import jobs, layout, limits, session
from app.figures import probes as figures
from app.jobs import panel
from app.views.probes import result as probe_result
from app.widgets import dataset
from model import InputProblem
from probes.probing import experiment, features, results, tasks
from probes.probing.results import Result

WORK = probe_result.WORK
PROBES = {"linear": "linear", "rank": "linear of low rank", "hidden": "one hidden layer"}
TREE = "the whole tree (structural probe)"


def page() -> None:
    layout.title("Probes", "What is written in each layer, and would memory alone or random weights do as well?")
    ordered = [job for job in jobs.all() if job.work == WORK]
    with st.expander("Ask a question", icon=":material/add_circle:", expanded=True):
        _ask()
    current = next((job for job in ordered if job.busy), ordered[0] if ordered else None)
    if current and current.state != "done":
        st.fragment(_live, run_every=1.5 if current.busy else None)(current.id, current.busy)
    found, trouble = _found(ordered)
    probe_result.passed_over(trouble)
    probe_result.show(found)
    _reopen()


def _ask() -> None:
    """Data, task and model in, a job out."""
    first, second, third = st.columns(3)
    chosen = dataset.choose(first, "Data", experiment.SMALL_WORLD, "data")
    if chosen is None:
        return
    if chosen.bank.pairs:
        st.info(layout.plain(experiment.PAIRS.format(chosen.bank.name)))
        return
    titles = {task.name: task.title for task in tasks.available(chosen.bank.sentences)}
    if any(sentence.heads for sentence in chosen.bank.sentences):
        titles["tree"] = TREE
    task = second.selectbox("Question about each word, pair or sentence", list(titles), format_func=titles.__getitem__)
    probe = third.selectbox("Probe", list(PROBES), format_func=PROBES.__getitem__,
                            help="Linear is the one to believe; the others show what a stronger probe can memorise.")
    button, more, said = st.columns([1.2, 1.2, 4], vertical_alignment="center")
    with more:
        settings = _settings(task)
    said.caption(f"{len(chosen.bank):,} sentences; the model is the one in the sidebar. A copy of it with random weights, "
                 "the control task and the most frequent label are always computed with it.")
    if button.button("Train probes", type="primary", icon=":material/play_arrow:", width="stretch"):
        twin = settings.pop("twin")
        arguments = {"model": session.source() + (":random" if twin else ""), "task": task, "probe": probe, **settings,
                     **chosen.arguments}
        jobs.submit(WORK, arguments, f"{titles[task]} in {session.bert().about.name}", chosen.files)
        st.rerun()


def _settings(task: str) -> dict:
    with st.popover("More settings", icon=":material/tune:"):
        made = {
            "layers": st.text_input("Layers", "all", help="all, or numbers such as 0,2-4; 0 is the embeddings."),
            "pooling": st.selectbox("Pieces of a word", features.POOLINGS,
                                    help="A word may be several pieces: its first, its last, or their mean."),
            "limit": st.number_input("Examples to learn from", 100, limits.PROBE_EXAMPLES, 10_000, step=1000),
            "width": st.number_input("Rank or width", 1, 512, 64,
                                     help="Of low-rank, hidden-layer and structural probes."),
            "seeds": st.number_input("Seeds", 1, 10, 3, help="How often all is repeated, with split, control task and "
                                                             "random weights drawn anew."),
            "seed": st.number_input("First seed", 0, 10_000, 0, help="The same seed gives the same numbers."),
            "twin": st.checkbox("Probe random weights (random-init) themselves")}
        if task != "tree":
            made |= {"bits": st.checkbox("Code length in bits", help="Voita & Titov (2020)"),
                     "mix": st.checkbox("Mix of all layers", help="Tenney et al. (2019)")}
    return made


def _live(id: str, was_busy: bool) -> None:
    """How far a job is, and the layers that are already there."""
    job = jobs.find(id)
    result = probe_result.stored([job])[0].get(id)
    if was_busy and not job.busy:
        if result is not None:
            probe_result.want(_name(result, id))
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**{layout.plain(job.title)}**")
        panel.bar(job)
        panel.buttons(job)
        if result is not None and job.busy:
            layout.chart(figures.curve(result), key="growing",
                        looking=f"{len(result.rows)} layers are done, counted over all seeds, with their baselines; the "
                                "others follow.",
                        alt=f"Scores of the first {len(result.rows)} layers with their baselines.")


def _found(ordered: list[jobs.Job]) -> tuple[dict[str, Result], list[str]]:
    """Everything that can be looked at, the newest first: what was opened, computed here, and comes with the project;
    and a sentence for each that cannot be read."""
    ready = [job for job in ordered if job.state in ("done", "stopped")][: limits.RESULTS_LISTED]
    computed, trouble = probe_result.stored(ready)
    found: dict[str, Result] = dict(st.session_state.get("probe-opened", {}))
    found |= {_name(result, id): result for id, result in computed.items()}
    return found | {f"{result.name} · {result.settings['data']} (example)": result for result in session.probed()}, trouble


def _name(result: Result, id: str) -> str:
    part = "" if result.finished else ", unfinished"
    return f"{result.name} · {result.settings['data']} ({id[4:6]}-{id[6:8]} {id[9:11]}:{id[11:13]}:{id[13:15]}{part})"


def _reopen() -> None:
    with st.expander("Open a saved result", icon=":material/folder_open:"):
        file = st.file_uploader("A result saved as JSON", type=["json"], key="probe-file",
                                max_upload_size=limits.UPLOAD_MEGABYTES)
        opened = st.session_state.setdefault("probe-opened", {})
        if file is not None and f"{file.name} (opened)" not in opened:
            try:
                opened[f"{file.name} (opened)"] = results.parse(file.getvalue().decode("utf-8", "replace"), file.name)
            except InputProblem as problem:
                st.error(layout.plain(str(problem)))
                return
            probe_result.want(f"{file.name} (opened)")
            st.rerun()
