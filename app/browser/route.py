"""The handout at an address of its own: /handout/english.html, made once for each model and sent compressed."""

import gzip
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app import session
from model import BertscopeError

SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def route() -> Route:
    """The route, for `st.App(routes=[…])`; a name from the Hub has a slash in it."""
    return Route("/handout/{name:path}.html", send, methods=["GET", "HEAD"])


def path(name: str) -> str:
    """Where the handout of a model is, below the server's own address."""
    return f"/handout/{quote(name)}.html"


async def send(request: Request) -> Response:
    """The handout of a model that is here; nothing is computed for a browser that has it."""
    folder = session.local_folder(request.path_params["name"])
    if folder is None:
        return PlainTextResponse("There is no model of this name here.", 404, SECURITY)
    try:
        file = await run_in_threadpool(session.handout, folder)
    except BertscopeError as error:
        return PlainTextResponse(str(error), 422, SECURITY)
    headers = SECURITY | {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.content, headers=headers | {"Content-Encoding": "gzip"}, media_type="text/html")
    return Response(await run_in_threadpool(gzip.decompress, file.content), headers=headers, media_type="text/html")
