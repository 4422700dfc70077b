"""A corpus as wordpiece ids on disk, memory-mapped: any sentence at once, whatever the size."""

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ..errors import InputProblem
from ..tokenizer import WordPiece

AT_ONCE = 1_000_000  # characters cut into pieces together
# documents of two sentences or more, which hold pairs, and documents of one, which do not
PARTS = ("train", "held", "train-single", "held-single")


class Store:
    """Documents of sentences of ids: three flat files, and where each sentence and each document begins.

    ids        (tokens,)          every wordpiece of every sentence, one after the other
    sentences  (sentences + 1,)   where each begins in ids
    documents  (documents + 1,)   where each begins in sentences
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        described = json.loads((self.folder / "store.json").read_text(encoding="utf-8"))
        self.vocabulary: int = described["vocabulary"]
        self.ids = _mapped(self.folder / "ids", described["ids"])
        self.sentences = _mapped(self.folder / "sentences", "int64")
        self.documents = _mapped(self.folder / "documents", "int64")

    @cached_property
    def document_tokens(self) -> np.ndarray:
        """Where each document begins in ids: (documents + 1,)."""
        return np.asarray(self.sentences[self.documents])

    def check(self, tokenizer: WordPiece) -> None:
        """Whether these ids are ids of this vocabulary."""
        if self.vocabulary != _fingerprint(tokenizer):
            raise InputProblem(f"{self.folder} was cut into wordpieces of another vocabulary.")

    @property
    def tokens(self) -> int:
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.documents) - 1


class Writer:
    """A store being written, document after document."""

    def __init__(self, folder: Path, tokenizer: WordPiece):
        folder.mkdir(parents=True)
        self.folder, self.vocabulary = folder, _fingerprint(tokenizer)
        self.kind = "uint16" if tokenizer.size <= 1 << 16 else "uint32"
        self.files = {name: (folder / name).open("wb") for name in ("ids", "sentences", "documents")}
        self.tokens = self.sentences = 0

    def add(self, document: Sequence[Sequence[int] | np.ndarray]) -> None:
        lengths = np.array([len(sentence) for sentence in document], dtype=np.int64)
        self.files["ids"].write(np.concatenate([np.array(s, dtype=self.kind) for s in document]).tobytes())
        self.files["sentences"].write((self.tokens + np.cumsum(lengths) - lengths).tobytes())
        self.files["documents"].write(np.int64(self.sentences).tobytes())
        self.tokens += int(lengths.sum())
        self.sentences += len(document)

    def close(self) -> None:
        self.files["sentences"].write(np.int64(self.tokens).tobytes())
        self.files["documents"].write(np.int64(self.sentences).tobytes())
        for file in self.files.values():
            file.flush()
            os.fsync(file.fileno())
            file.close()
        described = {"ids": self.kind, "vocabulary": self.vocabulary}
        (self.folder / "store.json").write_text(json.dumps(described) + "\n", encoding="utf-8")


def build(documents: Iterable[list[str]], tokenizer: WordPiece, folder: Path, hold_out: int = 60) -> Iterator[int]:
    """Write the stores of PARTS, every `hold_out`-th document of each kind whole into the held-out one, all of them for
    1; yields how many documents were read. The folder appears whole or not at all."""
    made = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    shutil.rmtree(made, ignore_errors=True)
    try:
        yield from _written(documents, tokenizer, made, hold_out)
        if not complete(folder):  # unless another process on this disk was faster
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _written(documents: Iterable[list[str]], tokenizer: WordPiece, folder: Path, hold_out: int) -> Iterator[int]:
    writers = {part: Writer(folder / part, tokenizer) for part in PARTS}
    counts, read = {"": 0, "-single": 0}, 0
    for group in _groups(documents):
        encodings = iter(tokenizer.fast.encode_batch_fast([s for d in group for s in d], add_special_tokens=False))
        for document in group:
            sentences = [ids for ids in (next(encodings).ids for _ in document) if ids]
            if sentences:
                kind = "-single" if len(sentences) == 1 else ""
                writers[("held" if counts[kind] % hold_out == 1 % hold_out else "train") + kind].add(sentences)
                counts[kind] += 1
        read += len(group)
        yield read
    if not any(counts.values()):
        raise InputProblem("The corpus holds no text that the vocabulary can read.")
    for writer in writers.values():
        writer.close()


def complete(folder: Path) -> bool:
    """Whether all stores are there."""
    return all((folder / part / "store.json").is_file() for part in PARTS)


def _fingerprint(tokenizer: WordPiece) -> int:
    return zlib.crc32("\n".join(tokenizer.words).encode())


def _groups(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    group, characters = [], 0
    for document in documents:
        group.append(document)
        characters += sum(map(len, document))
        if characters >= AT_ONCE:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _mapped(path: Path, kind: str) -> np.ndarray:
    if not path.stat().st_size:  # an empty file cannot be mapped
        return np.zeros(0, dtype=kind)
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))  # a plain array: slices of a memmap are slow to make
