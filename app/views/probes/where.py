"""All tasks of one model in one picture: at which layer each is written."""

import streamlit as st

from app import layout
from app.figures import probes as figures
from probes.probing import results
from probes.probing.results import ProbingResult


def show(listed: list[ProbingResult], opened: ProbingResult) -> None:
    """The tasks whose layers were mixed for the model and the data of the open result, each by its newest result."""
    same = {
        result.title: result
        for result in listed
        if result.mix
        and (result.settings["model"], result.settings["digest"]) == (opened.settings["model"], opened.settings["digest"])
    }
    rows = results.centres_of_gravity(list(same.values()))
    if rows.empty:
        st.info("No result of this model on these data has a mix of layers: tick “Mix of all layers” under More settings.")
        return
    first, last = rows.iloc[0], rows.iloc[-1]
    n_single = int(rows["one_layer"].sum())
    centres = [
        f"“{layout.escape(row['task'])}” is written {place}, at layer {row['center']:.1f} "
        f"({row['low']:.1f} to {row['high']:.1f})"
        for row, place in ((first, "lowest"), (last, "highest"))
    ]
    layout.chart(
        figures.centres(rows),
        key="centres",
        finding=f"{'; '.join(centres)}: the centre of gravity of a learned mix of the layers of "
        f"{layout.escape(opened.settings['model'])} (Tenney et al., 2019), with its 95 % interval over resampled "
        f"sentences. In {n_single} of {len(rows)} tasks nearly all weight is on one layer: with few examples the mix picks "
        "one and leaves its neighbours out, so read the diamonds too, the expected layer by what each adds to those below "
        "on the test, and the rings, the best single layer.",
        alt="; ".join(f"{row.task}: layer {row.center:.1f}" for row in rows.itertuples()),
    )
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(rows.round(3), hide_index=True)
