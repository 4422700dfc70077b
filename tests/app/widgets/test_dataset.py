"""Files that a reader chooses for train, dev and test reach the work in the queue, and stay apart."""

import time

import pytest

from app import jobs
from app.widgets import dataset
from model import smallworld
from probes.finetuning import experiment
from probes.probing import results


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def table(first: int, last: int) -> bytes:
    texts = list({sentence.text: None for story in smallworld.stories(5, 30) for sentence in story.sentences})[first:last]
    return "\n".join(["text,label", *(f'"{text}",{len(text.split()) > 8}' for text in texts)]).encode()


GIVEN = {"train": ("data.csv", table(0, 62)), "dev": ("data.csv", table(60, 80)), "test": ("data.csv", table(80, 120))}


def test_three_files_of_one_name_are_told_apart_and_what_they_share_is_counted():
    chosen, shared = dataset.apart(GIVEN)
    assert chosen.arguments == {"train": "train-data.csv", "dev": "dev-data.csv", "test": "test-data.csv"}
    assert {name: chosen.files[file] for name, file in chosen.arguments.items()} == {
        split: content for split, (_, content) in GIVEN.items()}
    assert shared == 2
    assert [sentence.split for sentence in chosen.bank.sentences] == ["train"] * 62 + ["dev"] * 20 + ["test"] * 40


@pytest.mark.parametrize(("work", "more"), [
    ("app.work.probing:run", {"layers": "0"}), ("app.work.finetuning:run", {"epochs": 1, "limit": 1000})])
def test_the_files_of_each_split_reach_the_work_through_the_queue(work, more):
    chosen, _ = dataset.apart(GIVEN)
    id = jobs.submit(work, {"model": "smallworld", "task": "label", **chosen.arguments, **more}, "mine", chosen.files)
    while jobs.find(id).busy:
        time.sleep(0.1)
    job = jobs.find(id)
    assert job.state == "done", job.problem
    read, file = (results.read, results.RESULT) if work.startswith("app.work.probing") else (experiment.read,
                                                                                              experiment.RESULT)
    sizes = read(job.folder / file).sizes
    assert (sizes["train"], sizes["dev"], sizes["test"]) == (60, 20, 40)
