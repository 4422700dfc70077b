"""Long work in its own process: one queue, one job at a time, everything it says and makes on disk.

A job is a folder below `runs/`: `job.json` says what to do, `progress.jsonl` is what the work said so far, `ended.json`
how it ended, `results/` what it made. The process holds a lock on `alive` as long as it lives, so whoever looks, after
a browser reload or a server restart, knows whether it still runs; nobody has to remember a process number.
"""

import contextlib
import hashlib
import importlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from model import InputProblem

from . import limits
from .alive import lives

ROOT = Path(__file__).parent.parent
ROOMS = ("model.", "probes.")  # only work that lives here is ever run
ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{10}")  # date, time, microseconds: they sort by age
WORK = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+:[a-z_]\w*")
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way to end a process
VANISHED = "Its process ended without a word: it was killed, or the machine was restarted. It can be resumed."


@dataclass(frozen=True)
class Job:
    """A piece of long work as it stands now."""

    id: str
    title: str
    work: str  # "package.module:function"
    arguments: dict[str, Any]
    state: str  # waiting, running, done, stopped or failed
    place: int  # 1 is next in the queue; 0 when it is not waiting
    progress: list[dict[str, Any]]
    folder: Path  # where the work writes its results
    problem: str  # one sentence when it failed or vanished, else empty
    stopping: bool  # asked to stop, not yet stopped

    @property
    def last(self) -> dict[str, Any]:
        """What the work said last."""
        return self.progress[-1] if self.progress else {}

    @property
    def busy(self) -> bool:
        """Whether it runs or waits for its turn."""
        return self.state in ("waiting", "running")


def runs() -> Path:
    """The folder of all jobs: `runs/` beside the models folder, or what BERTSCOPE_RUNS names."""
    models = Path(os.environ.get("BERTSCOPE_MODELS") or ROOT / "checkpoints")
    return Path(os.environ.get("BERTSCOPE_RUNS") or models.absolute().parent / "runs")


def submit(work: str, arguments: Mapping[str, Any], title: str, files: Mapping[str, bytes] | None = None) -> str:
    """Queue `function(folder, **arguments)` and return the job's id; the same work still under way is not repeated.

    The function is a generator of dicts with "fraction" (0 to 1) and "stage" (words), optionally "eta" (seconds) and
    anything else JSON can hold. It writes into `folder`, where `files` stand already; run again there, it resumes.
    """
    function(work)
    said = json.dumps(dict(arguments), sort_keys=True)
    if len(said) > limits.JOB_ARGUMENT_BYTES:
        raise InputProblem(f"This work was given {len(said):,} characters of settings; at most "
                           f"{limits.JOB_ARGUMENT_BYTES:,} are allowed.")
    files = dict(files or {})
    if any(Path(name).name != name or name.startswith(".") for name in files):
        raise InputProblem("The files of a job need plain names.")
    if sum(map(len, files.values())) > limits.JOB_FILE_BYTES:
        raise InputProblem(f"The files are larger than {limits.JOB_FILE_BYTES // 2**20} MB together.")
    fingerprint = _fingerprint(work, said, files)
    with _locked():
        waiting = 0
        for folder in _folders():
            state = _state(folder)
            waiting += state == "waiting"
            if state in ("waiting", "running") and recorded(folder / "job.json").get("fingerprint") == fingerprint:
                return folder.name
        if waiting >= limits.JOBS_WAITING:
            raise InputProblem(f"{waiting} pieces of work are waiting already; try again when one is done.")
        name = f"{datetime.now():%Y%m%d-%H%M%S-%f}{secrets.token_hex(2)}"
        made = runs() / f".{name}.new"
        (made / "results").mkdir(parents=True)
        for file, content in files.items():
            (made / "results" / file).write_bytes(content)
        record(made / "job.json", {"title": title, "work": work, "arguments": json.loads(said),
                                   "fingerprint": fingerprint, "queued": time.time()})
        made.rename(runs() / name)
        _forget_the_oldest()
    advance()
    return name


def find(id: str) -> Job:
    """The job with this id as it stands now."""
    advance()
    folder = _folder(id)
    return _job(folder, _queue())


def exists(id: str) -> bool:
    """Whether there is a job with this id, whatever its state."""
    return bool(ID.fullmatch(id)) and (runs() / id / "job.json").is_file()


def all() -> list[Job]:
    """Every job, the newest first."""
    advance()
    queue = _queue()
    return [_job(folder, queue) for folder in reversed(_folders())]


def latest(work: str, arguments: Mapping[str, Any] | None = None) -> Job | None:
    """The newest job that did or does this work, with exactly these arguments where they are given."""
    advance()
    for folder in reversed(_folders()):
        described = recorded(folder / "job.json")
        if described.get("work") == work and (arguments is None or described.get("arguments") == dict(arguments)):
            return _job(folder, _queue())
    return None


def stop(id: str) -> None:
    """Ask a job to stop after its present step; a process that does not listen is ended after a while."""
    folder = _folder(id)
    with _locked():
        state = _state(folder)
        if state == "waiting":
            record(folder / "ended.json", {"state": "stopped", "problem": ""})
        elif state == "running":
            (folder / "stop").touch()
            threading.Thread(target=_insist, args=(folder,), daemon=True).start()
    advance()


def resume(id: str) -> None:
    """Queue a stopped or failed job again, at the end; the work goes on from what stands in its folder."""
    folder = _folder(id)
    with _locked():
        if _state(folder) in ("stopped", "failed"):
            for name in ("stop", "process.json", "errors.txt", "ended.json"):
                (folder / name).unlink(missing_ok=True)
            record(folder / "job.json", recorded(folder / "job.json") | {"queued": time.time()})
    advance()


def remove(id: str) -> None:
    """Delete a job that is not running, with its results."""
    folder = _folder(id)
    with _locked():
        if _state(folder) != "running":
            _delete(folder)


def function(work: str):
    """The generator function that `work` names; only functions of this project's own rooms are accepted."""
    module, _, name = work.partition(":")
    if not WORK.fullmatch(work) or not module.startswith(ROOMS):
        raise InputProblem(f"{work!r} is not work this app may run.")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise InputProblem(f"There is no work called {work}.") from None


def advance() -> None:
    """Start the next waiting job when none is running."""
    if not runs().is_dir():
        return
    with _locked():
        if any(_state(folder) == "running" for folder in _folders()):
            return
        queue = _queue()
        if queue:
            _start(runs() / queue[0])


def _start(folder: Path) -> None:
    # a group of its own: Ctrl-C in the terminal of the app is not meant for it
    apart = ({"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS}
             if sys.platform == "win32" else {"start_new_session": True})
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen([sys.executable, "-m", "app.alive", str(folder)], cwd=ROOT, stdin=subprocess.DEVNULL,
                                   stdout=errors, stderr=errors, **apart)
    record(folder / "process.json", {"pid": process.pid, "started": time.time()})
    # it takes its lock before anything else; until then it would look like one that has vanished
    while process.poll() is None and not lives(folder):
        time.sleep(0.01)
    threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie behind


def _insist(folder: Path) -> None:
    for number, patience in ((signal.SIGTERM, limits.JOB_STOP_SECONDS), (KILL, 5)):
        until = time.monotonic() + patience
        while time.monotonic() < until and lives(folder):
            time.sleep(0.1)
        pid = recorded(folder / "process.json").get("pid")
        if pid and lives(folder) and (folder / "stop").exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _state(folder: Path) -> str:
    alive = lives(folder)  # asked first: a process writes how it ended before it lets go
    if (ended := recorded(folder / "ended.json")):
        return ended["state"]
    if alive:
        return "running"
    return "stopped" if (folder / "process.json").exists() else "waiting"


def _job(folder: Path, queue: list[str]) -> Job:
    described, state, ended = recorded(folder / "job.json"), _state(folder), recorded(folder / "ended.json")
    problem = ended.get("problem", "")
    if state == "stopped" and not ended:
        problem = _last_words(folder) or VANISHED
    return Job(folder.name, described.get("title", ""), described.get("work", ""), described.get("arguments", {}),
               state, queue.index(folder.name) + 1 if folder.name in queue else 0, _progress(folder),
               folder / "results", problem, state == "running" and (folder / "stop").exists())


def _progress(folder: Path) -> list[dict[str, Any]]:
    try:
        lines = (folder / "progress.jsonl").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    said = []
    for line in lines:
        with contextlib.suppress(ValueError):  # a line cut off by a killed process
            said.append(json.loads(line))
    return said


def _last_words(folder: Path) -> str:
    """The last line a process that vanished wrote to its error output, which is where Python says why."""
    try:
        lines = (folder / "errors.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except FileNotFoundError:
        return ""
    return lines[-1].strip()[:300] if lines else ""


def _folders() -> list[Path]:
    if not runs().is_dir():
        return []
    return sorted(entry for entry in runs().iterdir() if ID.fullmatch(entry.name) and (entry / "job.json").is_file())


def _folder(id: str) -> Path:
    if not exists(id):
        raise InputProblem("There is no such piece of work; it may have been removed.")
    return runs() / id


def _queue() -> list[str]:
    """The ids of the waiting jobs, the next one first."""
    waiting = {folder.name: recorded(folder / "job.json").get("queued", 0)
               for folder in _folders() if _state(folder) == "waiting"}
    return sorted(waiting, key=lambda name: waiting[name])


def _forget_the_oldest() -> None:
    finished = [folder for folder in _folders() if _state(folder) not in ("waiting", "running")]
    for folder in finished[:max(0, len(finished) - limits.JOBS_KEPT)]:
        _delete(folder)


def _delete(folder: Path) -> None:
    gone = folder.with_name(f".{folder.name}.gone")
    folder.rename(gone)
    shutil.rmtree(gone)


def _fingerprint(work: str, arguments: str, files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(f"{work}\n{arguments}".encode())
    for name in sorted(files):
        digest.update(name.encode() + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()


def recorded(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def record(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all."""
    made = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    made.write_text(json.dumps(content), encoding="utf-8")
    made.replace(path)


@contextlib.contextmanager
def _locked() -> Iterator[None]:
    """One at a time among all threads and processes that look after the same runs."""
    runs().mkdir(parents=True, exist_ok=True)
    with FileLock(runs() / ".lock"):
        yield
