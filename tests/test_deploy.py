"""The department's proxy: this very configuration before two real processes, one of which is killed."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from app.__main__ import arguments
from app.rehearsal import classroom
from app.rehearsal.student import Student
from tests.conftest import ROOT, in_a_thread

CONFIGURATION = ROOT / "deploy" / "haproxy.cfg"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def proxy(tmp_path):
    """The address of the proxy, and the processes behind it by their names in the configuration."""
    assert shutil.which("haproxy"), "HAProxy is missing: `python3 run.py test` installs it on Debian"
    with contextlib.ExitStack() as stack:
        behind = {}
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            behind[name] = stack.enter_context(classroom.serving(folder=tmp_path / name))
        port, text = free_port(), CONFIGURATION.read_text()
        text = text.replace("bind :8500", f"bind 127.0.0.1:{port}")
        for name, address in (("one", "127.0.0.1:8601"), ("two", "127.0.0.1:8602")):
            assert address in text
            text = text.replace(address, behind[name][0].removeprefix("http://"))
        (tmp_path / "haproxy.cfg").write_text(text)
        process = subprocess.Popen(["haproxy", "-db", "-f", str(tmp_path / "haproxy.cfg")])
        stack.callback(process.wait)
        stack.callback(process.terminate)
        classroom.wait_until_it_answers(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}", {name: place[1] for name, place in behind.items()}


def sent_to(address: str, cookie: str = "") -> tuple[str, str]:
    """Which process a browser with this cookie is sent to, and the cookie it has then."""
    with urlopen(Request(f"{address}/", headers={"Cookie": cookie} if cookie else {})) as answer:
        cookies = [value for name, value in answer.getheaders() if name.lower() == "set-cookie"]
    place = next((value.split(";")[0] for value in cookies if value.startswith("BERTSCOPE_PROCESS=")), cookie)
    return place.partition("=")[2], place


def test_browsers_are_shared_stay_where_they_are_and_come_back_when_their_process_is_killed(proxy):
    address, behind = proxy
    places = dict(sent_to(address) for _ in range(6))
    assert set(places) == {"one", "two"}
    for name, cookie in places.items():
        assert {sent_to(address, cookie)[0] for _ in range(3)} == {name}

    async def visit() -> str:
        student = Student(address)
        await student.join()
        answer = await student.visit("mask", {"a": "My cat sleeps."})
        await student.leave()
        return answer.error

    assert in_a_thread(lambda: asyncio.run(visit())) == ""
    os.kill(behind["one"].pid, signal.SIGKILL)
    behind["one"].wait()
    assert sent_to(address, places["one"])[0] == "two"
    assert in_a_thread(lambda: asyncio.run(visit())) == ""


def test_the_proxy_closes_the_metrics(proxy):
    with pytest.raises(HTTPError) as refusal:
        urlopen(f"{proxy[0]}/_stcore/metrics")
    assert refusal.value.code == 403


def test_the_unit_starts_what_the_app_understands():
    line = next(line for line in (ROOT / "deploy" / "bertscope@.service").read_text().splitlines() if "ExecStart" in line)
    options = [word for word in line.split() if word.startswith("--")]
    assert arguments([*_values(options), "--models", str(Path.cwd())]).no_browser


def _values(options: list[str]) -> list[str]:
    values = {"--host": ["127.0.0.1"], "--port": ["8601"]}
    return [word for option in options if option != "--models" for word in (option, *values.get(option, []))]
