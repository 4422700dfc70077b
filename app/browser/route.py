"""The handout at an address of its own: /handout/english.html, made once for each model and sent compressed."""

import gzip
import json
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app import ownership, room, session
from model import BertscopeError

VOTE_BYTES = 1000  # of one vote
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def routes() -> list[Route]:
    """For `st.App(routes=[…])`: the file, whose name may come from the Hub with a slash in it, and its votes."""
    return [
        Route("/handout/{name:path}.html", send, methods=["GET", "HEAD"]),
        Route("/handout/vote", vote, methods=["POST"]),
    ]


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


async def vote(request: Request) -> Response:
    """Count what a browser predicted in the handout, as the page Lessons does."""
    mark = request.cookies.get(ownership.OWNER)
    origin = request.headers.get("origin", "")
    if not mark or origin.partition("://")[2] != request.headers.get("host"):
        return PlainTextResponse("Only a page of this server may vote.", 403, SECURITY)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > VOTE_BYTES:
            return PlainTextResponse("This is no vote.", 413, SECURITY)
    ballot = _ballot(body)
    if ballot is None:
        return PlainTextResponse("This is no vote.", 400, SECURITY)
    try:
        await run_in_threadpool(room.vote, ballot[0], ballot[1], mark, ballot[2])
    except BertscopeError as error:
        return PlainTextResponse(str(error), 503, SECURITY)
    return Response(status_code=204, headers=SECURITY)


def _ballot(body: bytes) -> tuple[str, int, int | None] | None:
    """Lesson, question and option (None takes it back) of a question that is asked here; None for anything else."""
    try:
        content = json.loads(body)
        lesson, question, option = content["lesson"], content["question"], content["option"]
        options = session.lesson_list()[0][lesson].questions[question].options
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None
    numbers = (question,) if option is None else (question, option)
    if not all(type(number) is int and number >= 0 for number in numbers):
        return None
    return (lesson, question, option) if option is None or option < len(options) else None
