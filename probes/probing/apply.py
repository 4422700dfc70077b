"""Trained probes applied to any sentence: a label for every word at every layer, or a tree."""

from dataclasses import dataclass

import numpy as np
import torch

from model import Bert, Encoding, InputError
from model.short_repr import ShortRepr

from . import features, tasks
from .alignment import align_one
from .results import ProbingResult, array_from_json
from .structural import distances, predicted_edges
from .treebank import Sentence


@dataclass(frozen=True, repr=False)
class ProbePredictions(ShortRepr):
    """The label of every unit (word, wordpiece, or the whole sentence) at every layer."""

    layers: list[int]
    units: list[str]
    labels: list[list[str]]  # (layers, units)
    confidence: np.ndarray  # (layers, units) probability of the label


def predict(result: ProbingResult, bert: Bert, text: str) -> ProbePredictions:
    """Every layer's probe on every unit of a text."""
    encoding = bert.tokenizer.encode(text)
    spans, units = _units(result, encoding)
    layers = sorted(int(layer) for layer in result.weights)
    if not layers or result.kind != "labels":
        raise InputError("The result holds no trained probes for labels.")
    _require_layers(bert, layers)
    states = _states(bert, encoding, spans, result, layers)
    if result.unit == "pair":
        return _predict_partners(result, states, layers, units)
    labels, confidence = [], []
    for index, layer in enumerate(layers):
        inputs = features.combine(states[index], np.arange(len(units))[:, None])
        probabilities = _probabilities(result, layer, inputs)
        labels.append([result.classes[label] for label in probabilities.argmax(-1)])
        confidence.append(probabilities.max(-1))
    return ProbePredictions(layers, units, labels, np.array(confidence))


def _states(
    bert: Bert, encoding: Encoding, spans: list[tuple[int, int]], result: ProbingResult, layers: list[int]
) -> np.ndarray:
    """(layers, spans, hidden) of one input."""
    rows = np.array([(0, *span) for span in spans])
    states = np.empty((len(layers), len(rows), bert.config.hidden_size), dtype=np.float32)
    for indices, vectors in features.iter_spans(bert, [encoding], rows, result.settings["pooling"], layers):
        states[:, indices] = vectors
    return states


def _units(result: ProbingResult, encoding: Encoding) -> tuple[list[tuple[int, int]], list[str]]:
    """Spans and texts of what the probes label."""
    if result.unit == "sentence":
        return [(0, len(encoding))], ["the sentence"]
    pieces = [token for token in encoding.tokens if not token.is_special]
    if result.unit == "piece":
        return [(token.position, token.position + 1) for token in pieces], [token.text for token in pieces]
    words: dict[int, list] = {}
    for token in pieces:
        words.setdefault(token.word or 0, []).append(token)
    spans = [(tokens[0].position, tokens[-1].position + 1) for tokens in words.values()]
    return spans, ["".join(token.text.removeprefix("##") for token in tokens) for tokens in words.values()]


def _probabilities(result: ProbingResult, layer: int, inputs: torch.Tensor) -> np.ndarray:
    """(units, features) -> (units, classes)."""
    arrays = [torch.from_numpy(array_from_json(stored)) for stored in result.weights[str(layer)]]
    for index in range(0, len(arrays), 2):
        weights, bias = arrays[index : index + 2]
        if inputs.shape[-1] != weights.shape[-1]:
            raise InputError(
                f"These probes read {weights.shape[-1]} numbers a word and the model gives {inputs.shape[-1]}; they need "
                "the model they were trained on."
            )
        inputs = inputs @ weights.T + bias
        if index + 2 < len(arrays) and result.settings["probe"] == "hidden":
            inputs = inputs.relu()
    return inputs.softmax(-1).numpy()


def _predict_partners(result: ProbingResult, states: np.ndarray, layers: list[int], units: list[str]) -> ProbePredictions:
    """For a task about pairs: the word that most probably belongs to each word."""
    count = len(units)
    if count < 2:
        raise InputError(f"The text has {count} word; a probe of pairs needs two.")
    pairs = np.array([(word, partner) for word in range(count) for partner in range(count)])
    partner = result.classes.index(tasks.find(result.settings["task"]).partner)
    labels, confidence = [], []
    for index, layer in enumerate(layers):
        edge = _probabilities(result, layer, features.combine(states[index], pairs))[:, partner]
        matrix = np.where(np.eye(count, dtype=bool), -1.0, edge.reshape(count, count))  # (word, partner)
        labels.append([units[partner] for partner in matrix.argmax(-1)])
        confidence.append(matrix.max(-1))
    return ProbePredictions(layers, units, labels, np.array(confidence))


def predict_tree(result: ProbingResult, bert: Bert, sentence: Sentence) -> dict[int, set[tuple[int, int]]]:
    """The edges that each layer's structural probe predicts between the words of a sentence."""
    layers = sorted(int(layer) for layer in result.weights)
    aligned = align_one(bert, sentence)
    if aligned is None or not aligned.is_complete:
        raise InputError("This model cannot read every word of the sentence.")
    _require_layers(bert, layers)
    spans = [(int(start), int(end)) for start, end in aligned.spans]
    states = _states(bert, aligned.encoding, spans, result, layers)
    edges = {}
    for index, layer in enumerate(layers):
        maps = torch.from_numpy(array_from_json(result.weights[str(layer)][0]))[None]
        if maps.shape[-1] != states.shape[-1]:
            raise InputError(
                f"These probes read {maps.shape[-1]} numbers a word and the model gives {states.shape[-1]}; they need the "
                "model they were trained on."
            )
        word_distances = distances(torch.from_numpy(states[index])[None, None], maps)[0, 0].numpy()
        edges[layer] = predicted_edges(sentence, word_distances)
    return edges


def from_text(bert: Bert, text: str) -> Sentence:
    """A text as a sentence without a gold tree: its words, punctuation separate."""
    encoding = bert.tokenizer.encode(text)
    words: dict[int, list[tuple[int, int]]] = {}
    for token in encoding.tokens:
        if token.word is not None and token.span is not None:
            words.setdefault(token.word, []).append(token.span)
    forms = tuple(text[spans[0][0] : spans[-1][1]] for spans in words.values())
    relations = tuple("word" if any(sign.isalnum() for sign in form) else "punct" for form in forms)
    count = relations.count("word")
    if count < 2:
        raise InputError(f"The text has {count} words; a tree needs two.")
    return Sentence(forms, relations=relations)


def _require_layers(bert: Bert, layers: list[int]) -> None:
    if max(layers) > bert.config.num_hidden_layers:
        raise InputError(f"These probes are for {max(layers)} layers; this model has {bert.config.num_hidden_layers}.")
