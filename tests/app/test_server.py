"""Every browser has a mark of its own, given once."""

import pytest

from app.server import OWNER, OwnerCookie


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
