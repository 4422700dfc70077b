"""Streamlit's ASGI application with what a page cannot do: give every browser a mark of its own."""

import secrets
from http.cookies import SimpleCookie
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.browser.route import route
from app.ownership import OWNER

YEAR = 365 * 24 * 3600  # seconds


def build() -> st.App:
    """The application, ready to run."""
    return st.App(Path(__file__).with_name("main.py"), routes=[route()], middleware=[Middleware(OwnerCookie)])


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
