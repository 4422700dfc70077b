"""Decontamination: sentences that share eight words in a row with held-out text leave the training documents."""

import itertools
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..tokenizer import WordPiece
from .token_store import TokenStore, TokenStoreWriter

WORDS = 8
PIECES_AT_ONCE = 4_000_000
ODD = np.uint64(0x9E3779B97F4A7C15)  # its multiples fill 64 bits evenly (Knuth's multiplicative hashing)


def keep_apart(folders: Sequence[Path], tokenizer: WordPiece, others: Iterable[list[str]] = ()) -> dict[str, int]:
    """Leave out of the training stores what shares WORDS words in a row with the held-out stores or other documents.

    A sentence that shares them goes with its two neighbours, and its document becomes two, so that no pair spans the
    gap. Of documents of one sentence those of fewer words go that are equal as a whole. Returns how many sentences there
    were and how many went; a second call removes nothing more.
    """
    is_continuation = np.array([word.startswith("##") for word in tokenizer.vocabulary])
    heldout = [TokenStore(folder / part) for folder in folders for part in ("heldout", "heldout-single")]
    hashes = [part for store in heldout for part, *_ in _ngram_hashes(store.ids, store.sentences, is_continuation)]
    for document in others:
        encodings = tokenizer.backend.encode_batch_fast(list(document), add_special_tokens=False)
        ids = np.array([piece_id for encoding in encodings for piece_id in encoding.ids])
        starts = np.cumsum([0, *(len(encoding.ids) for encoding in encodings)])
        hashes += [part for part, *_ in _ngram_hashes(ids, starts, is_continuation)]
    heldout_hashes = np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *hashes]))
    counts = {"sentences": 0, "left_out": 0}
    for folder in folders:
        for part in ("train", "train-single"):
            store = TokenStore(folder / part)
            shared = _shared(store, is_continuation, heldout_hashes, long_only=part == "train")
            counts["sentences"] += len(shared)
            counts["left_out"] += int(shared.sum())
            if shared.any():
                _rewrite(store, shared, folder / part, tokenizer)
    return counts


def _ngram_hashes(
    ids: np.ndarray, starts: np.ndarray, is_continuation: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A hash of every run of WORDS words inside a sentence, and for a shorter sentence one of the whole of it; the
    sentence it is from; and whether it is such a short one: (hashes,) each.

    Marks of punctuation are words. starts (sentences + 1,) says where each sentence begins in ids.
    """
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + PIECES_AT_ONCE, side="right")) - 1)
        pieces = np.asarray(ids[starts[first] : starts[last]], dtype=np.int64)
        lengths = np.diff(starts[first : last + 1])
        piece_sentence = np.repeat(np.arange(first, last), lengths)
        begins_word = ~is_continuation[pieces]
        begins_word[(starts[first:last] - starts[first])[lengths > 0]] = True
        words = np.flatnonzero(begins_word)
        if len(words):
            index_in_word = (np.arange(len(pieces)) - np.repeat(words, np.diff(words, append=len(pieces)))).astype(np.uint64)
            piece_hashes = (pieces.astype(np.uint64) + np.uint64(1)) * ODD * (np.uint64(2) * index_in_word + np.uint64(1))
            # sums and products wrap around at 64 bits, as hashes should
            word_hashes = np.add.reduceat(piece_hashes ^ (piece_hashes >> np.uint64(29)), words)
            word_sentence = piece_sentence[words]
            is_first = np.searchsorted(word_sentence, word_sentence, side="left") == np.arange(len(words))
            words_left = np.searchsorted(word_sentence, word_sentence, side="right") - np.arange(len(words))
            hashes, factor = np.zeros(len(words), dtype=np.uint64), ODD
            for offset in range(WORDS):
                inside = words_left > offset
                hashes[inside] += word_hashes[np.flatnonzero(inside) + offset] * factor
                factor = np.uint64(int(factor) * int(ODD) % (1 << 64))
            complete = (words_left >= WORDS) | is_first
            yield hashes[complete], word_sentence[complete], (words_left < WORDS)[complete]
        first = last


def _shared(store: TokenStore, is_continuation: np.ndarray, heldout_hashes: np.ndarray, long_only: bool) -> np.ndarray:
    """Which sentences of a store go: those that share a run, and their neighbours in the document: (sentences,).

    `long_only` spares what is shorter than a run: "Thank you." is in many documents and gives nothing away.
    """
    shared = np.zeros(len(store.sentences) - 1, dtype=bool)
    for hashes, sentence, is_short in _ngram_hashes(store.ids, store.sentences, is_continuation):
        shared[sentence[np.isin(hashes, heldout_hashes) & ~(is_short & long_only)]] = True
    document = np.repeat(np.arange(len(store)), np.diff(store.documents))
    neighbours = np.zeros_like(shared)
    same_document = document[1:] == document[:-1]
    neighbours[1:] |= shared[:-1] & same_document
    neighbours[:-1] |= shared[1:] & same_document
    return shared | neighbours


def _rewrite(store: TokenStore, shared: np.ndarray, folder: Path, tokenizer: WordPiece) -> None:
    """Replace a store by one without the shared sentences; a document of the store of pairs needs two or more."""
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    min_sentences = 1 if folder.name.endswith("-single") else 2
    with TokenStoreWriter(new, tokenizer) as writer:
        for first, last in zip(store.documents[:-1].tolist(), store.documents[1:].tolist(), strict=True):
            gaps = [first - 1, *(first + np.flatnonzero(shared[first:last])).tolist(), last]
            for before, after in itertools.pairwise(gaps):
                if after - before - 1 >= min_sentences:
                    bounds = itertools.pairwise(store.sentences[before + 1 : after + 1].tolist())
                    writer.add([store.ids[begin:end] for begin, end in bounds])
    folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old)
