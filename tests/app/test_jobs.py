"""Long work in its own process: what the queue promises, seen from outside with real processes."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import psutil
import pytest

from app import folders, jobs, limits
from app.jobs import registry
from model import InputError

BOUND = "app.work.ceilings:measure"
LONG = {"count": 4000}  # minutes of work that reports often
SHORT = {"count": 4}
LOOKER = """
import json, random, sys, time
from pathlib import Path
from app import jobs
ids, finished = sys.argv[2:], Path(sys.argv[1])
while not finished.exists():
    id = random.choice(ids)
    started = time.monotonic()
    state = next(job for job in jobs.list_all() if job.id == id).state if random.random() < 0.2 else jobs.get(id).state
    print(json.dumps([id, state, started, time.monotonic()]))
    time.sleep(0.02)  # leaves the work some time
"""
SERVER = """
import sys, time
from app import jobs
jobs.watch()
for seed in sys.argv[1:]:
    jobs.submit("app.work.ceilings:measure", {"count": 4, "seed": int(seed)}, seed)
while any(job.is_active for job in jobs.list_all()):
    time.sleep(0.05)
"""


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    """A runs folder of its own, left without a living process."""
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    yield tmp_path / "runs"
    with contextlib.suppress(InputError):
        for job in jobs.list_all():
            if job.state == "waiting":
                jobs.stop(job.id)
        for job in jobs.list_all():
            if job.state == "running":
                os.kill(_pid(job.id), signal.SIGKILL)


def _row(id: str) -> dict:
    """A job as it stands in the file, without anybody looking through the queue."""
    with contextlib.closing(sqlite3.connect(jobs.runs() / "bertscope.sqlite", timeout=20)) as database:
        database.row_factory = sqlite3.Row
        return dict(database.execute("SELECT * FROM jobs WHERE id = ?", (id,)).fetchone())


def _unseen(id: str, *states: str) -> dict:
    """The row of a job once it is in one of these states and, if it runs, at work."""
    deadline = time.monotonic() + 240
    while (row := _row(id))["state"] not in states or (row["state"] == "running" and row["last_progress"] == "{}"):
        assert time.monotonic() < deadline, f"still {row['state']}, not {states}: {row['error']}"
        time.sleep(0.02)
    return row


def _pid(id: str) -> int:
    deadline = time.monotonic() + 240
    while (pid := _row(id)["pid"]) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return pid


def _killed(pid: int) -> None:
    """Kill -9, and wait until the process is gone with all its threads: the last of them lets its files go."""
    os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(psutil.NoSuchProcess):
        while (process := psutil.Process(pid)).status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1:
            time.sleep(0.001)


def _until(id: str, *states: str) -> jobs.Job:
    deadline = time.monotonic() + 240
    while (job := jobs.get(id)).state not in states:
        assert time.monotonic() < deadline, f"still {job.state}, not {states}: {job.problem}"
        time.sleep(0.05)
    return job


def _working(id: str) -> jobs.Job:
    """The job once it has reported progress, so that its process is known to be at work."""
    _unseen(id, "running", "failed", "done")
    return jobs.get(id)


def _finished(runs: Path, number: int, state: str = "done", lines: int = 0) -> str:
    """The folder of a job as the queue leaves it; the registry learns of it when it is rebuilt."""
    id = f"20260101-000000-{number:010}"
    (runs / id / "results").mkdir(parents=True)
    (runs / id / "results" / "result.txt").write_text(f"result {number}")
    (runs / id / "progress.jsonl").write_text(
        "".join(
            json.dumps({"fraction": line / lines, "stage": "at work", "loss": 1 / line}) + "\n"
            for line in range(1, lines + 1)
        )
    )
    (runs / id / "job.json").write_text(
        json.dumps(
            {
                "id": id,
                "title": str(number),
                "owner": "",
                "function": BOUND,
                "arguments": {"count": number},
                "state": state,
                "arguments_digest": f"digest {number}",
                "fingerprint": f"print {number}",
                "queue_order": number,
                "pid": 1,
                "created": 1.0,
                "started": 2.0,
                "stop_requested": None,
                "ended": 3.0,
                "error": "",
            }
        )
    )
    return id


def test_work_runs_in_another_process_and_leaves_its_progress_and_results():
    id = jobs.submit(BOUND, {"count": 4}, "the bound")
    job = _until(id, "done", "failed")
    assert (job.state, job.problem) == ("done", "")
    assert _pid(id) != os.getpid()
    assert json.loads((job.folder / "bound.json").read_text())["pairs"] == 4
    fractions = [report["fraction"] for report in job.progress]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0 and job.last_progress == job.progress[-1]
    assert jobs.latest(BOUND, {"count": 4}) == job == jobs.latest(BOUND)
    assert jobs.latest(BOUND, {"count": 5}) is None and jobs.latest("app.work.other:work") is None


def test_one_runs_the_others_wait_in_order_and_stopping_makes_room(monkeypatch):
    first, second, third = (jobs.submit(BOUND, LONG | {"seed": seed}, f"number {seed}") for seed in range(3))
    assert jobs.submit(BOUND, LONG | {"seed": 2}, "number 2 once more") == third
    assert jobs.submit(BOUND, LONG | {"seed": 2}, "of another file", {"a.txt": b"a"}) not in (first, second, third)
    places = [(job.title, job.queue_position) for job in reversed(jobs.list_all())]
    assert places == [("number 0", 0), ("number 1", 1), ("number 2", 2), ("of another file", 3)]
    monkeypatch.setattr(limits, "JOBS_WAITING", 3)
    with pytest.raises(InputError, match="waiting"):
        jobs.submit(BOUND, SHORT, "one too many")
    assert not list(jobs.runs().glob(".*.new")), "what was refused leaves no files"
    jobs.stop(second)
    assert jobs.get(second).state == "stopped" and jobs.get(third).queue_position == 1
    jobs.resume(second)
    assert jobs.get(second).queue_position == 3, "who comes back stands at the end"
    jobs.remove(jobs.list_all()[0].id)
    jobs.stop(third)
    assert _working(first).state == "running" and jobs.running() == jobs.get(first)
    jobs.stop(first)
    assert jobs.get(first).stopping
    assert _until(first, "stopped").problem == ""
    assert _until(second, "running").queue_position == 0, "it was stopped while it waited, and that is forgotten"
    _working(second)
    assert not jobs.get(second).stopping


def test_a_killed_process_is_seen_as_stopped_and_goes_on_in_its_folder(monkeypatch):
    id = jobs.submit(BOUND, LONG, "to be killed")
    folder, dead = _working(id).folder, _pid(id)
    (folder / "half.txt").write_text("half of it")
    _killed(dead)
    job = jobs.get(id)
    assert (job.state, job.problem) == ("stopped", jobs.VANISHED), "the first look knows"
    jobs.resume(id)
    again = jobs.get(id)
    assert (again.state, again.problem, again.folder) == ("running", "", folder)
    assert _pid(id) != dead and (folder / "half.txt").read_text() == "half of it"


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
    assert job.problem and job.problem.endswith("each must be 0 % or more, and together 100 %.")


def test_a_process_that_cannot_begin_says_why_and_makes_room(runs):
    first, second, third = (jobs.submit(BOUND, arguments, "in a row") for arguments in (LONG, SHORT, LONG | {"seed": 2}))
    (runs / second / "alive").mkdir()  # so that it cannot take its lock
    _killed(_pid(first))
    assert jobs.get(first).state == "stopped"
    assert jobs.get(second).state == "stopped" and "unable to open" in jobs.get(second).problem
    assert _until(third, "running")


def test_the_next_job_starts_without_anybody_looking_and_priorities_do_not_add_up():
    """From one worker to the next, and after a worker that was killed by the watcher of a server."""
    first, second, third, fourth = (
        jobs.submit(BOUND, arguments, "in a row") for arguments in (SHORT, SHORT | {"seed": 2}, LONG, LONG | {"seed": 2})
    )
    row = _unseen(third, "running")
    assert _row(first)["state"] == _row(second)["state"] == "done"
    niceness = max(limits.JOB_NICENESS, os.getpriority(os.PRIO_PROCESS, 0))
    assert os.getpriority(os.PRIO_PROCESS, row["pid"]) == niceness, "the third in a row"
    jobs.watch()
    _killed(row["pid"])
    row = _unseen(fourth, "running")
    assert _row(third)["state"] == "stopped" and _row(third)["error"] == jobs.VANISHED
    assert os.getpriority(os.PRIO_PROCESS, row["pid"]) == niceness


def test_two_servers_start_each_job_exactly_once_and_one_at_a_time():
    servers = [
        subprocess.Popen([sys.executable, "-c", SERVER, *map(str, seeds)], cwd=folders.CODE)
        for seeds in (range(0, 20, 2), range(1, 20, 2))
    ]
    assert [server.wait(600) for server in servers] == [0, 0]
    listed = jobs.list_all()
    assert sorted(int(job.title) for job in listed) == list(range(20)) and {job.state for job in listed} == {"done"}
    for job in listed:
        assert [report["fraction"] for report in job.progress].count(1.0) == 1, "done once"
    spans = sorted((row["started"], row["ended"]) for row in map(_row, (job.id for job in listed)))
    assert all(ended <= started for (_, ended), (started, _) in pairwise(spans)), "never two at once"


def test_no_look_takes_a_dead_job_for_a_living_one_or_a_living_one_for_dead(tmp_path):
    """Eight processes look while jobs start, are killed, stopped, and end by themselves."""
    ids = [jobs.submit(BOUND, arguments, "looked at") for arguments in (LONG, LONG | {"seed": 2}, LONG | {"seed": 3}, SHORT)]
    finished, alive, dead = tmp_path / "finished", {}, {}
    lookers = []
    for number in range(8):
        with (tmp_path / f"{number}.txt").open("w") as output:
            words = [sys.executable, "-c", LOOKER, str(finished), *ids]
            lookers.append(subprocess.Popen(words, cwd=folders.CODE, text=True, stdout=output))
    try:
        for id in ids:
            pid, began = _pid(id), time.monotonic()
            if id != ids[3]:
                _unseen(id, "running")
                alive[id] = began, time.monotonic()
            if id == ids[3]:
                _unseen(id, "done")
            elif id == ids[1]:
                jobs.stop(id)
                _unseen(id, "stopped")
            else:
                _killed(pid)
            dead[id] = time.monotonic()
        while sum((tmp_path / f"{number}.txt").read_text().count("\n") for number in range(8)) < 8 * 200:
            time.sleep(0.1)
    finally:
        finished.touch()
    assert [looker.wait(60) for looker in lookers] == [0] * 8
    looks = [json.loads(line) for number in range(8) for line in (tmp_path / f"{number}.txt").read_text().splitlines()]
    of_the_dead = [state for id, state, began, _ in looks if began > dead[id]]
    of_the_living = [
        state for id, state, began, ended in looks if id in alive and alive[id][0] < began and ended < alive[id][1]
    ]
    assert len(of_the_dead) > 50 and not {"waiting", "running"} & set(of_the_dead)
    assert len(of_the_living) > 50 and set(of_the_living) == {"running"}
    print(f"{len(of_the_dead):,} looks at the dead and {len(of_the_living):,} at the living")


def _counted(action) -> tuple[int, int]:
    """How many statements an action sends to the database, and how many files it opens or folders it lists."""
    statements, opened = [], []
    with registry.transaction() as database:
        database.set_trace_callback(statements.append)
    watched.append(opened)
    action()
    watched.pop()
    return len(statements) - 1, len(opened)  # one is the COMMIT of the transaction above


watched: list[list] = []


def _audited(event: str, arguments: tuple) -> None:
    if watched and event in ("open", "os.listdir", "os.scandir", "sqlite3.connect", "fcntl.flock", "fcntl.lockf"):
        watched[-1].append((event, arguments))


def test_a_look_is_one_select_however_many_jobs_there_are(runs):
    ids = [_finished(runs, number, lines=400) for number in range(100)]
    assert len(jobs.list_all()) == 100
    sys.addaudithook(_audited)
    assert _counted(lambda: jobs.get(ids[50])) == (1, 0)
    assert _counted(jobs.list_all) == (1, 0)
    assert _counted(lambda: jobs.exists(ids[50])) == (1, 0)
    assert _counted(lambda: jobs.latest(BOUND, {"count": 7})) == (1, 0)
    assert _counted(lambda: jobs.get(ids[50]).progress) == (1, 1)
    plan = registry.read("EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE fingerprint = ? AND state = 'waiting'", "")
    assert "by_fingerprint" in plan[0]["detail"]


def _garbage(database: Path) -> None:
    database.write_bytes(os.urandom(50_000))


def _half(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:6000])


@pytest.mark.parametrize("harm", [Path.unlink, _garbage, _half, lambda database: database.write_bytes(b"")])
def test_a_lost_database_is_made_again_from_the_folders(runs, harm):
    ids = [_finished(runs, number, "failed" if number % 5 == 0 else "done", lines=3) for number in range(40)]
    before = jobs.list_all()
    assert [job.id for job in before] == ids[::-1]
    for suffix in ("-wal", "-shm"):
        (runs / f"bertscope.sqlite{suffix}").unlink(missing_ok=True)
    harm(runs / "bertscope.sqlite")
    assert jobs.list_all() == before
    assert jobs.get(ids[7]).last_progress == {"fraction": 1.0, "stage": "at work", "loss": 1 / 3}
    assert (jobs.get(ids[7]).folder / "result.txt").read_text() == "result 7"


def test_a_running_job_and_the_queue_survive_the_loss_of_the_database(runs):
    first, second = jobs.submit(BOUND, LONG, "at work"), jobs.submit(BOUND, SHORT, "waiting")
    pid = _pid(first)
    _working(first)
    for file in runs.glob("bertscope.sqlite*"):
        file.unlink()
    assert {job.title: job.state for job in jobs.list_all()} == {"waiting": "waiting", "at work": "running"}
    assert _pid(first) == pid
    jobs.stop(first)
    assert _until(first, "stopped") and _until(second, "done")


def test_what_is_not_a_job_of_ours_is_passed_over(runs):
    id = _finished(runs, 1)
    record = json.loads((runs / id / "job.json").read_text())
    for number, content in enumerate(
        (
            "",
            "[1]",
            "{",
            json.dumps(record),
            json.dumps(record | {"id": "x", "more": 1}),
            json.dumps({"title": "of before", "work": BOUND}),
        )
    ):
        (runs / f"x{number}").mkdir()
        (runs / f"x{number}" / "job.json").write_text(content)
    strange = _finished(runs, 2)
    (runs / strange / "job.json").write_text(json.dumps(record | {"id": strange, "state": "asleep"}))
    (runs / "a file").write_text("")
    assert [job.id for job in jobs.list_all()] == [id]


def test_a_database_of_a_newer_version_is_left_alone(runs):
    _finished(runs, 1)
    with contextlib.closing(sqlite3.connect(runs / "bertscope.sqlite")) as database:
        database.execute("PRAGMA user_version = 99")
    for ask in (jobs.list_all, lambda: jobs.submit(BOUND, SHORT, "new")):
        with pytest.raises(InputError, match=r"newer Bertscope \(version 99"):
            ask()
    assert not list(runs.glob("*damaged*"))


def test_a_folder_that_cannot_hold_the_queue_is_said_in_one_sentence(runs):
    runs.parent.joinpath("runs").write_text("a file, not a folder")
    with pytest.raises(InputError, match="cannot be stored in"):
        jobs.submit(BOUND, SHORT, "nowhere")
    runs.unlink()
    (runs / "bertscope.sqlite-shm").mkdir(parents=True)  # what a file system without shared memory does: no log
    with pytest.raises(InputError, match="local disk"):
        jobs.list_all()


@pytest.mark.parametrize(
    "work",
    [
        "os:system",
        "app.jobs:remove",
        "model.smallworld:os.system",
        "model/../os:system",
        "model.:load",
        "probesx.a:b",
        "app.work.ceilings:nothing_there",
        "app.work.no_such_module:run",
    ],
)
def test_only_work_of_this_project_is_accepted(work):
    with pytest.raises(InputError):
        jobs.submit(work, {}, "foreign")
    assert jobs.list_all() == []


@pytest.mark.parametrize("id", ["../../etc", "", "20260101-000000-012345678g", "20260101-000000-0123456789/..", "."])
def test_an_id_names_a_job_and_never_a_path(id, runs):
    runs.mkdir()
    (runs.parent / "job.json").write_text("{}")
    for ask in (jobs.get, jobs.stop, jobs.resume, jobs.remove):
        with pytest.raises(InputError, match="no such"):
            ask(id)
    assert not jobs.exists(id)


def test_files_for_a_job_have_plain_names_and_a_size_limit(monkeypatch):
    for name in ("../corpus.txt", "a/b.txt", ".hidden"):
        with pytest.raises(InputError, match="plain names"):
            jobs.submit(BOUND, {}, "files", {name: b"text"})
    monkeypatch.setattr(limits, "JOB_FILE_BYTES", 10)
    with pytest.raises(InputError, match="larger"):
        jobs.submit(BOUND, {}, "files", {"corpus.txt": b"eleven byte"})


def test_no_work_is_taken_while_the_disk_is_nearly_full(runs, monkeypatch):
    monkeypatch.setattr(limits, "JOB_FREE_BYTES", 2**60)
    with pytest.raises(InputError, match=r"GB left.* delete finished work or models first"):
        jobs.submit(BOUND, SHORT, "too much")
    assert jobs.list_all() == []


def test_old_jobs_are_forgotten_beyond_the_limit(runs, monkeypatch):
    monkeypatch.setattr(limits, "JOBS_KEPT", 2)
    for number in range(4):
        _finished(runs, number)
    id = jobs.submit(BOUND, SHORT, "newest")
    assert [job.title for job in jobs.list_all()] == ["newest", "3", "2"]
    assert sorted(entry.name[-1] for entry in runs.iterdir() if entry.is_dir()) == sorted(["2", "3", id[-1]])


def test_a_job_is_removed_with_its_results_unless_it_runs(runs):
    done, first = _finished(runs, 1), jobs.submit(BOUND, LONG, "at work")
    second = jobs.submit(BOUND, LONG | {"seed": 2}, "waiting")
    for id in (done, second):
        jobs.remove(id)
        assert not jobs.exists(id) and not list(runs.glob(f"*{id}*"))
    with pytest.raises(InputError, match="running"):
        jobs.remove(first)
    assert jobs.get(first).state == "running"


def test_a_job_whose_folder_was_deleted_by_hand_is_forgotten(runs):
    deleted, remaining = _finished(runs, 1), _finished(runs, 2)
    assert jobs.exists(deleted)
    shutil.rmtree(runs / deleted)
    jobs.watch()
    deadline = time.monotonic() + 60
    while jobs.exists(deleted):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert jobs.exists(remaining)


def test_a_line_cut_off_by_a_crash_does_not_hide_the_others(runs):
    id = _finished(runs, 1, "running")
    (runs / id / "progress.jsonl").write_text('{"fraction": 0.5, "stage": "half"}\n{"fraction": 0.6, "sta')
    job = jobs.get(id)
    assert (job.state, job.problem) == ("stopped", jobs.VANISHED)
    assert job.last_progress == {"fraction": 0.5, "stage": "half"} and job.progress == [job.last_progress]


def test_a_file_that_is_being_replaced_is_read_a_moment_later(tmp_path):
    """As Windows does it: the file is there, and may not be opened just now."""
    file, refusals = tmp_path / "result.json", [PermissionError()]
    file.write_text("{}")

    def read() -> str:
        if refusals:
            raise refusals.pop()
        return file.read_text()

    assert jobs.patiently(read) == "{}"
    refusals[:] = [PermissionError()] * 1000
    assert jobs.patiently(read) is None, "for now it is as if it were not there"
    refusals.clear()
    file.unlink()
    assert jobs.patiently(read) is None


def test_a_record_that_is_being_read_is_replaced_a_moment_later(runs, monkeypatch):
    id, refusals = _finished(runs, 1, "stopped"), [PermissionError()]
    rename = Path.replace

    def refused_once(self, target):
        if refusals:
            raise refusals.pop()
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", refused_once)
    with registry.transaction() as database:
        registry.change(database, id, title="another")
    assert not refusals and json.loads((runs / id / "job.json").read_text())["title"] == "another"


def main() -> None:
    """Print what looks cost, in microseconds, with a hundred finished jobs of 400 lines of progress."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BERTSCOPE_RUNS"] = folder
        ids = [_finished(Path(folder), number, lines=400) for number in range(100)]
        jobs.list_all()
        for name, action in {
            "find": lambda: jobs.get(ids[50]),
            "all": jobs.list_all,
            "exists": lambda: jobs.exists(ids[50]),
            "latest": lambda: jobs.latest(BOUND),
        }.items():
            times = []
            for _ in range(1000):
                began = time.perf_counter()
                action()
                times.append(time.perf_counter() - began)
            print(f"{name:8} median {median(times) * 1e6:7,.0f} µs")


if __name__ == "__main__":
    main()
