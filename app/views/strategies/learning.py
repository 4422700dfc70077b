"""What a mix does to learning: models trained under each of the paper's mixes, and under the reader's own."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import jobs, layout, limits, ownership
from app.figures import strategies as figures
from app.jobs import panel
from app.widgets import experiment_page
from probes import bundled
from probes.masking_strategies import corruption, training_runs

WORK = "app.work.masking_strategies:run"
CORPUS = "corpus.txt"
# of each measured column its title, and one sentence on what it is
MEASURES = {
    "masked": ("Masked words (MLM accuracy)", "Held-out words named where the model reads [MASK]."),
    "unmasked": (
        "Words left unmasked",
        "Held-out words named where the model reads the word itself, as it does in use.",
    ),
    "replaced": ("Replaced words", "Held-out words named where the model reads a random word in their place."),
    "probe": (
        "Frozen features, linear probe",
        "The part a noun plays in its sentence (subject, object, …), read off by a linear map from the last layer; it "
        "stands for the paper's feature-based column.",
    ),
    "finetuned": ("Fine-tuned", "The same question after all weights learned it together with one added layer."),
}
BASELINES = {"word_type": "word-type baseline", "random_init": "random weights", "most_frequent": "most frequent word"}


def section() -> None:
    st.markdown(
        "Small models, trained from scratch under each mix of the paper's Table 8, with equal data, steps and "
        "seeds. Mixes are written as there: **MASK/SAME/RND**, in percent of the selected words."
    )
    strategies = [strategy.name for strategy in training_runs.STRATEGIES]
    _measures(bundled.results("strategies"), strategies, "shipped", bundled.ceiling("strategies"))
    st.caption(_budget(bundled.settings("strategies")))
    _paper()
    with st.expander("The command behind this"):
        st.code(bundled.command("strategies"), language="sh")
    orders = experiment_page.watch_and_order(WORK, "Train your own", _form, _own_results)
    current = experiment_page.current_job(orders)
    if current and current.state == "done":
        panel.summary(current)
        _own_results(current)


def _measures(table: pd.DataFrame, strategies: Sequence[str], key: str, ceiling: float | None = None) -> None:
    """One panel a measure, each with its seeds and its baselines."""
    measures = [name for name in MEASURES if training_runs.means(table, name)]
    for start in range(0, len(measures), 2):
        for column, name in zip(st.columns(2), measures[start : start + 2], strict=False):
            baselines = [
                (title, value)
                for suffix, title in BASELINES.items()
                if (value := training_runs.baseline(table, f"{name}_{suffix}")) is not None
            ]
            if name == "masked" and ceiling is not None:
                baselines.append(("best possible", ceiling))
            with column:
                _measure(table, name, strategies, baselines, key)


def _measure(
    table: pd.DataFrame, name: str, strategies: Sequence[str], baselines: list[tuple[str, float]], key: str
) -> None:
    title, sentence = MEASURES[name]
    means = training_runs.means(table, name)
    st.markdown(f"**{title}**")
    layout.chart(
        figures.seeds(table, name, [(strategy, strategy) for strategy in strategies], baselines),
        key=f"{key}-{name}",
        finding=f"{finding(means, baselines)} {sentence} Bars are means, dots single seeds.",
        alt="; ".join(f"{strategy} {mean:.1%}" for strategy, mean in means.items()),
    )


def finding(means: dict[str, float], baselines: list[tuple[str, float]]) -> str:
    """The best and the worst mix of one measure, beside what needs no learning."""
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    sentence = f"{best} reaches {means[best]:.1%}"
    if worst != best:
        sentence = f"{best} is best with {means[best]:.1%}, {worst} worst with {means[worst]:.1%}"
    levels = ", ".join(f"{name} {value:.1%}" for name, value in baselines)
    return f"{sentence} ({levels})." if levels else f"{sentence}."


def _budget(settings: dict) -> str:
    """What every model got alike."""
    budget = settings["budget"]
    return (
        f"Each: {budget['layers']} layers, hidden {budget['hidden']}, {budget['steps']:,} steps of {budget['batch_size']} "
        f"pairs from {budget['stories']:,} stories of the small world, {len(settings['seeds'])} seeds."
    )


def _paper() -> None:
    st.markdown("**The paper's own numbers** (Devlin et al., 2019, Table 8; BERT-base, in percent)")
    st.dataframe(
        corruption.PAPER.rename(columns={"condition": "MASK/SAME/RND"}),
        hide_index=True,
        height="content",
        alt="Table 8 of the BERT paper",
    )
    st.markdown(
        "Why they differ: the paper's models have several hundred times the weights, learned from billions of "
        "words, and were judged on other tasks. There fine-tuning makes up for any mix, and what is left is that "
        "the frozen features of the mask-only model suffer; here too. A small model that stops early shows the "
        "causes more plainly: a mix that never leaves a selected word in place gives a model that cannot name a word it "
        "can see; one that never shows \\[MASK\\] answers worse when it meets one; and one that leaves words in place but "
        "never puts in random ones teaches it to copy whatever it sees, at the cost of its features. Compare the order "
        "within a panel, not its height with the paper's."
    )


def _form() -> None:
    with st.form("own", border=False):
        strategies = st.multiselect(
            "Mixes (MASK/SAME/RND)",
            [strategy.name for strategy in training_runs.STRATEGIES],
            ["80/10/10", "100/0/0"],
            accept_new_options=True,
            help="Type a mix of your own, three shares that add up to 100, such as 50/25/25.",
        )
        columns = st.columns(3)
        steps = columns[0].slider("Steps", 50, limits.TRIAL_STEPS, 200, 50)
        seeds = columns[1].slider("Seeds", 1, 5, 1)
        hidden = columns[2].select_slider("Hidden size", [32, 64, 128], 64)
        corpus = st.file_uploader(
            "A corpus instead of the small world: text, a blank line between documents",
            type=["txt"],
            max_upload_size=limits.TEXT_MEGABYTES,
        )
        if not st.form_submit_button("Train", icon=":material/play_arrow:", type="primary"):
            return
    if not strategies:
        layout.input_note("Choose at least one mix.")
        return
    _submit(strategies, steps, seeds, hidden, None if corpus is None else corpus.getvalue())
    st.rerun()


def _submit(strategies: list[str], steps: int, seeds: int, hidden: int, corpus: bytes | None) -> None:
    default = training_runs.TrainingBudget()
    arguments = {
        "trials": [training_runs.describe(training_runs.condition(name)) for name in strategies],
        "seeds": list(range(seeds)),
        "budget": {"steps": steps, "hidden": hidden, "stories": min(default.stories, steps * default.batch_size)},
    }
    if corpus is not None:
        arguments["corpus"] = CORPUS
    files = {} if corpus is None else {CORPUS: corpus}
    ownership.submit(WORK, arguments, f"Masking strategies: {', '.join(strategies)}", files)


def _own_results(job: jobs.Job) -> None:
    """The models that are trained so far."""
    table = training_runs.results(job.folder)
    if table.empty:
        return
    _measures(table, list(dict.fromkeys(table["condition"])), f"own-{job.id}")
    st.download_button(
        "Results as CSV", table.to_csv(index=False), "strategies.csv", key=f"csv-{job.id}", icon=":material/download:"
    )
