"""Compare puts beside each other what was really asked alike; a result that cannot be read is named and passed over."""

import json
import time

import pytest

from app import jobs
from app.views.compare import probes
from app.views.probes import result
from model import smallworld
from probes import bundled
from probes.probing.results import RESULT, Result


def ran(model: str, limit: int, data: str = "smallworld", files: dict[str, bytes] | None = None) -> None:
    """One experiment through the queue, as the Probes page orders it."""
    id = jobs.submit(probes.WORK, {"model": model, "data": data, "task": "upos", "layers": "0", "limit": limit},
                     f"part of speech in {model}", files)
    while jobs.find(id).busy:
        time.sleep(0.1)
    assert jobs.find(id).state == "done", jobs.find(id).problem


def finished(name: str) -> dict[probes.Question, Result]:
    computed, trouble = result.stored([job for job in jobs.all() if job.work == probes.WORK])
    assert not trouble
    return probes.finished(name, list(computed.values()))


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))


def test_a_probe_that_was_run_on_a_model_and_on_its_random_twin_is_found_on_both():
    question = "part of speech", "small world.conllu", "linear", 300
    assert question not in {asked[:4] for asked in finished("smallworld")}
    ran("smallworld", 300)
    ran("smallworld:random", 300)
    trained, random = finished("smallworld"), finished("smallworld, random weights")
    (asked,) = [one for one in trained if one in random]
    assert asked[:4] == question
    assert trained[asked].rows[0]["accuracy"] != random[asked].rows[0]["accuracy"]
    # what stands beside the random weights are not these weights again
    (row,) = random[asked].rows
    assert (row["accuracy"], row["control"]) != (row["twin"], row["twin_control"])


def test_files_of_one_name_and_different_sentences_are_not_the_same_question():
    for model, seed in (("smallworld", 5), ("smallworld:random", 6)):
        mine = "".join(story.conllu() for story in smallworld.stories(seed, 16)).encode()
        ran(model, 300, "mine.conllu", {"mine.conllu": mine})
    trained, random = finished("smallworld"), finished("smallworld, random weights")
    assert {one[:4] for one in trained} & {one[:4] for one in random}
    assert not set(trained) & set(random)


WHOLE = bundled.probed()[-1].json()
UNREADABLE = {"another format": json.dumps(json.loads(WHOLE) | {"format": "bertscope probe 1"}), "cut off": WHOLE[:500],
              "wrong types": json.dumps(json.loads(WHOLE) | {"rows": [{"layer": "x"}], "settings": []}), "empty": ""}


def test_results_that_cannot_be_read_are_named_and_the_others_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path))
    listed = []
    for title, text in [*UNREADABLE.items(), ("whole", WHOLE), ("none yet", None)]:
        (tmp_path / title / "results").mkdir(parents=True)
        if text is not None:
            (tmp_path / title / "results" / RESULT).write_text(text)
        listed.append(jobs.Job(title, title, probes.WORK, {}, "done", 0, {}, "", False))
    computed, trouble = result.stored(listed)
    assert list(computed) == ["whole"] and [one.split(":")[0] for one in trouble] == list(UNREADABLE)
    assert all(RESULT in one for one in trouble)
