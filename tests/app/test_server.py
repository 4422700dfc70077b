"""Every browser has a mark of its own, given once."""

import asyncio
import json

import pytest
from starlette.requests import Request

from app import room
from app.browser.route import vote
from app.server import OWNER, OwnerCookie
from tests.conftest import in_a_thread


def answer(kind: str, cookie: str = "") -> list[str]:
    """The cookies that an answer of this content type sets, to a browser that sent this one."""

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
        await send({"type": "http.response.body", "body": b""})

    messages = []

    async def receive():
        raise AssertionError("nothing is read")

    async def send(message):
        messages.append(message)

    scope = {"type": "http", "headers": [(b"cookie", cookie.encode())] if cookie else []}
    with pytest.raises(StopIteration):  # nothing here waits, so no event loop is needed: it runs to its end at once
        OwnerCookie(application)(scope, receive, send).send(None)
    return [value.decode() for name, value in messages[0]["headers"] if name == b"set-cookie"]


def test_a_browser_without_a_mark_gets_one_with_its_first_page():
    (first,), (second,) = answer("text/html; charset=utf-8"), answer("text/html")
    assert first.startswith(f"{OWNER}=") and "HttpOnly" in first and "SameSite=Lax" in first
    assert first.split(";")[0] != second.split(";")[0]


def test_a_mark_is_given_once():
    assert answer("text/html", f"other=1; {OWNER}=abc") == []


def test_files_of_a_page_give_no_mark():
    assert answer("application/javascript") == []


BALLOT = {"lesson": "2-cloze", "question": 0, "option": 1}


def ballot(content: object, origin: str = "http://here", cookie: str = f"{OWNER}=anna") -> int:
    """The status that the server answers to a vote of a handout."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"host": "here", "origin": origin, "cookie": cookie}
    scope = {"type": "http", "method": "POST", "path": "/handout/vote", "query_string": b""}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers.items() if value]}

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    return in_a_thread(lambda: asyncio.run(vote(Request(scope, receive)))).status_code


def test_a_handout_of_this_server_may_vote_and_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_RUNS", str(tmp_path / "runs"))
    assert ballot(BALLOT) == 204 and room.counts("2-cloze", 0, 2) == [0, 1]
    assert ballot(BALLOT | {"option": None}) == 204 and room.counts("2-cloze", 0, 2) == [0, 0]
    assert ballot(BALLOT, origin="http://evil.example") == ballot(BALLOT, origin="") == ballot(BALLOT, cookie="") == 403
    wrong = ({"lesson": "nobody"}, {"question": 99}, {"question": -1}, {"question": True}, {"option": 99}, {"option": "1"})
    assert {ballot(BALLOT | part) for part in wrong} == {400}
    assert {ballot(body) for body in (b"", b"[" * 900, b"null", b"[1]")} == {400} and ballot(b" " * 2000) == 413
    assert room.counts("2-cloze", 0, 2) == [0, 0]
