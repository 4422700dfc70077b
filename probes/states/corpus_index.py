"""A corpus read once: every token with its direction at each layer, on disk, so that neighbours are found at once."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import model
from model import Bert, Encoding, InputProblem, Problem
from model.pretraining.corpus import decoded

from . import geometry
from .neighbours import Index
from .token_contexts import Places, places, split


def build(folder: Path, checkpoint: str, corpus: str = "corpus.txt", tokens: int = 50_000) -> Iterator[dict]:
    """Index at most `tokens` tokens of a text file in the folder, drawn over the whole of it; run again, it resumes.

    Directions are kept as 16-bit floats, one file a layer: (layers + 1) × tokens × hidden × 2 bytes on disk.
    """
    yield {"fraction": 0.0, "stage": "Reading the corpus"}
    bert = model.load(checkpoint)
    lines = split(decoded((folder / corpus).read_bytes()))
    encodings = _sample(bert, lines, tokens)
    where = places(encodings)
    _write_places(folder, where)
    starts = np.searchsorted(where.sentence, np.arange(len(encodings)))
    shape = (len(where), bert.config.hidden_size)
    layers = [_layer_file(folder, layer, shape) for layer in range(bert.config.num_hidden_layers + 1)]
    groups = list(model.alike(encodings))
    begun = folder / "groups.json"
    done = json.loads(begun.read_text(encoding="utf-8")) if begun.is_file() else 0
    started, already = time.monotonic(), sum(len(encodings[row]) for group in groups[:done] for row in group)
    total, read = sum(len(encoding) for encoding in encodings), already
    for number, group in enumerate(groups[done:], start=done + 1):
        inputs = [encodings[row] for row in group]
        for place, states in model.states(bert, inputs):
            row, own = group[place], [token.position for token in inputs[place].tokens if not token.special]
            for layer, file in enumerate(layers):
                file[starts[row]: starts[row] + len(own)] = geometry.unit(states[layer, own])
        read += sum(len(encoding) for encoding in inputs)
        for file in layers:
            file.flush()
        begun.write_text(json.dumps(number), encoding="utf-8")
        rate = (read - already) / max(time.monotonic() - started, 1e-9)
        yield {"fraction": read / total, "stage": "Reading every token in its sentence", "eta": (total - read) / rate,
               "tokens": len(where), "sentences": len(encodings), "of": len(lines)}


def load(folder: Path, layer: int) -> Index:
    """One layer of a finished concordance, in memory as 32-bit floats."""
    file = folder / f"layer{layer}.npy"
    if not file.is_file():
        raise InputProblem("This corpus has not been indexed at that layer.")
    return Index(_read_places(folder), geometry.unit(np.load(file).astype(np.float32)))


def _sample(bert: Bert, lines: Sequence[str], tokens: int) -> list[Encoding]:
    """Sentences drawn over the whole corpus until they hold `tokens` tokens, in the order of the corpus."""
    drawn: dict[int, Encoding] = {}
    for row in np.random.default_rng(0).permutation(len(lines)).tolist():
        try:
            encoding = bert.tokenizer.encode(lines[row])
        except Problem:  # a line in a script the vocabulary does not know has no token to be a neighbour
            continue
        if len(encoding) - 2 > tokens:
            break
        tokens -= len(encoding) - 2
        drawn[row] = encoding
    if not drawn:
        raise InputProblem("There is no sentence in this file that the model can read.")
    return [drawn[row] for row in sorted(drawn)]


def _layer_file(folder: Path, layer: int, shape: tuple[int, int]) -> np.memmap:
    path = folder / f"layer{layer}.npy"
    return np.lib.format.open_memmap(path, "r+" if path.is_file() else "w+", np.float16, shape)


def _write_places(folder: Path, where: Places) -> None:
    np.savez(folder / "places.npz", sentence=where.sentence, spans=where.spans, words=where.words)
    (folder / "places.json").write_text(json.dumps({"sentences": where.sentences, "texts": where.texts}),
                                        encoding="utf-8")


def _read_places(folder: Path) -> Places:
    said = json.loads((folder / "places.json").read_text(encoding="utf-8"))
    arrays = np.load(folder / "places.npz")
    return Places(tuple(said["sentences"]), tuple(said["texts"]), arrays["sentence"], arrays["spans"], arrays["words"])
