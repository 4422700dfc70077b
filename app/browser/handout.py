"""The handout: a model, its lessons and the page that shows them as one HTML file that needs no server and no network."""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from app.browser import characters, weights
from app.browser.rounding import RoundingCost
from app.components import board
from app.components.board import PARTS
from app.samples.examples import EXAMPLES
from model import Bert, __version__
from probes import lessons
from probes.lessons import Lesson, QuizItem

HERE = Path(__file__).parent
COMPONENTS = Path(board.__file__).parent.parent
WORKER = (
    "wordpiece.js",
    "assembler.js",
    "kernels.js",
    "functions.js",
    "weights.js",
    "bert.js",
    "patterns.js",
    "answers.js",
    "quiz.js",
    "worker.js",
)
PAGE = (
    "elements.js",
    "client.js",
    "address.js",
    "board_payload.js",
    "tabs/words.js",
    "tabs/attention.js",
    "tabs/mask.js",
    "tabs/nextsentence.js",
    "tabs/layers.js",
    "tabs/directions.js",
    "tabs/lessons.js",
    "page.js",
)
LETTERS = 5 << 18  # of the weights in one piece: a bar moves on with each
# page of a lesson -> tab of the handout; what is not here needs the whole laboratory
TABS = {"input": "words", "attention": "attention", "mask": "mask", "next-sentence": "next"}


@dataclass(frozen=True)
class Handout:
    """The file as text, and how many bytes of it, before they became letters, are weights."""

    html: str
    weight_bytes: int

    def compressed(self) -> "CompressedHandout":
        """As a server sends it."""
        page = self.html.encode()
        # the letters of weights have no pattern, only five in the place of four bytes: the quickest level finds all there is
        content = gzip.compress(page, compresslevel=1, mtime=0)
        return CompressedHandout(content, len(page), f'"{hashlib.sha256(content).hexdigest()[:32]}"')


@dataclass(frozen=True)
class CompressedHandout:
    """The file as it is sent, its bytes once unpacked, and the mark by which a browser knows that it has it already."""

    content: bytes  # gzip
    size: int
    etag: str


def build(bert: Bert, books: Mapping[str, Lesson], cost: RoundingCost | None = None) -> Handout:
    """The whole file; `books` are lessons by name, `cost` is what rounding was measured to change."""
    packed = weights.pack(bert)
    compressed = weights.compress(packed.body)
    letters = weights.to_text(compressed)
    header = {
        "name": bert.info.name,
        "version": __version__,
        "config": asdict(bert.config),
        "tensors": packed.tensors,
        "byteLength": len(packed.body),
        "compressedLength": len(compressed),
        "letters": len(letters),
        "alphabet": weights.ALPHABET.tobytes().decode("ascii"),
        "tokenizer": characters.describe(bert.tokenizer),
        "card": _card(bert, cost),
        "lessons": {name: _lesson(lesson) for name, lesson in books.items()},
        "examples": [
            {"title": example.title, "shows": example.shows, "a": example.a, "b": example.b}
            for example in EXAMPLES["attention"]
        ],
    }
    script = _script()
    page = _source("page.html").format(
        policy=_policy(script),
        generator=f"Bertscope {__version__}",
        title=html.escape(f"{bert.info.name} · BERT in one file"),
        icon=_icon(),
        style=_source("page.css"),
        header=_json(header),
        script=script,
        weights="\n".join(
            f'<script type="text/plain" class="weights">{letters[start : start + LETTERS]}</script>'
            for start in range(0, len(letters), LETTERS)
        ),
    )
    return Handout(page, len(packed.body))


def lesson_books(folders: Iterable[Path] = ()) -> dict[str, Lesson]:
    """The lessons that come with the project and those of other folders, by the names of their files."""
    files = [file for folder in (HERE.parent / "lessons", *folders) for file in sorted(folder.glob("*.toml"))]
    return {file.stem: lessons.load(file) for file in files}


def _card(bert: Bert, cost: RoundingCost | None) -> dict:
    """What is known about the model, in numbers; the page makes sentences of them."""
    return {
        "parameters": sum(parameter.numel() for parameter in bert.parameters()),
        "notes": list(bert.info.notes),
        "rounding": None if cost is None else asdict(cost),
    }


def _lesson(lesson: Lesson) -> dict:
    return {
        "title": lesson.title,
        "about": lesson.about,
        "minutes": lesson.minutes,
        "source": lesson.source,
        "questions": [_question(question) for question in lesson.questions],
    }


def _question(question: QuizItem) -> dict:
    fields = asdict(question) | {"off": sorted(question.heads_off), "tab": TABS.get(question.page)}
    del fields["heads_off"], fields["page"]
    return fields


def _script() -> str:
    """One classic script: the components in functions of their own, the worker as text, then the page."""
    board_source = "\n".join(_component("board", name) for name in PARTS)
    parts = [
        "'use strict';",
        f"const mountBoard = {_mount(board_source)};",
        f"const mountStrip = {_mount(_component('strip', 'strip.js'))};",
        f"const BOARD_STYLE = {_json(_component('board', 'board.css'))};",
        f"const STRIP_STYLE = {_json(_component('strip', 'strip.css'))};",
        f"const WORKER_SOURCE = {_json(worker_source())};",
        *(_source(name) for name in PAGE),
    ]
    return "\n".join(parts).replace("</", "<\\/")


def worker_source() -> str:
    """The engine: everything that computes, as the worker runs it."""
    return "'use strict';\n" + "\n".join(_source(name) for name in WORKER)


def _mount(source: str) -> str:
    """A component as the app has it -> an expression for its function; its other names stay inside."""
    return f"(() => {{\n{source.replace('export default function', 'return function')}\n}})()"


def _policy(script: str) -> str:
    """This one script, the worker it makes, and nothing that a text could bring along.

    From a file there is no network at all: 'self' is then nobody. A page sent by the app may tell the room its votes.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}' 'wasm-unsafe-eval' blob:; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
    )


def _icon() -> str:
    icon = (HERE.parent / "icon.svg").read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(icon).decode()}"


def _json(value: object) -> str:
    """JSON that neither ends the script it stands in nor opens another."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _component(name: str, file: str) -> str:
    return (COMPONENTS / name / file).read_text(encoding="utf-8")


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
