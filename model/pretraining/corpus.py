"""Text files, or texts in memory -> documents -> sentences, one after the other: a corpus may exceed the memory."""

import gzip
import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from ..errors import InputError

# a file or folder, several of them, or documents in memory: whole texts, or lists of sentences
Source = str | Path | Sequence[Path] | Sequence[str] | Sequence[Sequence[str]]

OPEN = {".gz": gzip.open, ".xz": lzma.open}
TEXT = (".txt", ".jsonl")
MAX_CHARACTERS = 4_000_000  # of a document; one beyond it goes on as the next one, so that memory stays bounded

# words whose full stop does not end a sentence although a capital letter or a number follows
TITLES = frozenset(
    "dr mr mrs ms mx prof rev hon st sr jr gen col lt maj capt cpt sgt cmdr adm gov sen rep pres fr "
    "messrs mme mlle mt ft no nos vol vols fig figs eq ch sec pp p ed eds vs v cf ca approx dept est "
    "inc ltd co corp bros univ jan feb mar apr jun jul aug sep sept oct nov dec "
    "e.g i.e viz al".split()
)
# closing quotes may stand between the stop and the gap, opening ones between the gap and the capital
ENDING = re.compile(r"""[.!?…]['"”’)\]]*(\s+)(?=['"“‘(\[]*[A-Z0-9À-ÖØ-Þ])""")
LAST_WORD = re.compile(r"(\S+)$")
INITIALS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]$")


def documents(source: Source) -> Iterator[list[str]]:
    """The sentences of one document after the other."""
    if isinstance(source, str | Path):
        source = [Path(source)]
    for item in source:
        if isinstance(item, Path):
            for file in files(item):
                yield from (_split_paragraphs(lines) for lines in _blocks(file))
        else:
            yield _split_paragraphs(item.splitlines()) if isinstance(item, str) else [s for s in item if s.strip()]


def files(path: Path) -> list[Path]:
    """The text files that a path stands for: itself, or all of a folder's, in the order of their names."""
    if path.is_dir():
        text_files = sorted(file for file in path.rglob("*") if file.is_file() and _kind(file) in TEXT)
        if not text_files:
            raise InputError(f"{path} holds no .txt or .jsonl file (plain, .gz or .xz).")
        return text_files
    if not path.is_file():
        raise InputError(f"There is no file or folder {path}.")
    return [path]


def describe(source: Source) -> list[str]:
    """What a run says it learned from: names and sizes of the files, never whole paths."""
    if isinstance(source, str | Path):
        source = [Path(source)]
    paths = [item for item in source if isinstance(item, Path)]
    if paths:
        return [f"{file.name} ({file.stat().st_size:,} bytes)" for path in paths for file in files(path)]
    return [f"{len(source):,} documents from memory"]


def decode_utf8(content: bytes, name: str = "This file") -> str:
    """The bytes of a file as text, which must be UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text (byte {error.start + 1:,} cannot be read); save it as UTF-8 first."
        ) from None


def split_sentences(text: str) -> list[str]:
    """A paragraph cut into sentences after . ! ? where a new one begins, but not after "Dr." or "e.g." or "J."."""
    sentences, start = [], 0
    for match in ENDING.finditer(text):
        if match[0][0] == "." and match[0][1].isspace() and _ends_in_abbreviation(text[start : match.start()]):
            continue
        sentences.append(text[start : match.start(1)])
        start = match.end()
    sentences.append(text[start:])
    return [sentence for sentence in map(str.strip, sentences) if sentence]


def _ends_in_abbreviation(text: str) -> bool:
    match = LAST_WORD.search(text)
    if match is None:
        return False
    word = match[1].lstrip("'\"“‘([")
    return word.lower() in TITLES or (INITIALS.fullmatch(word) is not None and word != "I")


def _split_paragraphs(lines: Iterable[str]) -> list[str]:
    """Lines -> sentences; a line is a paragraph, unless it breaks off and the next goes on in lower case."""
    paragraphs: list[str] = []
    for line in map(str.strip, lines):
        if not line:
            continue
        if paragraphs and line[0].islower() and paragraphs[-1][-1] not in '.!?…:;"”':
            paragraphs[-1] += " " + line
        else:
            paragraphs.append(line)
    return [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]


def _kind(path: Path) -> str:
    return Path(path.stem).suffix if path.suffix in OPEN else path.suffix


def _blocks(path: Path) -> Iterator[list[str]]:
    """The lines of each document of a file: between blank lines, or one a record of .jsonl."""
    try:
        with _open(path) as file:
            if _kind(path) == ".jsonl":
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield _record(line, path, number).splitlines()
                return
            block, size = [], 0
            for line in iter(lambda: file.readline(MAX_CHARACTERS), ""):  # a whole book may stand on one line
                if line.strip():
                    block.append(line)
                    size += len(line)
                if block and (not line.strip() or size >= MAX_CHARACTERS):
                    yield block
                    block, size = [], 0
            if block:
                yield block
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save it as UTF-8 first.") from None
    except (gzip.BadGzipFile, lzma.LZMAError, EOFError):
        raise InputError(f"{path} is damaged, or not what the end of its name says.") from None


def _open(path: Path) -> IO[str]:
    return OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8")


def _record(line: str, path: Path, number: int) -> str:
    try:
        text = json.loads(line)["text"]
    except (ValueError, KeyError, TypeError):
        text = None
    if not isinstance(text, str):
        raise InputError(f'Line {number} of {path} is not a JSON object with a field "text".')
    return text
