"""Streamlit's ASGI application with what a page cannot do: mark every browser, count the open pages, send the handout."""

import secrets
from http.cookies import SimpleCookie
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import processes
from app.browser.route import routes
from app.ownership import OWNER

YEAR = 365 * 24 * 3600  # seconds
_open_pages: set[object] = set()


def build() -> st.App:
    """The application, ready to run."""
    return st.App(
        Path(__file__).with_name("main.py"),
        routes=[*routes(), Route(processes.READERS, readers)],
        middleware=[Middleware(OpenPages), Middleware(OwnerCookie)],
    )


async def readers(request: Request) -> JSONResponse:
    """How many pages of this process are open."""
    return JSONResponse({"readers": len(_open_pages)})


class OpenPages:
    """Counts the pages whose line to this process is open."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        line = object()
        _open_pages.add(line)
        try:
            await self.app(scope, receive, send)
        finally:
            _open_pages.discard(line)


class OwnerCookie:
    """A page sent to a browser without a mark sets one: random, and of no meaning outside this server."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or OWNER in _cookies(scope):
            await self.app(scope, receive, send)
            return

        async def send_with_mark(message: Message) -> None:
            # of the document only: the files it loads come many at a time, and one mark must win
            if message["type"] == "http.response.start" and _is_document(message):
                cookie = f"{OWNER}={secrets.token_urlsafe(16)}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Lax"
                message["headers"] = [*message["headers"], (b"set-cookie", cookie.encode())]
            await send(message)

        await self.app(scope, receive, send_with_mark)


def _cookies(scope: Scope) -> SimpleCookie:
    lines = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    return SimpleCookie("; ".join(lines))


def _is_document(message: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"])
