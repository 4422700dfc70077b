"""Files that a reader chooses for train, dev and test reach the work in the queue, and stay apart."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.widgets import dataset
from model import smallworld
from probes.finetuning.results import FinetuningResult
from probes.probing import experiment as probing
from probes.probing import treebank
from probes.probing.results import ProbingResult
from probes.results import RESULT


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def table(first: int, last: int) -> bytes:
    texts = list({sentence.text: None for story in smallworld.stories(5, 30) for sentence in story.sentences})[first:last]
    return "\n".join(["text,label", *(f'"{text}",{len(text.split()) > 8}' for text in texts)]).encode()


FILES = {"train": ("data.csv", table(0, 62)), "dev": ("data.csv", table(60, 80)), "test": ("data.csv", table(80, 120))}


def test_three_files_of_one_name_are_told_apart_and_what_they_share_is_counted():
    chosen, shared = dataset.of_splits(FILES)
    assert chosen.arguments == {"train": "train-data.csv", "dev": "dev-data.csv", "test": "test-data.csv"}
    assert {name: chosen.files[file] for name, file in chosen.arguments.items()} == {
        split: content for split, (_, content) in FILES.items()
    }
    assert shared == 2
    assert [sentence.split for sentence in chosen.treebank.sentences] == ["train"] * 62 + ["dev"] * 20 + ["test"] * 40


@pytest.mark.parametrize(
    ("work", "more"), [("app.work.probing:run", {"layers": "0"}), ("app.work.finetuning:run", {"epochs": 1, "limit": 1000})]
)
def test_the_files_of_each_split_reach_the_work_through_the_queue(work, more):
    chosen, _ = dataset.of_splits(FILES)
    id = jobs.submit(work, {"model": "smallworld", "task": "label", **chosen.arguments, **more}, "mine", chosen.files)
    while jobs.get(id).is_active:
        time.sleep(0.1)
    job = jobs.get(id)
    assert job.state == "done", job.problem
    kind = ProbingResult if work.startswith("app.work.probing") else FinetuningResult
    sizes = kind.read(job.folder / RESULT).sizes
    assert (sizes["train"], sizes["dev"], sizes["test"]) == (60, 20, 40)


def picker() -> None:
    import streamlit as st

    from app.widgets import dataset

    chosen = dataset.choose(st.columns(2)[0], "Data", "reviews", "data")
    st.write(chosen.treebank.name if chosen else "nothing")


def test_every_data_set_of_the_project_is_offered_and_the_address_has_its_name(monkeypatch):
    monkeypatch.setitem(probing.BUNDLED_DATA, "mine", lambda: treebank.parse(table(0, 9).decode(), "mine.csv"))
    app = AppTest.from_function(picker, default_timeout=60)
    app.query_params["data"] = "mine"
    app.run()
    assert app.selectbox(key="data").value == "mine" and app.markdown[0].value == "mine.csv"
    offered = [*probing.BUNDLED_DATA, *dataset.UPLOADS]
    assert app.selectbox(key="data").options == [
        {name: title for name, (title, _) in dataset.BUNDLED.items()}.get(name, dataset.UPLOADS.get(name, name))
        for name in sorted(offered, key=lambda name: name != "reviews")
    ]
    app.selectbox(key="data").select("upload").run()
    assert app.query_params["data"] == "upload" and app.markdown[0].value == "nothing"


def test_the_split_is_described_with_its_numbers():
    sizes = {"train": 60, "dev": 20, "test": 40, "duplicates": 1616, "left_out": 7, "skipped": 0}
    assert dataset.split_note(sizes) == (
        "No sentence is in two splits. 1,616 repeat another and are in its split. "
        "7 stood in two and were left out of the one that learns."
    )
    assert dataset.split_note(dict.fromkeys(sizes, 0)) == "No sentence is in two splits."
