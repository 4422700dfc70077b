"""A corpus as wordpiece ids on disk, memory-mapped: any sentence at once, whatever the size."""

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from ..errors import InputError
from ..tokenizer import WordPiece

CHARACTERS_AT_ONCE = 1_000_000  # characters cut into pieces together
# documents of two sentences or more, which hold pairs, and documents of one, which do not
PARTS = ("train", "heldout", "train-single", "heldout-single")


class TokenStore:
    """Documents of sentences of ids: three flat files, and where each sentence and each document begins.

    ids        (tokens,)          every wordpiece of every sentence, one after the other
    sentences  (sentences + 1,)   where each begins in ids
    documents  (documents + 1,)   where each begins in sentences
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        description = json.loads((self.folder / "store.json").read_text(encoding="utf-8"))
        self.vocabulary: int = description["vocabulary"]
        self.ids = _open_memmap(self.folder / "ids", description["ids"])
        self.sentences = _open_memmap(self.folder / "sentences", "int64")
        self.documents = _open_memmap(self.folder / "documents", "int64")

    @cached_property
    def document_tokens(self) -> np.ndarray:
        """Where each document begins in ids: (documents + 1,)."""
        return np.asarray(self.sentences[self.documents])

    def check(self, tokenizer: WordPiece) -> None:
        """Whether these ids are ids of this vocabulary."""
        if self.vocabulary != _fingerprint(tokenizer):
            raise InputError(f"{self.folder} was cut into wordpieces of another vocabulary.")

    @property
    def tokens(self) -> int:
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.documents) - 1


class TokenStoreWriter:
    """A store being written, document after document; it is complete once its block ends without an error."""

    def __init__(self, folder: Path, tokenizer: WordPiece):
        folder.mkdir(parents=True)
        self.folder, self.vocabulary = folder, _fingerprint(tokenizer)
        self.dtype = "uint16" if tokenizer.vocab_size <= 1 << 16 else "uint32"
        self.files = {name: (folder / name).open("wb") for name in ("ids", "sentences", "documents")}
        self.tokens = self.sentences = 0

    def add(self, document: Sequence[Sequence[int] | np.ndarray]) -> None:
        lengths = np.array([len(sentence) for sentence in document], dtype=np.int64)
        self.files["ids"].write(np.concatenate([np.array(s, dtype=self.dtype) for s in document]).tobytes())
        self.files["sentences"].write((self.tokens + np.cumsum(lengths) - lengths).tobytes())
        self.files["documents"].write(np.int64(self.sentences).tobytes())
        self.tokens += int(lengths.sum())
        self.sentences += len(document)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        with ExitStack() as stack:
            for file in self.files.values():
                stack.callback(file.close)
            if error is None:
                self._complete()

    def _complete(self) -> None:
        self.files["sentences"].write(np.int64(self.tokens).tobytes())
        self.files["documents"].write(np.int64(self.sentences).tobytes())
        for file in self.files.values():
            file.flush()
            os.fsync(file.fileno())
        description = {"ids": self.dtype, "vocabulary": self.vocabulary}
        (self.folder / "store.json").write_text(json.dumps(description) + "\n", encoding="utf-8")


def build(documents: Iterable[list[str]], tokenizer: WordPiece, folder: Path, heldout_every: int = 60) -> Iterator[int]:
    """Write the stores of PARTS, 1 document in `heldout_every` of each kind whole into the held-out one, all of them for
    1; yields how many documents were read. The folder appears whole or not at all."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        yield from _write(documents, tokenizer, temporary, heldout_every)
        if not is_complete(folder):  # unless another process on this disk was faster
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(documents: Iterable[list[str]], tokenizer: WordPiece, folder: Path, heldout_every: int) -> Iterator[int]:
    counts, total = {"": 0, "-single": 0}, 0
    with ExitStack() as stack:
        writers = {part: stack.enter_context(TokenStoreWriter(folder / part, tokenizer)) for part in PARTS}
        for group in _groups(documents):
            encodings = iter(tokenizer.backend.encode_batch_fast([s for d in group for s in d], add_special_tokens=False))
            for document in group:
                sentences = [ids for ids in (next(encodings).ids for _ in document) if ids]
                if sentences:
                    kind = "-single" if len(sentences) == 1 else ""
                    heldout = counts[kind] % heldout_every == 1 % heldout_every
                    writers[("heldout" if heldout else "train") + kind].add(sentences)
                    counts[kind] += 1
            total += len(group)
            yield total
        if not any(counts.values()):
            raise InputError("The corpus holds no text that the vocabulary can read.")


def is_complete(folder: Path) -> bool:
    """Whether all stores are there."""
    return all((folder / part / "store.json").is_file() for part in PARTS)


def _fingerprint(tokenizer: WordPiece) -> int:
    return zlib.crc32("\n".join(tokenizer.vocabulary).encode())


def _groups(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    group, characters = [], 0
    for document in documents:
        group.append(document)
        characters += sum(map(len, document))
        if characters >= CHARACTERS_AT_ONCE:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _open_memmap(path: Path, dtype: str) -> np.ndarray:
    if not path.stat().st_size:  # an empty file cannot be mapped
        return np.zeros(0, dtype=dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))  # a plain array: slicing a memmap is slow
