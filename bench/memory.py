"""The memory of the server: forty readers open Attention, each with another input of 512 wordpieces, and stay."""

import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.timing import Row

ROOT = Path(__file__).parent.parent
READERS = 40
PATIENCE = 600  # seconds; then the readers who have come are enough
ALLOWED = 1.5  # GB
WORDS = (
    "the old man walked slowly down the long road to the river and then he saw the black dog again so he sat under a "
    "tall tree and waited for his brother who came home late in the evening with bread and fish for everyone"
).split()


def rows() -> Iterator[Row]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        port = _free()
        server = subprocess.Popen(
            [sys.executable, "-m", "app", "--port", str(port), "--no-browser", "--models", folder],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"BERTSCOPE_RUNS": folder},
        )
        stack.callback(server.wait)
        stack.callback(server.terminate)
        _until_it_answers(f"http://127.0.0.1:{port}/_stcore/health", server)
        process, opened = psutil.Process(server.pid), time.monotonic()
        before, seconds_each, gigabytes = _gigabytes(process), [], []
        while len(seconds_each) < READERS and time.monotonic() - opened < PATIENCE:
            reader = stack.enter_context(
                connect(f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=[Subprotocol("streamlit")], max_size=None)
            )
            started = time.perf_counter()
            _open(reader, len(seconds_each))
            seconds_each.append(time.perf_counter() - started)
            gigabytes.append(_gigabytes(process))
        seconds, verdict = statistics.median(seconds_each), "holds" if max(gigabytes) < ALLOWED else "is broken"
        yield Row(
            f"attention page, {len(seconds_each)} readers, 512 pieces each",
            "itself",
            seconds,
            seconds,
            note=f"{before:.2f} GB before, {gigabytes[-1]:.2f} GB after, {max(gigabytes):.2f} GB at most: the bound of "
            f"{ALLOWED} GB {verdict}",
        )


def _open(reader: ClientConnection, number: int) -> None:
    """One page, as a browser asks for it, until everything on it has been sent."""
    a, b = (" ".join(random.Random(2 * number + side).choices(WORDS, k=300)) for side in (0, 1))
    request = BackMsg()
    request.rerun_script.query_string = urlencode({"a": a, "b": b})
    request.rerun_script.page_name = "attention"
    reader.send(request.SerializeToString())
    elements = set()
    while True:
        message = ForwardMsg.FromString(reader.recv(timeout=PATIENCE, decode=False))
        if message.WhichOneof("type") == "delta":
            elements.add(message.delta.new_element.WhichOneof("type"))
        if message.WhichOneof("type") == "script_finished":
            assert "bidi_component" in elements, f"the page has no board: {elements}"
            return


def _gigabytes(process: psutil.Process) -> float:
    return process.memory_info().rss / 1e9


def _until_it_answers(health: str, server: subprocess.Popen) -> None:
    while True:
        try:
            urlopen(health, timeout=1).close()
            return
        except (URLError, OSError):
            assert server.poll() is None, "the app did not start"
            time.sleep(0.1)


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
