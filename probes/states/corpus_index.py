"""An index of a corpus on disk: every token with its direction at each layer, for nearest neighbours."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import model
from model import Bert, BertscopeError, Encoding, InputError
from model.files import write_text
from model.pretraining.corpus import decode_utf8

from ..progress import StageClock
from . import geometry
from .neighbours import NeighbourIndex
from .token_contexts import TokenLocations, locate, split


def build(folder: Path, checkpoint: str, corpus: str = "corpus.txt", tokens: int = 50_000) -> Iterator[dict]:
    """Index at most `tokens` tokens of a text file in the folder, sampled over all of it; run again, it resumes.

    Directions are stored as 16-bit floats, one file a layer: (layers + 1) × tokens × hidden × 2 bytes on disk.
    """
    yield {"fraction": 0.0, "stage": "Reading the corpus"}
    bert = model.load(checkpoint)
    lines = split(decode_utf8((folder / corpus).read_bytes()))
    encodings = _sample(bert, lines, tokens)
    locations = locate(encodings)
    _write_locations(folder, locations)
    starts = np.searchsorted(locations.sentence, np.arange(len(encodings)))
    shape = (len(locations), bert.config.hidden_size)
    layers = [_layer_file(folder, layer, shape) for layer in range(bert.config.num_hidden_layers + 1)]
    batches = list(model.batches_by_length(encodings))
    counter = folder / "groups.json"  # how many batches are in the files already
    done = json.loads(counter.read_text(encoding="utf-8")) if counter.is_file() else 0
    total, position = sum(map(len, encodings)), sum(len(encodings[row]) for batch in batches[:done] for row in batch)
    clock, stage = StageClock(), "Reading every token in its sentence"
    clock.at(position / total, stage)  # where it begins: what is done already took its time in another process
    for number, batch in enumerate(batches[done:], start=done + 1):
        inputs = [encodings[row] for row in batch]
        for index, states in model.hidden_states(bert, inputs):
            row, words = batch[index], [token.position for token in inputs[index].tokens if not token.is_special]
            for layer, file in enumerate(layers):
                file[starts[row] : starts[row] + len(words)] = geometry.normalise(states[layer, words])
        position += sum(len(encoding) for encoding in inputs)
        for file in layers:
            file.flush()
        write_text(counter, json.dumps(number))
        yield {
            **clock.at(position / total, stage),
            "tokens": len(locations),
            "sentences": len(encodings),
            "of": len(lines),
        }


def load(folder: Path, layer: int) -> NeighbourIndex:
    """One layer of a finished index, in memory as 32-bit floats."""
    file = folder / f"layer{layer}.npy"
    if not file.is_file():
        raise InputError(f"The corpus has no index at layer {layer}.")
    return NeighbourIndex(_read_locations(folder), geometry.normalise(np.load(file).astype(np.float32)))


def _sample(bert: Bert, lines: Sequence[str], tokens: int) -> list[Encoding]:
    """A random sample of sentences that have `tokens` tokens together, in the order of the corpus."""
    sample: dict[int, Encoding] = {}
    for row in map(int, np.random.default_rng(0).permutation(len(lines))):
        try:
            encoding = bert.tokenizer.encode(lines[row])
        except BertscopeError:  # a line in a script the vocabulary does not know has no token to be a neighbour
            continue
        if len(encoding) - 2 > tokens:
            break
        tokens -= len(encoding) - 2
        sample[row] = encoding
    if not sample:
        raise InputError("The file has no sentence in characters that the model's vocabulary knows.")
    return [sample[row] for row in sorted(sample)]


def _layer_file(folder: Path, layer: int, shape: tuple[int, int]) -> np.memmap:
    path = folder / f"layer{layer}.npy"
    return np.lib.format.open_memmap(path, "r+" if path.is_file() else "w+", np.float16, shape)


def _write_locations(folder: Path, locations: TokenLocations) -> None:
    np.savez(folder / "places.npz", sentence=locations.sentence, spans=locations.spans, words=locations.words)
    strings = {"sentences": locations.sentences, "texts": locations.texts}
    write_text(folder / "places.json", json.dumps(strings))


def _read_locations(folder: Path) -> TokenLocations:
    strings = json.loads((folder / "places.json").read_text(encoding="utf-8"))
    arrays = np.load(folder / "places.npz")
    return TokenLocations(
        tuple(strings["sentences"]), tuple(strings["texts"]), arrays["sentence"], arrays["spans"], arrays["words"]
    )
