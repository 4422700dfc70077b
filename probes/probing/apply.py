"""Trained probes on a sentence somebody just typed: a label for every word at every layer, or a tree."""

from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, InputProblem

from . import features
from .results import Result, unpacked
from .structural import distances, predicted_edges
from .treebank import Sentence, aligned


@dataclass(frozen=True)
class Labelled:
    """What the probes say: a row a layer, a column a unit (word, piece, or the whole sentence)."""

    layers: list[int]
    units: list[str]
    labels: list[list[str]]
    sure: np.ndarray  # (layers, units) probability of the label


def labelled(result: Result, bert: Bert, text: str) -> Labelled:
    """Every layer's probe on every unit of a text."""
    encoding = bert.tokenizer.encode(text)
    spans, units = _units(result, encoding)
    layers = sorted(int(layer) for layer in result.maps)
    if not layers or result.kind != "labels":
        raise InputProblem("This result holds no trained probes for labels.")
    _check(bert, layers)
    places = np.array([(0, *span) for span in spans])
    states = np.empty((len(layers), len(places), bert.config.hidden_size), dtype=np.float32)
    for chosen, vectors in features.pooled(bert, [encoding], places, result.settings["pooling"], layers):
        states[:, chosen] = vectors
    if result.unit == "pair":
        return _partners(result, states, layers, units)
    labels, sure = [], []
    for index, layer in enumerate(layers):
        chances = _chances(result, layer, features.features(states[index], np.arange(len(places))[:, None]))
        labels.append([result.classes[best] for best in chances.argmax(-1)])
        sure.append(chances.max(-1))
    return Labelled(layers, units, labels, np.array(sure))


def _units(result: Result, encoding: Encoding) -> tuple[list[tuple[int, int]], list[str]]:
    if result.unit == "sentence":
        return [(0, len(encoding))], ["the sentence"]
    pieces = [token for token in encoding.tokens if not token.special]
    if result.unit == "piece":
        return [(token.position, token.position + 1) for token in pieces], [token.text for token in pieces]
    words: dict[int, list] = {}
    for token in pieces:
        words.setdefault(token.word or 0, []).append(token)
    spans = [(own[0].position, own[-1].position + 1) for own in words.values()]
    return spans, ["".join(token.text.removeprefix("##") for token in own) for own in words.values()]


def _chances(result: Result, layer: int, inputs: torch.Tensor) -> np.ndarray:
    """(units, features) -> (units, classes)."""
    arrays = [torch.from_numpy(unpacked(stored)) for stored in result.maps[str(layer)]]
    for step in range(0, len(arrays), 2):
        weights, bias = arrays[step: step + 2]
        if inputs.shape[-1] != weights.shape[-1]:
            raise InputProblem(f"These probes read {weights.shape[-1]} numbers a word; this model gives "
                               f"{inputs.shape[-1]}. Choose the model they were trained on.")
        inputs = inputs @ weights.T + bias
        if step + 2 < len(arrays) and result.settings["probe"] == "hidden":
            inputs = inputs.relu()
    return inputs.softmax(-1).numpy()


def _partners(result: Result, states: np.ndarray, layers: list[int], units: list[str]) -> Labelled:
    """For a task about pairs: the word to which each word most probably has an edge."""
    count = len(units)
    if count < 2:
        raise InputProblem("A pair needs two words: type more.")
    rows = np.array([(word, other) for word in range(count) for other in range(count)])
    labels, sure = [], []
    for index, layer in enumerate(layers):
        chances = _chances(result, layer, features.features(states[index], rows))[:, result.classes.index("edge")]
        square = np.where(np.eye(count, dtype=bool), -1.0, chances.reshape(count, count))
        labels.append([units[best] for best in square.argmax(-1)])
        sure.append(square.max(-1))
    return Labelled(layers, units, labels, np.array(sure))


def tree(result: Result, bert: Bert, sentence: Sentence) -> dict[int, set[tuple[int, int]]]:
    """The edges each layer's structural probe draws between the words of a sentence."""
    layers = sorted(int(layer) for layer in result.maps)
    kept, _ = aligned(bert, [sentence])
    if not kept or not (kept[0].spans[:, 0] < kept[0].spans[:, 1]).all():
        raise InputProblem("This model cannot read every word of the sentence.")
    _check(bert, layers)
    places = np.array([(0, *span) for span in kept[0].spans.tolist()])
    drawn = {}
    for chosen, vectors in features.pooled(bert, [kept[0].encoding], places, result.settings["pooling"], layers):
        ordered = np.empty_like(vectors)
        ordered[:, chosen] = vectors
        for index, layer in enumerate(layers):
            maps = torch.from_numpy(unpacked(result.maps[str(layer)][0]))[None]
            if maps.shape[-1] != ordered.shape[-1]:
                raise InputProblem("These probes were trained on a model of another width: choose that one.")
            apart = distances(torch.from_numpy(ordered[index])[None, None], maps)[0, 0].numpy()
            drawn[layer] = predicted_edges(sentence, apart)
    return drawn


def typed(bert: Bert, text: str) -> Sentence:
    """A typed text as a sentence without a gold tree: its words, marks apart."""
    encoding = bert.tokenizer.encode(text)
    words: dict[int, list[tuple[int, int]]] = {}
    for token in encoding.tokens:
        if token.word is not None and token.span is not None:
            words.setdefault(token.word, []).append(token.span)
    forms = tuple(text[spans[0][0]: spans[-1][1]] for spans in words.values())
    marks = tuple("punct" if not any(sign.isalnum() for sign in form) else "word" for form in forms)
    if len(forms) < 2 or marks.count("word") < 2:
        raise InputProblem("A tree needs two words: type more.")
    return Sentence(forms, relations=marks)


def _check(bert: Bert, layers: list[int]) -> None:
    if max(layers) > bert.config.num_hidden_layers:
        raise InputProblem(f"These probes are for {max(layers)} layers; this model has {bert.config.num_hidden_layers}.")
