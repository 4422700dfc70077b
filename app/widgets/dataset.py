"""Labelled sentences as a reader chooses them: a data set that comes with the project, one file, or three."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import layout, limits, session
from app.widgets.dropdown import dropdown
from model import InputError
from probes.probing import experiment
from probes.probing.treebank import Treebank

# of each data set that comes with the project, a title and one line; one without them is offered under its own name
BUNDLED = {
    "reader": ("The reader", "150 short texts of everyday English, written and annotated by hand for this project."),
    "pairs": ("Pairs: does B follow from A?", "600 pairs of sentences: follows, contradicts, unrelated."),
    "smallworld": ("Small world (generated)", "Stories of a generated mini-language, with every tag and every tree known."),
    "reviews": ("Short reviews, good or bad", "Single sentences with one label each."),
}
ONE, THREE = "upload", "splits"
UPLOADS = {ONE: "A file I upload", THREE: "Three files I upload"}
SUFFIXES = ("conllu", "txt", "csv", "tsv")
SPLITS = {"train": "To learn from (train)", "dev": "To tune on (dev), or a tenth of train", "test": "To test on (test)"}
FORMATS = (
    "A treebank in CoNLL-U, SentEval's split, label and sentence, or a table with the columns text,label or "
    "text,second,label or token,label. One file is split 8 : 1 : 1, equal sentences and documents together; three files "
    "are not mixed."
)


@dataclass(frozen=True)
class ChosenDataset:
    """The sentences, and how a job gets them: the names of its arguments, and the files it needs."""

    treebank: Treebank
    arguments: dict[str, str]  # data, or train, dev and test
    files: dict[str, bytes]


def choose(column: DeltaGenerator, label: str, default: str, key: str, offered: Sequence[str] = ()) -> ChosenDataset | None:
    """A choice in a column of the page, of all bundled data where none are named; None while there is nothing to use."""
    names = [default, *(name for name in offered or experiment.BUNDLED_DATA if name != default)]
    options = {name: BUNDLED.get(name, (name, ""))[0] for name in names} | UPLOADS
    slug = dropdown(label, options, key, help=FORMATS, column=column)
    if slug in names:
        if line := BUNDLED.get(slug, ("", ""))[1]:
            column.caption(line)
        return ChosenDataset(session.dataset(slug, None), {"data": slug}, {})
    try:
        return _one_file(key) if slug == ONE else _three_files(key)
    except InputError as error:
        st.error(layout.escape(str(error)))
        return None


def _one_file(key: str) -> ChosenDataset | None:
    file = st.file_uploader(
        "Sentences with labels", type=list(SUFFIXES), key=f"{key}-file", max_upload_size=limits.UPLOAD_MEGABYTES
    )
    if file is None:
        st.info("Choose a file: .conllu, .txt, .csv or .tsv.")
        return None
    name = _plain_name(file.name)
    return ChosenDataset(session.dataset(file.name, file.getvalue()), {"data": name}, {name: file.getvalue()})


def _three_files(key: str) -> ChosenDataset | None:
    uploads = {
        split: column.file_uploader(
            title, type=list(SUFFIXES), key=f"{key}-{split}", max_upload_size=limits.UPLOAD_MEGABYTES
        )
        for column, (split, title) in zip(st.columns(3), SPLITS.items(), strict=True)
    }
    files = {split: (file.name, file.getvalue()) for split, file in uploads.items() if file is not None}
    if not {"train", "test"} <= set(files):
        st.info("Choose a file to learn from and a file to test on: .conllu, .txt, .csv or .tsv.")
        return None
    chosen, shared = of_splits(files)
    if shared:
        st.warning(
            f"{shared:,} {'sentence stands' if shared == 1 else 'sentences stand'} in two of the files: left out of "
            "the one to learn from, or of the one to tune on where the other is the test."
        )
    return chosen


def of_splits(files: dict[str, tuple[str, bytes]]) -> tuple[ChosenDataset, int]:
    """split -> (name, content) of its file; the sentences, and how many of them stand in two splits."""
    names = {split: _plain_name(name) for split, (name, _) in files.items()}
    repeated = len(set(names.values())) < len(names)  # all three may be called data.csv
    names = {split: f"{split}-{name}" if repeated else name for split, name in names.items()}
    treebank, shared = session.datasets(tuple((split, names[split], content) for split, (_, content) in files.items()))
    return ChosenDataset(treebank, names, {names[split]: content for split, (_, content) in files.items()}), shared


def _plain_name(name: str) -> str:
    return Path(name).name.lstrip(".") or "data.txt"


def split_note(sizes: dict[str, int]) -> str:
    """How many sentences repeat another, stand in two splits or are too long: no test sentence was learned from."""
    sentences = ["No sentence is in two splits."]
    if duplicates := sizes.get("duplicates", 0):
        sentences.append(f"{duplicates:,} repeat another and are in its split.")
    if left_out := sizes.get("left_out", 0):
        sentences.append(f"{left_out:,} stood in two and were left out of the one that learns.")
    if skipped := sizes.get("skipped", 0):
        sentences.append(f"{skipped:,} are longer than the model reads and were left out.")
    return " ".join(sentences)
