"""Fine-tune: one output layer is added and all of BERT learns a task, beside what it must beat, and live on any text."""

from pathlib import Path
from urllib.parse import quote

import streamlit as st

from app import layout, limits, ownership, session
from app.figures import attention as grids
from app.figures import finetune as figures
from app.figures import mistakes, word_bars
from app.samples.reviews import SENTENCE_A, SENTENCE_B
from app.widgets import confusion, dataset, experiment_page, model_name
from app.widgets.choice import SECTION, choice
from app.widgets.experiment_page import Experiment, ListedResult
from model import CheckpointError
from model.finetuning import default_learning_rate
from probes.finetuning import apply, experiment
from probes.finetuning.change import ModelChange
from probes.finetuning.results import FinetuningResult, table
from probes.probing.experiment import READER
from probes.results import RESULT

EPOCHS = 4  # over the reader's sentences: a minute on a laptop
SIDES = {"course": "What it learned", "changed": "What changed inside", "mistakes": "Mistakes", "try": "Try it"}
FIRST_TASKS = ("label", "topic")  # the first of these that the data have is the one to begin with


def page() -> None:
    layout.title("Fine-tune", "One output layer is added to BERT, and all of it learns a task. What did pre-training give?")
    experiment_page.page(EXPERIMENT)


def _form() -> None:
    """Data, task and model in, a job out."""
    first, second, third = st.columns(3)
    chosen = dataset.choose(first, "Labelled texts", READER, "labelled")
    if chosen is None:
        return
    titles = {task.name: task.title for task in experiment.available(chosen.treebank.sentences)}
    task = second.selectbox(
        "What to tell of each sentence, pair or word",
        list(titles),
        format_func=titles.__getitem__,
        index=next((list(titles).index(name) for name in FIRST_TASKS if name in titles), 0),
    )
    free = model_name.free_name(f"{_stem(session.bert().info.name)}-tuned")
    name = third.text_input("Name of the new model", free, key=f"tuned-name-{free}", max_chars=40)
    button, more, note = st.columns([1.2, 1.2, 4], vertical_alignment="center")
    with more, st.popover("More settings", icon=":material/tune:"):
        settings = {
            "epochs": st.number_input("Passes over the texts (epochs)", 1, limits.FINETUNING_EPOCHS, EPOCHS),
            "limit": st.number_input("Examples to learn from", 10, limits.FINETUNING_EXAMPLES, 1000, step=100),
            "learning_rate": st.number_input(
                "Learning rate", 1e-6, 1e-2, default_learning_rate(session.bert()), step=1e-5, format="%g"
            ),
            "batch_size": st.number_input("Texts of a step (batch size)", 1, 64, 16),
            "seed": st.number_input("Seed", 0, 10_000, 0, help="The same seed gives the same numbers."),
        }
    pairs = chosen.treebank.pairs
    note.caption(
        f"{len(chosen.treebank):,} {'pairs' if pairs else 'sentences'}; a copy of the model above learns. The same "
        f"with BERT frozen{', on sentence B alone' if pairs else ''} and from random weights is always computed with it."
    )
    if button.button("Fine-tune", type="primary", icon=":material/play_arrow:", width="stretch"):
        arguments = {
            "model": session.checkpoint_path(),
            **chosen.arguments,
            "task": task,
            **settings,
            "out": str(model_name.folder(name)),
        }
        ownership.submit(EXPERIMENT.work, arguments, f"{name}: {titles[task]} in {session.bert().info.name}", chosen.files)
        st.rerun()


def _stem(name: str) -> str:
    """What the name of a new model may begin with."""
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name).strip("-") or "my"


def _bundled() -> dict[str, ListedResult[FinetuningResult]]:
    return {slug: ListedResult(f"{result.name} (shipped)", result) for slug, result in session.finetuning_results().items()}


def _show(listed: dict[str, ListedResult[FinetuningResult]], slug: str) -> None:
    entry = listed[slug]
    result = entry.result
    side = choice(SECTION, SIDES, "learned")
    if side == "course":
        _learned(result)
    elif side == "changed":
        _changed(result)
    elif side == "mistakes":
        _mistakes(result)
    else:
        folder = Path(entry.job.arguments["out"]) if entry.job else None
        _try(folder if folder and (folder / "config.json").is_file() else None, result.pairs)
    st.caption(
        layout.escape(
            f"One output layer on {'every word' if result.unit == 'token' else '[CLS]'} "
            f"{'of a pair ' if result.pairs else ''}tells {result.title}: "
            f"{len(result.classes)} labels, {result.sizes['train']:,} examples to learn from, {result.sizes['test']:,} to "
            f"test; {result.settings['epochs']} passes, rate {result.settings['learning_rate']:g}, seed "
            f"{result.settings['seed']}. {dataset.split_note(result.sizes)}"
        )
    )


def _learned(result: FinetuningResult) -> None:
    _course(result, "course")
    rows = table(result)
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(rows.round(4), hide_index=True)
        st.caption("Low and high are the ends of a 95 % interval, drawn anew by whole sentences.")
        st.code(result.command, language="bash", wrap_lines=True)
    st.download_button(
        "Table as CSV",
        rows.to_csv(index=False, float_format="%.5f"),
        "fine-tuning.csv",
        "text/csv",
        icon=":material/download:",
    )


def _course(result: FinetuningResult, key: str) -> None:
    accuracies = [f"{row.who} {row.accuracy:.0%}" for row in table(result).itertuples()]
    reached = "; ".join(accuracies) or "none has come to its end yet"
    layout.chart(
        figures.course(result),
        key=key,
        finding=f"Right among {result.sizes['test']:,} unseen test examples: {reached}. From random weights the same "
        "network has to learn the language from these few examples; with BERT frozen only the output layer learns. "
        + ("What sentence B alone tells is not about the pair. " if result.pairs else "")
        + "Bars are 95 % intervals.",
        alt=f"Accuracy by training step. At the end: {reached}.",
    )


def _changed(result: FinetuningResult) -> None:
    """Before and after: which layers say something else, which heads look elsewhere."""
    if not result.change:
        st.info("This result does not say what changed inside; one made now does.")
        return
    changed = ModelChange.parse(result.change)
    frozen, tuned = result.scores["frozen"][0], result.scores["finetuned"][0]
    st.caption(
        f"With BERT frozen {frozen:.0%} of the test examples were right already, fine-tuned {tuned:.0%}: what changed below "
        f"is what the {100 * (tuned - frozen):+.0f} points took."
    )
    left, right = st.columns(2, gap="large")
    layer, head = changed.head
    with left:
        layout.chart(
            figures.similarity(changed.cka),
            key="changed-layers",
            finding=f"Layer {changed.layer} changed most: its states before and after are alike by "
            f"{changed.cka[changed.layer]:.2f} (CKA; 1 is the same), those of the embeddings by {changed.cka[0]:.2f}.",
            alt="CKA by layer: " + ", ".join(f"{value:.2f}" for value in changed.cka),
        )
    with right:
        layout.chart(
            grids.grid(changed.attention, "moved", (layer, head)),
            key="changed-heads",
            finding=f"Head {head + 1} of layer {layer + 1} (framed) moved most: {changed.attention[layer, head]:.0%} of its "
            f"attention goes elsewhere than before, on average over all heads {changed.mean_attention:.0%}.",
            alt=f"Share of attention that moved, by head; most in layer {layer + 1} head {head + 1}.",
        )


def _mistakes(result: FinetuningResult) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        confusion.chart(result.confusion, result.classes, "fine-tuned", "tuned-confusion")
    with right:
        st.caption(f"{len(result.mistakes)} of the wrong test examples. Click one to open it in Attention.")
        st.html(mistakes.listed(result.mistakes, f"attention?model={quote(str(result.settings['model']))}"))


def _try(folder: Path | None, pairs: bool) -> None:
    """The fine-tuned model on a text of the reader's."""
    if folder is None:
        st.info(
            "The fine-tuned model of this example does not come with the project. Press Fine-tune: yours takes about a "
            "minute, and then answers here."
        )
        return
    try:
        finetuned = session.finetuned(folder)
    except CheckpointError as error:
        st.error(layout.escape(str(error)))
        return
    text = _sentence("Type sentence A" if pairs else "Type a sentence", SENTENCE_A, "tried")
    second = _sentence("Type sentence B", SENTENCE_B, "tried-second") if pairs else None
    rows = apply.predict(finetuned, text, second)
    if finetuned.level == "sentence":
        first, *others = rows.itertuples()
        layout.chart(
            word_bars.bars(rows.rename(columns={"label": "word"}).head(limits.WORDS_LISTED)),
            key="tried-labels",
            finding=f"The fine-tuned model says *{layout.escape(str(first.label))}* ({first.probability:.0%}); guessing "
            f"among {len(rows)} labels would be {1 / len(rows):.0%}.",
            alt="Bars: " + ", ".join(f"{row.label} {row.probability:.0%}" for row in (first, *others)),
        )
    else:
        words = ", ".join(f"*{layout.escape(str(row.word))}* {layout.escape(str(row.label))}" for row in rows.itertuples())
        st.caption(f"The label that the fine-tuned model finds most probable: {words}.")
        st.html(figures.labelled(rows))
    st.caption(
        f"The model is in the list of models as **{layout.escape(folder.name)}**: look at its attention and "
        "states, or compare them with the model it began as."
    )


def _sentence(label: str, default: str, key: str) -> str:
    return st.text_input(label, default, key=key, bind="query-params", max_chars=limits.TEXT_CHARACTERS)


EXPERIMENT = Experiment(
    work="app.work.finetuning:run",
    key="tuned",
    form_title="Teach it a task",
    form=_form,
    file=RESULT,
    read=FinetuningResult.read,
    has_scores=lambda result: "finetuned" in result.scores,
    title=lambda job, result: f"{Path(job.arguments['out']).name}: {result.name}",
    bundled=_bundled,
    preview=lambda result: _course(result, "growing"),
    show=_show,
)
