"""Long work in its own process: what the queue promises, seen from outside with real processes."""

import json
import os
import signal
import time

import pytest

from app import jobs, limits
from model import InputProblem

BOUND = "model.smallworld.measure:measured"


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """A runs folder of its own, left without a living process."""
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    yield tmp_path / "runs"
    for job in jobs.all():
        if job.state == "waiting":
            jobs.stop(job.id)
    for job in jobs.all():
        if job.state == "running":
            os.kill(_pid(job), signal.SIGKILL)


def _pid(job: jobs.Job) -> int:
    return json.loads((job.folder.parent / "process.json").read_text())["pid"]


def _until(id: str, *states: str) -> jobs.Job:
    deadline = time.monotonic() + 120
    while (job := jobs.find(id)).state not in states:
        assert time.monotonic() < deadline, f"still {job.state}, not {states}: {job.problem}"
        time.sleep(0.05)
    return job


def _working(id: str) -> jobs.Job:
    """The job once it has said something, so that its process is known to be at work."""
    deadline = time.monotonic() + 120
    while not (job := _until(id, "running", "failed", "done")).progress:
        assert time.monotonic() < deadline and job.state == "running", job
        time.sleep(0.05)
    return job


def test_work_runs_in_another_process_and_leaves_its_progress_and_results():
    id = jobs.submit(BOUND, {"count": 4}, "the bound")
    job = _until(id, "done", "failed")
    assert (job.state, job.problem) == ("done", "")
    assert _pid(job) != os.getpid()
    assert json.loads((job.folder / "bound.json").read_text())["pairs"] == 4
    fractions = [said["fraction"] for said in job.progress]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert jobs.latest(BOUND, {"count": 4}) == job and jobs.latest(BOUND, {"count": 5}) is None


def test_one_runs_the_others_wait_in_order_and_stopping_makes_room(monkeypatch):
    first, second, third = (jobs.submit(BOUND, {"count": 4000, "seed": seed}, f"number {seed}") for seed in range(3))
    assert jobs.submit(BOUND, {"count": 4000, "seed": 2}, "number 2 once more") == third
    places = [(job.title, job.place) for job in reversed(jobs.all())]
    assert places == [("number 0", 0), ("number 1", 1), ("number 2", 2)]
    monkeypatch.setattr(limits, "JOBS_WAITING", 2)
    with pytest.raises(InputProblem, match="waiting"):
        jobs.submit(BOUND, {"count": 1}, "one too many")
    jobs.stop(second)
    assert jobs.find(second).state == "stopped" and jobs.find(third).place == 1
    jobs.resume(second)
    assert jobs.find(second).place == 2, "who comes back stands at the end"
    jobs.stop(third)
    assert _working(first).state == "running"
    jobs.stop(first)
    assert jobs.find(first).stopping
    assert _until(first, "stopped").problem == ""
    assert _until(second, "running").place == 0


def test_a_killed_process_is_seen_as_stopped_and_can_be_resumed():
    id = jobs.submit(BOUND, {"count": 4000}, "to be killed")
    dead = _pid(_working(id))
    os.kill(dead, signal.SIGKILL)
    job = _until(id, "stopped")
    assert job.problem == jobs.VANISHED
    jobs.resume(id)
    again = _until(id, "running")
    assert again.problem == "" and _pid(again) != dead


def test_work_that_does_not_listen_is_ended(monkeypatch):
    monkeypatch.setattr(limits, "JOB_STOP_SECONDS", 0.5)
    # telling so many stories takes long and says nothing meanwhile
    id = jobs.submit(BOUND, {"count": 200_000}, "deaf")
    _until(id, "running")
    jobs.stop(id)
    assert _until(id, "stopped").state == "stopped"


def test_a_failure_is_told_in_one_sentence():
    id = jobs.submit(BOUND, {"count": 4, "keep": 3.0}, "impossible")
    job = _until(id, "failed", "done")
    assert job.state == "failed"
    assert job.problem == "The shares of masked, random and kept words must be 0 or more and add up to 100 %."


@pytest.mark.parametrize("work", [
    "os:system", "app.jobs:remove", "model.smallworld:os.system", "model/../os:system", "model.:load", "probesx.a:b",
    "model.smallworld.measure:nothing_there", "model.no_such_module:run"])
def test_only_work_of_this_project_is_accepted(work):
    with pytest.raises(InputProblem):
        jobs.submit(work, {}, "foreign")
    assert jobs.all() == []


@pytest.mark.parametrize("id", ["../../etc", "", "20260101-000000-012345678g", "20260101-000000-0123456789/..", "."])
def test_an_id_names_a_job_and_never_a_path(id, runs):
    runs.mkdir()
    (runs.parent / "job.json").write_text("{}")
    for ask in (jobs.find, jobs.stop, jobs.resume, jobs.remove):
        with pytest.raises(InputProblem, match="no such"):
            ask(id)


def test_files_for_a_job_have_plain_names_and_a_size_limit(monkeypatch):
    for name in ("../corpus.txt", "a/b.txt", ".hidden"):
        with pytest.raises(InputProblem, match="plain names"):
            jobs.submit(BOUND, {}, "files", {name: b"text"})
    monkeypatch.setattr(limits, "JOB_FILE_BYTES", 10)
    with pytest.raises(InputProblem, match="larger"):
        jobs.submit(BOUND, {}, "files", {"corpus.txt": b"eleven byte"})


def test_old_jobs_are_forgotten_beyond_the_limit(runs, monkeypatch):
    monkeypatch.setattr(limits, "JOBS_KEPT", 2)
    for number in range(4):
        folder = runs / f"20260101-00000{number}-0000000000"
        (folder / "results").mkdir(parents=True)
        (folder / "job.json").write_text(json.dumps({"title": str(number), "work": BOUND, "arguments": {}}))
        (folder / "ended.json").write_text(json.dumps({"state": "done", "problem": ""}))
    jobs.submit(BOUND, {"count": 1}, "newest")
    assert [job.title for job in jobs.all()] == ["newest", "3", "2"]


def test_a_line_cut_off_by_a_crash_does_not_hide_the_others(runs):
    folder = runs / "20260101-000000-0000000000"
    (folder / "results").mkdir(parents=True)
    (folder / "job.json").write_text(json.dumps({"title": "cut", "work": BOUND, "arguments": {}}))
    (folder / "process.json").write_text("{}")
    (folder / "progress.jsonl").write_text('{"fraction": 0.5, "stage": "half"}\n{"fraction": 0.6, "sta')
    job = jobs.find(folder.name)
    assert job.state == "stopped" and job.last == {"fraction": 0.5, "stage": "half"}
