"""Several processes behind one address: who is sent where, and who starts again."""

import asyncio
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from starlette.requests import Request

from app import processes
from tests.conftest import in_a_thread


class Counted(BaseHTTPRequestHandler):
    """A process of the app as the door sees it: it answers how many readers it has."""

    def do_GET(self):
        body = json.dumps({"readers": self.server.readers}).encode()  # pyright: ignore[reportAttributeAccessIssue]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def place(monkeypatch):
    """Make a process whose server has so many readers; None: nothing answers."""
    servers = []
    monkeypatch.setattr(processes.Process, "start", lambda self: None)  # the server below stands for it

    def made(readers: int | None) -> processes.Process:
        server = HTTPServer(("127.0.0.1", 0), Counted)
        server.readers = readers  # pyright: ignore[reportAttributeAccessIssue]
        if readers is None:
            server.server_close()
        else:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            servers.append(server)
        return processes.Process(server.server_port, [])

    yield made
    for server in servers:
        server.shutdown()
        server.server_close()


def enter(door: processes.Door, path: str = "/mask", query: str = "a=x%26y") -> tuple[int, str]:
    scope = {"type": "http", "method": "GET", "scheme": "http", "path": path, "query_string": query.encode()}
    scope |= {"headers": [(b"host", b"room.example:8501")], "server": ("room.example", 8501)}
    response = in_a_thread(lambda: asyncio.run(door.enter(Request(scope))))
    return response.status_code, response.headers.get("location", "")


def test_a_new_browser_goes_where_fewest_readers_are_with_its_address(place):
    busy, quiet = place(7), place(2)
    assert enter(processes.Door([busy, quiet])) == (307, f"http://room.example:{quiet.port}/mask?a=x%26y")


def test_browsers_that_arrive_together_are_shared_before_any_of_them_is_counted(place):
    door = processes.Door([place(0), place(0)])
    ports = [enter(door)[1] for _ in range(10)]
    assert sorted(ports.count(port) for port in set(ports)) == [5, 5]


def test_a_process_that_does_not_answer_gets_nobody(place):
    alive = place(30)
    assert f":{alive.port}/" in enter(processes.Door([place(None), alive]))[1]
    assert enter(processes.Door([place(None)]))[0] == 503


def test_a_process_that_ends_is_started_again_and_one_that_cannot_start_is_given_up(monkeypatch):
    starts = []

    def start(self):
        starts.append(self.port)
        self.started = processes.time.monotonic()
        self.popen = subprocess.Popen([sys.executable, "-c", ""])

    monkeypatch.setattr(processes.Process, "start", start)
    process = processes.Process(1, [])
    for _ in range(2 * processes.FAILED_STARTS):
        process.popen.wait()
        process.restart_if_ended()
    assert len(starts) == processes.FAILED_STARTS and process.has_failed
