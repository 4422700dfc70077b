"""Fine-tune: one output layer is added and all of BERT learns a task, beside what it must beat, and live on any text."""

import contextlib
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from app import jobs, layout, limits, session
from app.figures import finetune as figures
from app.figures import mistakes, word_bars
from app.figures import probes as matrices
from app.jobs import panel
from app.widgets import dataset, model_name
from model import CheckpointProblem, InputProblem
from model.finetuning import usual_rate
from probes.finetuning import experiment as tuning
from probes.probing import experiment

WORK = "app.work.finetuning:run"
EXAMPLE = "The bread was fresh, but the waiter was rude."
SECOND = "We liked the food and not the service."
SIDES = ("What it learned", "Mistakes", "Try it")

Listed = dict[str, tuple[str, tuning.Result, Path | None]]


def page() -> None:
    layout.title("Fine-tune", "One output layer is added to BERT, and all of it learns a task. What did pre-training give?")
    ordered = [job for job in jobs.all() if job.work == WORK]
    with st.expander("Teach it a task", icon=":material/add_circle:", expanded=True):
        _order()
    current = next((job for job in ordered if job.busy), ordered[0] if ordered else None)
    if current and current.state != "done":
        st.fragment(_live, run_every=1.5 if current.busy else None)(current.id, current.busy)
    if not (current and current.busy):
        found, trouble = _found(ordered)
        for problem in trouble:
            st.warning(layout.plain(problem), icon=":material/error:")
        _show(found)


def _order() -> None:
    """Data, question and model in, a job out."""
    first, second, third = st.columns(3)
    chosen = dataset.choose(first, "Labelled texts", experiment.REVIEWS, "labelled")
    if chosen is None:
        return
    titles = {task.name: task.title for task in tuning.available(chosen.bank.sentences)}
    task = second.selectbox("What to tell of each sentence, pair or word", list(titles), format_func=titles.__getitem__,
                            index=list(titles).index("label") if "label" in titles else 0)
    free = model_name.free_name(f"{_stem()}-tuned")
    name = third.text_input("Name of the new model", free, key=f"tuned-name-{free}", max_chars=40)
    button, more, said = st.columns([1.2, 1.2, 4], vertical_alignment="center")
    with more, st.popover("More settings", icon=":material/tune:"):
        settings = {
            "epochs": st.number_input("Passes over the texts", 1, limits.TUNING_EPOCHS, 10),
            "limit": st.number_input("Examples to learn from", 10, limits.TUNING_EXAMPLES, 1000, step=100),
            "rate": st.number_input("Learning rate", 1e-6, 1e-2, usual_rate(session.bert()), step=1e-5, format="%g"),
            "batch": st.number_input("Texts of a step", 1, 64, 16),
            "seed": st.number_input("Seed", 0, 10_000, 0, help="The same seed gives the same numbers.")}
    pairs = chosen.bank.pairs
    said.caption(f"{len(chosen.bank):,} {'pairs' if pairs else 'sentences'}; a copy of the sidebar's model learns. The same "
                 f"with BERT frozen{', on sentence B alone' if pairs else ''} and from random weights is always computed "
                 "with it.")
    if button.button("Fine-tune", type="primary", icon=":material/play_arrow:", width="stretch"):
        arguments = {"model": session.source(), **chosen.arguments, "task": task, **settings,
                     "out": str(model_name.folder(name))}
        jobs.submit(WORK, arguments, f"{name}: {titles[task]} in {session.bert().about.name}", chosen.files)
        st.rerun()


def _stem() -> str:
    return "".join(sign if sign.isascii() and sign.isalnum() else "-"
                   for sign in session.bert().about.name).strip("-") or "my"


def _live(id: str, was_busy: bool) -> None:
    """How far a fine-tuning is, and its curves so far."""
    job = jobs.find(id)
    if was_busy and not job.busy:
        st.session_state["tuning-wanted"] = id
        st.rerun()
    with st.container(border=True):
        st.markdown(f"**{layout.plain(job.title)}**")
        panel.bar(job)
        panel.buttons(job)
        with contextlib.suppress(InputProblem):  # an old file of a resumed job, until its first part is done anew
            if job.busy and (result := _read(job)) is not None and result.courses:
                _course(result, "growing")


def _read(job: jobs.Job) -> tuning.Result | None:
    file = job.folder / tuning.RESULT
    return jobs.patiently(lambda: tuning.read(file))


def _found(ordered: list[jobs.Job]) -> tuple[Listed, list[str]]:
    """What can be looked at, the newest first: title, result, where its model is; and what cannot be read."""
    found: Listed = {}
    trouble: list[str] = []
    for job in [job for job in ordered if job.state in ("done", "stopped")][: limits.RESULTS_LISTED]:
        try:
            result = _read(job)
        except InputProblem as problem:
            trouble.append(f"{job.title} ({job.id}) cannot be shown: {problem}")
            continue
        if result is not None and "tuned" in result.scores:
            out = Path(job.arguments["out"])
            found[job.id] = (f"{out.name}: {result.name}", result, out if (out / "config.json").is_file() else None)
    example = session.tuned_example()
    found["example"] = (f"{example.name} (example)", example, None)
    return found, trouble


def _show(found: Listed) -> None:
    wanted = st.session_state.pop("tuning-wanted", None)
    if wanted in found:
        st.session_state["tuning-result"] = wanted
    chosen = st.selectbox("Result", list(found), format_func=lambda one: found[one][0], key="tuning-result")
    _, result, place = found[chosen]
    sizes = result.sizes
    st.caption(layout.plain(
        f"One output layer on {'every word' if result.unit == 'token' else '[CLS]'} "
        f"{'of a pair ' if result.pairs else ''}tells {result.title}: "
        f"{len(result.classes)} labels, {sizes['train']:,} examples to learn from, {sizes['test']:,} to test; "
        f"{result.settings['epochs']} passes, rate {result.settings['rate']:g}, seed {result.settings['seed']}. "
        f"{_repeated(sizes)}"))
    side = st.segmented_control("Show", SIDES, default=SIDES[0], required=True, key="learned", bind="query-params",
                                label_visibility="collapsed")
    if side == SIDES[0]:
        _learned(result)
    elif side == SIDES[1]:
        _mistakes(result)
    else:
        _try(place, result.pairs)


def _repeated(sizes: dict[str, int]) -> str:
    """How it was seen to that no test sentence was learned from."""
    lines = ["No sentence is in two splits."]
    if sizes["duplicates"]:
        lines.append(f"{sizes['duplicates']:,} repeat another and are in its split.")
    if sizes["left_out"]:
        lines.append(f"{sizes['left_out']:,} stood in two and were left out of the one that learns.")
    return " ".join(lines)


def _learned(result: tuning.Result) -> None:
    _course(result, "course")
    rows = tuning.table(result)
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(rows.round(4), hide_index=True)
        st.caption("Low and high are the ends of a 95 % interval, drawn anew by whole sentences.")
        st.code(result.command, language="bash", wrap_lines=True)
    st.download_button("Table as CSV", rows.to_csv(index=False, float_format="%.5f"), "fine-tuning.csv", "text/csv",
                       icon=":material/download:")


def _course(result: tuning.Result, key: str) -> None:
    said = ", ".join(f"{row.who} {row.accuracy:.0%}" for row in tuning.table(result).itertuples())
    layout.chart(figures.course(result), key=key,
                looking="What you are looking at: how many of the unseen test examples are right while the model learns. "
                        "The same network from random weights has to learn the language from these few examples; with BERT "
                        "frozen only the output layer learns. " + (
                            "What sentence B alone tells is not about the pair. " if result.pairs else "")
                        + "Bars are 95 % intervals.",
                alt=f"Accuracy by training step. At the end: {said}.")


def _mistakes(result: tuning.Result) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        layout.chart(matrices.confusion(result.confusion, result.classes), key="tuned-confusion",
                    looking="What you are looking at: a row for each true label, and what the fine-tuned model took it for. "
                            "A perfect one fills the diagonal only.",
                    alt=f"Confusion matrix over {len(result.classes)} labels.")
    with right:
        st.caption("What you are looking at: test examples it got wrong. Click one to open it in Attention.")
        st.html(mistakes.listed(result.mistakes, f"attention?model={quote(str(result.settings['model']))}"))


def _try(place: Path | None, pairs: bool) -> None:
    """The fine-tuned model on a text of the reader's."""
    if place is None:
        st.info("The fine-tuned model of this example does not come with the project. Press Fine-tune: yours takes about a "
                "minute, and then answers here.")
        return
    try:
        tuned = session.tuned(place)
    except CheckpointProblem as problem:
        st.error(layout.plain(str(problem)))
        return
    text = st.text_input("Type sentence A" if pairs else "Type a sentence", EXAMPLE, key="tried", bind="query-params",
                         max_chars=limits.TEXT_CHARACTERS)
    second = st.text_input("Type sentence B", SECOND, key="tried-second", bind="query-params",
                           max_chars=limits.TEXT_CHARACTERS) if pairs else None
    said = tuning.said(tuned, text, second)
    if tuned.unit == "sentence":
        layout.chart(word_bars.bars(said.rename(columns={"label": "word"}).head(limits.WORDS_LISTED)), key="tried-labels",
                    looking="What you are looking at: how probable the fine-tuned model finds each label.",
                    alt="Bars: " + ", ".join(f"{row.label} {row.probability:.0%}" for row in said.itertuples()))
    else:
        st.caption("What you are looking at: each word with the label that the fine-tuned model finds most probable.")
        st.html(figures.labelled(said))
    st.caption(f"The model is in the list of the sidebar as **{layout.plain(place.name)}**: look at its attention and "
               "states, or compare them with the model it began as.")
