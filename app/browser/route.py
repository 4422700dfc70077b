"""The handout at an address of its own: /handout/english.html, made once for each model and sent compressed."""

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

import model
from app import folders, session
from app.browser import handout
from app.byte_cache import ByteCache
from model import BertscopeError, checkpoint

ADDRESS = "/handout/{name}.html"
MEGABYTES = 150  # of handouts kept, compressed; the latest one stays whatever its size
FILES = ByteCache(MEGABYTES, 1)
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


@dataclass(frozen=True)
class CompressedFile:
    """A handout as it is sent, and the mark by which a browser knows that it has it already."""

    content: bytes  # gzip
    etag: str


def route() -> Route:
    """The route, for `st.App(routes=[…])`."""
    return Route(ADDRESS, send, methods=["GET", "HEAD"])


async def send(request: Request) -> Response:
    """The handout of a model that is offered here; nothing is computed for a browser that has it."""
    name = request.path_params["name"]
    folder = next((info.path for info in model.available([session.models_folder()]) if info.name == name), None)
    if folder is None:
        return PlainTextResponse("There is no model of this name here.", 404, SECURITY)
    try:
        file = await run_in_threadpool(_compressed, folder)
    except BertscopeError as error:
        return PlainTextResponse(str(error), 422, SECURITY)
    headers = SECURITY | {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.content, headers=headers | {"Content-Encoding": "gzip"}, media_type="text/html")
    return Response(await run_in_threadpool(gzip.decompress, file.content), headers=headers, media_type="text/html")


def _compressed(folder: Path) -> CompressedFile:
    key = checkpoint.fingerprint(folder)
    return FILES.get(key, lambda: _built(folder, key))


def _built(folder: Path, key: str) -> CompressedFile:
    own = Path(os.environ.get("BERTSCOPE_LESSONS") or folders.HOME / "lessons")
    page = handout.build(model.load(folder), handout.lesson_books([own])).html
    # the letters of weights have no pattern, only five in the place of four bytes: the quickest level finds all there is
    return CompressedFile(gzip.compress(page.encode(), compresslevel=1), f'"{key[:32]}"')
