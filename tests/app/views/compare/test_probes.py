"""Compare shows only results of one question together; a result that cannot be read is named and passed over."""

import json
import time

import pytest

from app import jobs
from app.views.compare import probes
from app.views.probes import result
from model import smallworld
from probes import bundled
from probes.probing.results import ProbingResult
from probes.results import RESULT


def ran(model: str, limit: int, data: str = "smallworld", files: dict[str, bytes] | None = None) -> None:
    """One experiment through the queue, as the Probes page orders it."""
    id = jobs.submit(
        probes.WORK,
        {"model": model, "data": data, "task": "upos", "layers": "0", "limit": limit},
        f"part of speech in {model}",
        files,
    )
    while jobs.get(id).is_active:
        time.sleep(0.1)
    assert jobs.get(id).state == "done", jobs.get(id).problem


def finished(name: str) -> dict[probes.Question, ProbingResult]:
    computed, trouble = result.stored([job for job in jobs.list_all() if job.work == probes.WORK])
    assert not trouble
    return probes.finished(name, list(computed.values()))


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def test_a_probe_that_was_run_on_a_model_and_on_its_random_init_copy_is_on_both_sides():
    question = "part of speech", "small world.conllu", "linear", 300
    assert question not in {key[:4] for key in finished("smallworld")}
    ran("smallworld", 300)
    ran("smallworld:random", 300)
    trained, random = finished("smallworld"), finished("smallworld, random weights")
    (shared,) = [key for key in trained if key in random]
    assert shared[:4] == question
    assert trained[shared].rows[0]["accuracy"] != random[shared].rows[0]["accuracy"]
    # what stands beside the random weights are not these weights again
    (row,) = random[shared].rows
    assert (row["accuracy"], row["control"]) != (row["random_init"], row["random_init_control"])


def test_files_of_one_name_and_different_sentences_are_not_the_same_question():
    for model, seed in (("smallworld", 5), ("smallworld:random", 6)):
        mine = "".join(story.conllu() for story in smallworld.stories(seed, 16)).encode()
        ran(model, 300, "mine.conllu", {"mine.conllu": mine})
    trained, random = finished("smallworld"), finished("smallworld, random weights")
    assert {key[:4] for key in trained} & {key[:4] for key in random}
    assert not set(trained) & set(random)


WHOLE = bundled.probing()["smallworld-upos"].json()
UNREADABLE = {
    "another format": json.dumps(json.loads(WHOLE) | {"format": "bertscope probe 1"}),
    "cut off": WHOLE[:500],
    "wrong types": json.dumps(json.loads(WHOLE) | {"rows": [{"layer": "x"}], "settings": []}),
    "empty": "",
}


def test_results_that_cannot_be_read_are_named_and_the_others_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))
    listed = []
    for title, text in [*UNREADABLE.items(), ("whole", WHOLE), ("none yet", None)]:
        (tmp_path / title / "results").mkdir(parents=True)
        if text is not None:
            (tmp_path / title / "results" / RESULT).write_text(text)
        listed.append(jobs.Job(title, title, probes.WORK, {}, "done", 0, {}, "", False))
    computed, trouble = result.stored(listed)
    assert list(computed) == ["whole"] and [sentence.split(":")[0] for sentence in trouble] == list(UNREADABLE)
    assert all(RESULT in sentence for sentence in trouble)
