"""What a mix does to learning: models trained under each of the paper's mixes, and under the reader's own."""

import pandas as pd
import streamlit as st

from app import jobs, layout, limits
from app.figures import strategies as figures
from app.jobs import panel
from probes import bundled
from probes.masking_strategies import corruption, training_runs
from probes.masking_strategies.evaluation import COLUMNS

WORK = "app.work.masking_strategies:run"
BASELINES = {"word": "commonest for the word", "random": "random weights", "common": "commonest word"}


def section() -> None:
    st.markdown("Small models, trained from scratch under each mix of the paper's Table 8, with equal data, steps and "
                "seeds. Mixes are written as there: **MASK/SAME/RND**, in percent of the chosen words.")
    table = bundled.results("strategies")
    _compared(table, [(trial.name, trial.name) for trial in training_runs.STRATEGIES], "shipped",
              bundled.ceiling("strategies"))
    st.caption(bundled.said("strategies"))
    _paper()
    with st.expander("The command that made this"):
        st.code(bundled.command("strategies"), language="sh")
    _own()


def _compared(table: pd.DataFrame, order: list[tuple[str, str]], key: str, best: float | None = None) -> None:
    """One panel a measure, each with its seeds and its baselines."""
    present = [column for column in COLUMNS if _known(table, column)]
    for start in range(0, len(present), 2):
        for column, name in zip(st.columns(2), present[start:start + 2], strict=False):
            title, looking = COLUMNS[name]
            lines = [(said, float(table[f"{name}_{base}"].mean())) for base, said in BASELINES.items()
                     if _known(table, f"{name}_{base}")]
            if name == "masked" and best is not None:
                lines.append(("best possible", best))
            means = table.groupby("trial")[name].mean()
            with column:
                st.markdown(f"**{title}**")
                layout.chart(figures.seeds(table, name, order, lines), key=f"{key}-{name}",
                            looking=f"What you are looking at: {looking} Bars are means, dots single seeds.",
                            alt="; ".join(f"{trial} {share:.1%}" for trial, share in means.items()))


def _known(table: pd.DataFrame, column: str) -> bool:
    return column in table and not bool(table[column].isna().all())


def _paper() -> None:
    st.markdown("**The paper's own numbers** (Devlin et al., 2019, Table 8; BERT-base, in percent)")
    st.dataframe(corruption.PAPER.rename(columns={"trial": "MASK/SAME/RND"}), hide_index=True, height="content",
                 alt="Table 8 of the BERT paper")
    st.markdown("Why they differ: the paper's models have several hundred times the weights, learned from billions of "
                "words, and were judged on other tasks. There fine-tuning makes up for any mix, and what is left is that "
                "the frozen features of the mask-only model suffer; here too. A small model that stops early shows the "
                "causes more plainly: a mix that never keeps a chosen word leaves the model unable to name a word it can "
                "see; one that never shows \\[MASK\\] answers worse when it meets one; and one that keeps words but never "
                "puts in random ones teaches it to copy whatever it sees, at the cost of its features. Compare the order "
                "within a panel, not its height with the paper's.")


def _own() -> None:
    st.subheader("Train your own", anchor=False)
    with st.form("own"):
        names = [trial.name for trial in training_runs.STRATEGIES]
        asked = st.multiselect("Mixes (MASK/SAME/RND)", names, ["80/10/10", "100/0/0"], accept_new_options=True,
                               help="Type a mix of your own, three shares that add up to 100, such as 50/25/25.")
        columns = st.columns(3)
        steps = columns[0].slider("Steps", 50, limits.TRIAL_STEPS, 200, 50)
        seeds = columns[1].slider("Seeds", 1, 5, 1)
        hidden = columns[2].select_slider("Hidden size", [32, 64, 128], 64)
        corpus = st.file_uploader("A corpus instead of the small world: text, a blank line between documents",
                                  type=["txt"], max_upload_size=limits.TEXT_MEGABYTES)
        if st.form_submit_button("Train", icon=":material/play_arrow:", type="primary"):
            _submit(asked, steps, seeds, hidden, corpus)
    job = jobs.latest(WORK)
    if job is None:
        return
    panel.job(job.id)
    table = training_runs.results(job.folder)
    if not table.empty:
        order = list(dict.fromkeys(table["trial"]))
        _compared(table, [(name, name) for name in order], f"own-{job.id}")
        st.download_button("Results as CSV", table.to_csv(index=False), "strategies.csv", icon=":material/download:")


def _submit(asked: list[str], steps: int, seeds: int, hidden: int, corpus) -> None:
    described = [training_runs.described(training_runs.named(name)) for name in asked]
    budget = {"steps": steps, "hidden": hidden, "stories": min(training_runs.Budget.stories,
                                                               steps * training_runs.Budget.batch)}
    arguments = {"trials": described, "seeds": list(range(seeds)), "budget": budget}
    if not described:
        layout.notes("Choose at least one mix.")
        return
    if corpus is not None:
        arguments["corpus"] = "corpus.txt"
    files = {} if corpus is None else {"corpus.txt": corpus.getvalue()}
    jobs.submit(WORK, arguments, f"Masking strategies: {', '.join(asked)}", files)
