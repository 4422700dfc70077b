"""States of chosen pieces, all layers, streamed to a file in half precision: memory does not grow with the text."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from model import Bert, Encoding, InputProblem, alike

POOLINGS = ("mean", "first", "last")
POOLING = "mean"  # which pieces stand for a word where nothing else is asked for
TOKENS_AT_ONCE = 2048


_digests: WeakKeyDictionary[Bert, str] = WeakKeyDictionary()


def digest(bert: Bert) -> str:
    """A name for the weights themselves, whatever file or seed they came from; computed once for each model."""
    if bert not in _digests:
        made = hashlib.sha256()
        for name, value in sorted(bert.state_dict().items()):
            made.update(name.encode() + value.cpu().contiguous().numpy().tobytes())
        _digests[bert] = made.hexdigest()[:16]
    return _digests[bert]


def pooled(bert: Bert, encodings: Sequence[Encoding], places: np.ndarray, pooling: str = "first",
           layers: Sequence[int] | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vectors of places (input, start, end): their indices and (layers, places, hidden), batch by batch.

    A place of several pieces is its first one, its last one, or their mean.
    """
    if pooling not in POOLINGS:
        raise InputProblem(f"The pieces of a word are read by one of {', '.join(POOLINGS)}, not {pooling!r}.")
    wanted = list(range(bert.config.num_hidden_layers + 1)) if layers is None else list(layers)
    order = np.argsort(places[:, 0], kind="stable")
    bounds = np.searchsorted(places[order, 0], np.arange(len(encodings) + 1))
    for batch in alike(encodings, TOKENS_AT_ONCE):
        chosen = np.concatenate([order[bounds[row]: bounds[row + 1]] for row in batch])
        if not len(chosen):
            continue
        rows = torch.from_numpy(np.repeat(np.arange(len(batch)), [bounds[row + 1] - bounds[row] for row in batch]))
        starts, ends = torch.from_numpy(places[chosen, 1]), torch.from_numpy(places[chosen, 2])
        kept: dict[int, Tensor] = {}

        # defaults bind this batch's values: the function outlives the step of the loop
        def watch(name: str, layer: int, value: Tensor, rows=rows, starts=starts, ends=ends, kept=kept) -> None:
            if name == "hidden" and layer in wanted:
                kept[layer] = _pool(value, rows, starts, ends, pooling)

        with torch.inference_mode():
            bert([encodings[row] for row in batch], None, watch)
            yield chosen, torch.stack([kept[layer] for layer in wanted]).numpy()


def _pool(value: Tensor, rows: Tensor, starts: Tensor, ends: Tensor, pooling: str) -> Tensor:
    """(batch, seq, hidden) -> (places, hidden)."""
    if pooling == "mean":
        sums = torch.nn.functional.pad(value.cumsum(1), (0, 0, 1, 0))  # what stands before each piece
        return (sums[rows, ends] - sums[rows, starts]) / (ends - starts)[:, None]
    return value[rows, starts if pooling == "first" else ends - 1]


def extract(bert: Bert, encodings: Sequence[Encoding], places: np.ndarray, pooling: str, layers: Sequence[int],
            file: Path) -> Iterator[float]:
    """Write the vectors of places to a file of (layers, places, hidden) in half precision; yields the part done."""
    shape = (len(layers), len(places), bert.config.hidden_size)
    made = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
    done = 0
    for chosen, vectors in pooled(bert, encodings, places, pooling, layers):
        made[:, chosen] = vectors
        done += len(chosen)
        yield done / len(places)
    made.flush()


def extract_both(bert: Bert, twin: Bert, encodings: Sequence[Encoding], places: np.ndarray, pooling: str,
                 layers: Sequence[int], folder: Path) -> Iterator[tuple[float, str]]:
    """States of the model and of its twin, to files that a resumed run finds again; yields the part done of 1."""
    key = hashlib.sha256(places.tobytes() + str([pooling, *layers, digest(bert), digest(twin)]).encode())
    for encoding in encodings:
        key.update(str(encoding.ids).encode())
    about = folder / "states-about.txt"  # what the files are of: those of another seed are not taken for these
    if not about.is_file() or about.read_text(encoding="ascii") != key.hexdigest():
        for old in folder.glob("states-*"):
            old.unlink()
        about.write_text(key.hexdigest(), encoding="ascii")
    for part, (name, one) in enumerate((("model", bert), ("twin", twin))):
        file, made = folder / f"states-{name}.npy", folder / f"states-{name}-new.npy"
        stage = "Reading the sentences" + ("" if name == "model" else " with random weights")
        if not file.is_file():
            for fraction in extract(one, encodings, places, pooling, layers, made):
                yield (part + fraction) / 2, stage
            made.replace(file)


def opened(file: Path) -> np.ndarray:
    """The file that `extract` wrote, (layers, places, hidden); read from disk only where it is looked at."""
    return np.load(file, mmap_mode="r")


def features(states: np.ndarray, rows: np.ndarray) -> Tensor:
    """The input of a probe: (..., places, hidden) and rows (examples, 1 or 2) -> (..., examples, features).

    A pair is both vectors and their product, so that a linear map can ask whether they agree.
    """
    vectors = [torch.from_numpy(states[..., rows[:, column], :].astype(np.float32)) for column in range(rows.shape[1])]
    if len(vectors) == 1:
        return vectors[0]
    first, second = vectors
    return torch.cat([first, second, first * second], dim=-1)
