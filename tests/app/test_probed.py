"""Compare puts beside each other what was really asked alike: the same task, data, probe and number of examples."""

import time

import pytest

from app import jobs
from app.views.compare import probed
from model import smallworld


def ran(model: str, limit: int, data: str = "smallworld", files: dict[str, bytes] | None = None) -> None:
    """One experiment through the queue, as the Probes page orders it."""
    id = jobs.submit(probed.WORK, {"model": model, "data": data, "task": "upos", "layers": "0", "limit": limit},
                     f"part of speech in {model}", files)
    while jobs.find(id).busy:
        time.sleep(0.1)
    assert jobs.find(id).state == "done", jobs.find(id).problem


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def test_a_probe_that_was_run_on_a_model_and_on_its_random_twin_is_found_on_both():
    question = "part of speech", "small world.conllu", "linear", 300
    assert question not in {asked[:4] for asked in probed.finished("smallworld")}
    ran("smallworld", 300)
    ran("smallworld:random", 300)
    trained, random = probed.finished("smallworld"), probed.finished("smallworld, random weights")
    (asked,) = [one for one in trained if one in random]
    assert asked[:4] == question
    assert trained[asked].rows[0]["accuracy"] != random[asked].rows[0]["accuracy"]


def test_files_of_one_name_and_different_sentences_are_not_the_same_question():
    for model, seed in (("smallworld", 5), ("smallworld:random", 6)):
        mine = "".join(story.conllu() for story in smallworld.stories(seed, 16)).encode()
        ran(model, 300, "mine.conllu", {"mine.conllu": mine})
    trained, random = probed.finished("smallworld"), probed.finished("smallworld, random weights")
    assert {one[:4] for one in trained} & {one[:4] for one in random}
    assert not set(trained) & set(random)
