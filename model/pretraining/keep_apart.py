"""What is held out stays unseen: sentences that share eight words in a row with it leave the training documents."""

import itertools
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..tokenizer import WordPiece
from .token_store import Store, Writer

WORDS = 8
AT_ONCE = 4_000_000  # wordpieces looked at together
ODD = np.uint64(0x9E3779B97F4A7C15)  # whose multiples fill 64 bits evenly


def keep_apart(folders: Sequence[Path], tokenizer: WordPiece, others: Iterable[list[str]] = ()) -> dict[str, int]:
    """Leave out of the training stores what shares WORDS words in a row with the held-out stores or other documents.

    A sentence that shares them goes with its two neighbours, and its document becomes two, so that no pair is made
    across the gap. Of documents of one sentence those of fewer words go that are equal as a whole. Says how many
    sentences there were and how many went; done again, it finds nothing more.
    """
    continues = np.array([word.startswith("##") for word in tokenizer.words])
    held = [Store(folder / part) for folder in folders for part in ("held", "held-single")]
    apart = [runs for store in held for runs, *_ in _runs(store.ids, store.sentences, continues)]
    for document in others:
        encodings = tokenizer.fast.encode_batch_fast(list(document), add_special_tokens=False)
        starts = np.cumsum([0, *(len(one.ids) for one in encodings)])
        apart += [runs for runs, *_ in _runs(np.array([i for one in encodings for i in one.ids]), starts, continues)]
    known = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *apart]))
    counts = {"sentences": 0, "left_out": 0}
    for folder in folders:
        for part in ("train", "train-single"):
            store = Store(folder / part)
            shared = _shared(store, continues, known, part == "train")
            counts["sentences"] += len(shared)
            counts["left_out"] += int(shared.sum())
            if shared.any():
                _rewrite(store, shared, folder / part, tokenizer)
    return counts


def _runs(ids: np.ndarray, starts: np.ndarray, continues: np.ndarray
          ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A number for every run of WORDS words inside a sentence, and for a shorter sentence one for the whole of it; the
    sentence it stands in; and whether it is such a short one: (runs,) each.

    Marks of punctuation are words. starts (sentences + 1,) says where each sentence begins in ids.
    """
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + AT_ONCE, side="right")) - 1)
        part = np.asarray(ids[starts[first]: starts[last]], dtype=np.int64)
        sentence = np.repeat(np.arange(first, last), np.diff(starts[first: last + 1]))  # of each piece
        begins = ~continues[part]
        begins[(starts[first:last] - starts[first])[np.diff(starts[first: last + 1]) > 0]] = True
        words = np.flatnonzero(begins)
        if len(words):
            within = (np.arange(len(part)) - np.repeat(words, np.diff([*words, len(part)]))).astype(np.uint64)
            pieces = (part.astype(np.uint64) + np.uint64(1)) * ODD * (np.uint64(2) * within + np.uint64(1))
            numbers = np.add.reduceat(pieces ^ (pieces >> np.uint64(29)), words)  # wraps around, as it should
            home = sentence[words]  # of each word
            begin = np.searchsorted(home, home, side="left") == np.arange(len(home))  # the first of its sentence
            size = np.searchsorted(home, home, side="right") - np.arange(len(home))  # words from here to its end
            runs, factor = np.zeros(len(words), dtype=np.uint64), ODD
            for place in range(WORDS):
                within_reach = size > place
                runs[within_reach] += numbers[np.flatnonzero(within_reach) + place] * factor
                factor = np.uint64(int(factor) * int(ODD) % (1 << 64))
            whole = (size >= WORDS) | begin
            yield runs[whole], home[whole], (size < WORDS)[whole]
        first = last


def _shared(store: Store, continues: np.ndarray, known: np.ndarray, long_only: bool) -> np.ndarray:
    """Which sentences of a store go: those that share a run, and their neighbours in the document: (sentences,).

    `long_only` spares what is shorter than a run: "Thank you." is in many documents and gives nothing away.
    """
    shared = np.zeros(len(store.sentences) - 1, dtype=bool)
    for runs, sentence, short in _runs(store.ids, store.sentences, continues):
        shared[sentence[np.isin(runs, known) & ~(short & long_only)]] = True
    document = np.repeat(np.arange(len(store)), np.diff(store.documents))
    neighbours = np.zeros_like(shared)
    same = document[1:] == document[:-1]
    neighbours[1:] |= shared[:-1] & same
    neighbours[:-1] |= shared[1:] & same
    return shared | neighbours


def _rewrite(store: Store, shared: np.ndarray, folder: Path, tokenizer: WordPiece) -> None:
    """The store without the shared sentences, in the place of the old one; of two or more a document must be left."""
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    writer, least = Writer(new, tokenizer), 1 if folder.name.endswith("-single") else 2
    for first, last in zip(store.documents[:-1].tolist(), store.documents[1:].tolist(), strict=True):
        gaps = [first - 1, *(first + np.flatnonzero(shared[first:last])).tolist(), last]
        for before, after in itertools.pairwise(gaps):
            if after - before - 1 >= least:
                writer.add([store.ids[store.sentences[at]: store.sentences[at + 1]] for at in range(before + 1, after)])
    writer.close()
    folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old)
