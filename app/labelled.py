"""Sentences with labels as a reader chooses them: some come with the project, others are a file."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import frame, limits, state
from model import InputProblem
from probes import experiment
from probes.treebank import Treebank

NAMES = {experiment.SMALL_WORLD: "The small world", experiment.REVIEWS: "Short reviews, good or bad"}
UPLOAD = "A file I upload"
KINDS = ("conllu", "txt", "csv", "tsv")


@dataclass(frozen=True)
class Chosen:
    """The sentences, and how a job is told of them: by name, with the files it needs."""

    bank: Treebank
    data: str
    files: dict[str, bytes]


def choose(where, label: str, first: str, key: str) -> Chosen | None:
    """A choice in a column of the page, `first` preselected; None as long as there is nothing to work with."""
    offered = [first, *(name for name in NAMES if name != first), UPLOAD]
    data = where.selectbox(label, offered, format_func=lambda name: NAMES.get(name, name), key=key, bind="query-params",
                           help="A treebank in CoNLL-U, SentEval's split, label and sentence, or a table with the columns "
                           "text,label or text,second,label or token,label.")
    if data != UPLOAD:
        return Chosen(state.bank(data, None), data, {})
    file = st.file_uploader("Sentences with labels", type=list(KINDS), key=f"{key}-file",
                            max_upload_size=limits.UPLOAD_MEGABYTES)
    if file is None:
        st.info("Choose a file: .conllu, .txt, .csv or .tsv.")
        return None
    try:
        bank = state.bank(file.name, file.getvalue())
    except InputProblem as problem:
        st.error(frame.plain(str(problem)))
        return None
    name = Path(file.name).name.lstrip(".") or "data.txt"
    return Chosen(bank, name, {name: file.getvalue()})
