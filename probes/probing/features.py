"""Hidden states of labelled spans, (layers, spans, hidden) in float16, memory-mapped: the corpus may be of any size."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from model import Bert, Encoding, InputError, activations, batches_by_length, files

POOLINGS = ("mean", "first", "last")
POOLING = "mean"  # of the wordpieces of a span, by default
TOKENS_AT_ONCE = 2048


_digests: WeakKeyDictionary[Bert, str] = WeakKeyDictionary()


def digest(bert: Bert) -> str:
    """A name for the weights: a hash of their values and shapes, whatever they are called and wherever they came from.

    It stands in result files, which must outlive a renamed parameter. Computed once for each model.
    """
    if bert not in _digests:
        tensors = (parameter.detach().cpu().contiguous() for parameter in bert.parameters())
        hashes = sorted(hashlib.sha256(str(tuple(t.shape)).encode() + t.numpy().tobytes()).digest() for t in tensors)
        _digests[bert] = hashlib.sha256(b"".join(hashes)).hexdigest()[:16]
    return _digests[bert]


def iter_spans(
    bert: Bert,
    encodings: Sequence[Encoding],
    spans: np.ndarray,
    pooling: str = "first",
    layers: Sequence[int] | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors of spans (input, start, end): their indices and (layers, spans, hidden), batch by batch.

    A span of several wordpieces is its first one, its last one, or their mean.
    """
    if pooling not in POOLINGS:
        raise InputError(f"pooling must be one of {', '.join(map(repr, POOLINGS))}, not {pooling!r}.")
    wanted = list(range(bert.config.num_hidden_layers + 1)) if layers is None else list(layers)
    order = np.argsort(spans[:, 0], kind="stable")
    bounds = np.searchsorted(spans[order, 0], np.arange(len(encodings) + 1))
    for batch in batches_by_length(encodings, TOKENS_AT_ONCE):
        chosen = np.concatenate([order[bounds[row] : bounds[row + 1]] for row in batch])
        if not len(chosen):
            continue
        inputs = [encodings[row] for row in batch]
        vectors = [torch.empty(0)] * len(batch)
        for index, arrays in activations(bert, inputs, ["hidden"], tokens_at_once=TOKENS_AT_ONCE, layers=wanted):
            starts, ends = torch.from_numpy(spans[order[bounds[batch[index]] : bounds[batch[index] + 1]], 1:]).T
            vectors[index] = _pool(torch.from_numpy(arrays["hidden"]), starts, ends, pooling)
        yield chosen, torch.cat(vectors, dim=1).numpy()


def _pool(states: Tensor, starts: Tensor, ends: Tensor, pooling: str) -> Tensor:
    """One vector for each span of wordpieces: (layers, seq, hidden) -> (layers, spans, hidden)."""
    if pooling == "mean":
        sums = torch.nn.functional.pad(states.cumsum(1), (0, 0, 1, 0))  # of the pieces before each position
        return (sums[:, ends] - sums[:, starts]) / (ends - starts)[:, None]
    return states[:, starts if pooling == "first" else ends - 1]


def extract(
    bert: Bert, encodings: Sequence[Encoding], spans: np.ndarray, pooling: str, layers: Sequence[int], file: Path
) -> Iterator[float]:
    """Write the vectors of spans to a file of (layers, spans, hidden) in half precision; yields the fraction done."""
    shape = (len(layers), len(spans), bert.config.hidden_size)
    states = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
    done = 0
    for indices, vectors in iter_spans(bert, encodings, spans, pooling, layers):
        states[:, indices] = vectors
        done += len(indices)
        yield done / len(spans)
    states.flush()


def extract_with_baseline(
    bert: Bert,
    random_init: Bert,
    encodings: Sequence[Encoding],
    spans: np.ndarray,
    pooling: str,
    layers: Sequence[int],
    folder: Path,
) -> Iterator[tuple[float, str]]:
    """States of the model and of its random-init copy, to files that a resumed run uses again; yields (fraction, stage)."""
    inputs = hashlib.sha256(spans.tobytes() + str([pooling, *layers, *(encoding.ids for encoding in encodings)]).encode())
    for number, (name, source) in enumerate((("model", bert), ("random_init", random_init))):
        file, key_file = states_file(folder, name), folder / f"states-{name}.key"
        # what the file is of: that of another seed must not be used for this one, unless it read the same
        key = f"{inputs.hexdigest()} {digest(source)}"
        if file.is_file() and key_file.is_file() and key_file.read_text(encoding="ascii") == key:
            continue
        stage = "Reading the sentences" + ("" if name == "model" else " with random weights")
        temporary = folder / f"states-{name}-new.npy"
        key_file.unlink(missing_ok=True)
        for fraction in extract(source, encodings, spans, pooling, layers, temporary):
            yield (number + fraction) / 2, stage
        files.replace(temporary, file)
        files.write_text(key_file, key)


def states_file(folder: Path, name: str) -> Path:
    """Where `extract_with_baseline` leaves the states of `model` and `random_init`."""
    return folder / f"states-{name}.npy"


def open_memmap(file: Path) -> np.ndarray:
    """The file that `extract` wrote, (layers, spans, hidden); only the parts that are indexed are loaded."""
    return np.load(file, mmap_mode="r")


def combine(states: np.ndarray, span_indices: np.ndarray) -> Tensor:
    """The input of a probe: (..., spans, hidden) and indices (examples, 1 or 2) -> (..., examples, features).

    A pair is both vectors and their product, so that a linear map can compare them.
    """
    vectors = [torch.from_numpy(states[..., column, :].astype(np.float32)) for column in span_indices.T]
    if len(vectors) == 1:
        return vectors[0]
    first, second = vectors
    return torch.cat([first, second, first * second], dim=-1)
