"""Papers: what each found, and the same numbers of the model above, on one axis."""

from urllib.parse import quote

import pandas as pd
import streamlit as st

from app import jobs, layout, ownership, session
from app.figures import papers as figures
from app.jobs import panel
from app.views.probes import result as probe_result
from app.work import papers as work
from probes import bundled, papers
from probes.papers import Measurements, PaperCard
from probes.probing import experiment, features
from probes.probing.results import ProbingResult

WORK = "app.work.papers:measure"


def page() -> None:
    layout.title("Papers", "What did they find, and does the model at hand show the same?")
    bert = session.bert()
    measurements = _measurements()
    cards = papers.cards(_probing(), measurements, bundled.results(bundled.STRATEGIES), bundled.results(bundled.DIRECTIONS))
    st.caption(
        f"{len(cards)} findings. Filled circles are published numbers, filled diamonds those of "
        f"{layout.escape(bert.info.name)} from results that come with the project or from your own runs (of tables 5 and 8: "
        "of small models trained for them); open marks are baselines. Two numbers of different data and sizes are not a "
        "race: each card says why they differ."
    )
    if measurements is None:
        _order()
    for left, right in zip(cards[::2], [*cards[1::2], None], strict=False):
        columns = st.columns(2, gap="large")
        for column, card in zip(columns, (left, right), strict=True):
            if card is not None:
                with column, st.container(border=True):
                    _card(card)


def _values(rows: pd.DataFrame) -> list[tuple[str, float]]:
    """What each row is called, with whose number it is, and the number."""
    return list(zip(rows["label"].astype(str), rows["value"].astype(float), strict=True))


def _card(card: PaperCard) -> None:
    st.header(card.paper, anchor=card.key)
    st.markdown(layout.escape(card.claim))
    rows, missing = card.rows(), "Nothing was measured on this model yet: the link below makes it."
    ours = card.ours[card.ours["kind"] == papers.OURS]
    named = ", ".join(f"{label} {_number(value, rows)}" for label, value in _values(ours.head(6)))
    finding = f"Ours: {layout.escape(named)}." if named else missing
    if rows.empty:
        st.info(missing)
    else:
        layout.chart(
            figures.same_axis(rows, card.axis),
            key=f"card-{card.key}",
            finding=finding,
            alt="; ".join(f"{label}: {_number(value, rows)}" for label, value in _values(rows)),
        )
    st.caption(f"Why they differ: {layout.escape(card.difference)}")
    joint = "&" if "?" in card.rerun else "?"
    st.markdown(f"[Make ours again]({card.rerun}{joint}model={quote(session.bert().info.name)})")
    if card.command:
        with st.expander("The command", icon=":material/terminal:"):
            st.code(card.command, language="bash", wrap_lines=True)


def _number(value: float, rows: pd.DataFrame) -> str:
    return f"{value:.1%}" if bool(rows["value"].between(-1, 1).all()) else f"{value:.2f}"


def _probing() -> list[ProbingResult]:
    """Finished results on these weights and the reader, the newest first, then those that come with the project."""
    digest = features.digest(session.bert())
    own, _ = probe_result.stored(
        [job for job in ownership.own_jobs() if job.work == probe_result.WORK and job.state == "done"]
    )
    return [
        result
        for result in [*own.values(), *session.probing_results().values()]
        if result.finished
        and result.settings["data"] == experiment.READER
        and result.settings["model_digest"] == digest
        and result.settings["weights_seed"] is None
    ]


def _measurements() -> Measurements | None:
    """Those that the reader ordered for the model above, or the shipped ones where they are of these weights."""
    job = jobs.latest(WORK, {"source": session.checkpoint_path()})
    if job is not None and (job.folder / work.RESULT).is_file():
        own = Measurements.read(job.folder / work.RESULT)
        if own.model_digest == features.digest(session.bert()):
            return own
    shipped = bundled.measurements()
    return shipped if shipped.model_digest == features.digest(session.bert()) else None


def _order() -> None:
    """Heads and states of a model that nobody measured yet."""
    arguments = {"source": session.checkpoint_path()}
    st.info("Heads and states of this model were not measured on the reader yet; it takes about a minute.")
    if st.button("Measure this model", type="primary", icon=":material/play_arrow:"):
        ownership.submit(WORK, arguments, f"Papers: heads and states of {session.bert().info.name}")
        st.rerun()
    job = jobs.latest(WORK, arguments)
    if job is not None:
        panel.show(job.id)
