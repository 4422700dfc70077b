"""Sentences with labels as a reader chooses them: some come with the project, others are a file."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from app import layout, limits, session
from model import InputProblem
from probes.probing import experiment
from probes.probing.treebank import Treebank

NAMES = {experiment.SMALL_WORLD: "The small world", experiment.REVIEWS: "Short reviews, good or bad"}
UPLOAD, THREE = "A file I upload", "Three files I upload"
KINDS = ("conllu", "txt", "csv", "tsv")
SPLITS = {"train": "To learn from (train)", "dev": "To tune on (dev), or a tenth of train", "test": "To test on (test)"}


@dataclass(frozen=True)
class Chosen:
    """The sentences, and how a job is told of them: by the names of its arguments, with the files it needs."""

    bank: Treebank
    arguments: dict[str, str]  # data, or train, dev and test
    files: dict[str, bytes]


def choose(where, label: str, first: str, key: str) -> Chosen | None:
    """A choice in a column of the page, `first` preselected; None as long as there is nothing to work with."""
    offered = [first, *(name for name in NAMES if name != first), UPLOAD, THREE]
    data = where.selectbox(label, offered, format_func=lambda name: NAMES.get(name, name), key=key, bind="query-params",
                           help="A treebank in CoNLL-U, SentEval's split, label and sentence, or a table with the columns "
                           "text,label or text,second,label or token,label. One file is split 8 : 1 : 1, equal sentences "
                           "and documents together; three files are kept apart.")
    if data in NAMES:
        return Chosen(session.bank(data, None), {"data": data}, {})
    try:
        return _one(key) if data == UPLOAD else _three(key)
    except InputProblem as problem:
        st.error(layout.plain(str(problem)))
        return None


def _one(key: str) -> Chosen | None:
    file = st.file_uploader("Sentences with labels", type=list(KINDS), key=f"{key}-file",
                            max_upload_size=limits.UPLOAD_MEGABYTES)
    if file is None:
        st.info("Choose a file: .conllu, .txt, .csv or .tsv.")
        return None
    name = _plain(file.name)
    return Chosen(session.bank(file.name, file.getvalue()), {"data": name}, {name: file.getvalue()})


def _three(key: str) -> Chosen | None:
    uploads = {split: column.file_uploader(title, type=list(KINDS), key=f"{key}-{split}",
                                           max_upload_size=limits.UPLOAD_MEGABYTES)
               for column, (split, title) in zip(st.columns(3), SPLITS.items(), strict=True)}
    given = {split: (file.name, file.getvalue()) for split, file in uploads.items() if file is not None}
    if not {"train", "test"} <= set(given):
        st.info("Choose a file to learn from and a file to test on: .conllu, .txt, .csv or .tsv.")
        return None
    chosen, shared = apart(given)
    if shared:
        st.warning(f"{shared:,} {'sentence stands' if shared == 1 else 'sentences stand'} in two of the files: left out of "
                   "the one to learn from, or of the one to tune on where the other is the test.")
    return chosen


def apart(given: dict[str, tuple[str, bytes]]) -> tuple[Chosen, int]:
    """A name and content for each split -> the sentences, and how many stand in two of them."""
    names = {split: _plain(name) for split, (name, _) in given.items()}
    repeated = len(set(names.values())) < len(names)  # all three may be called data.csv
    names = {split: f"{split}-{name}" if repeated else name for split, name in names.items()}
    bank, shared = session.banks(tuple((split, names[split], content) for split, (_, content) in given.items()))
    return Chosen(bank, names, {names[split]: content for split, (_, content) in given.items()}), shared


def _plain(name: str) -> str:
    return Path(name).name.lstrip(".") or "data.txt"
