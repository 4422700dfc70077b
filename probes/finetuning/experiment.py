"""One fine-tuning from data to result, beside what it must beat: the frozen features, random weights, word types.

Every part is written to the result file as soon as it is done. Run again in the same folder, it goes on after the last.
"""

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model import Bert, Encoding, InputError, ModelInfo, hidden_states
from model.command import quote
from model.finetuning import FinetunedBert, FinetuningConfig, LabelledInputs, default_learning_rate, finetune, probabilities

from ..probing import baselines, tasks
from ..probing.data import ProbingData
from ..probing.examples import ProbingExamples, build_examples
from ..probing.experiment import load_data, load_model, source_options
from ..probing.features import digest
from ..probing.linear import LinearProbe
from ..probing.tasks import ProbingTask
from ..probing.treebank import Sentence
from ..progress import Progress, StageClock
from ..results import RESULT
from . import change
from .results import BASELINES, CONDITIONS, FinetuningResult, card

MAX_NAMED_CLASSES = 4  # labels that are named one by one
MIN_LIMIT = 1000  # training examples that the test set is made for: who trains on fewer is tested on no fewer
UNITS = ("token", "sentence")


def available(sentences: Sequence[Sentence]) -> list[ProbingTask]:
    """The tasks these sentences have labels for that one output layer can learn."""
    return [task for task in tasks.available(sentences) if task.unit in UNITS]


def run(
    folder: Path,
    model: str,
    data: str = "",
    task: str = "label",
    out: str = "",
    epochs: int = 10,
    learning_rate: float | None = None,
    batch_size: int = 16,
    limit: int = 2000,
    seed: int = 0,
    train: str = "",
    dev: str = "",
    test: str = "",
) -> Generator[Progress]:
    """Yield progress; the result is in `folder`/result.json, the fine-tuned model in `out` where that is named.

    The sentences are `data`, or a file for each split.
    """
    folder, clock = Path(folder), StageClock()
    yield clock.at(0.0, "Reading the data")
    files = {"train": train, "dev": dev, "test": test}
    dataset, bert, probing_task = load_data(folder, data, files), load_model(model), tasks.find(task)
    if probing_task.unit not in UNITS:
        raise InputError(
            f"“{probing_task.title}” asks about a {probing_task.unit}; one output layer reads a sentence or a token."
        )
    config = FinetuningConfig(epochs, learning_rate or default_learning_rate(bert), batch_size, seed)
    examples = build_examples(bert, dataset.sentences, probing_task, seed, max(limit, MIN_LIMIT))
    split = ProbingData(examples, seed)
    split.train = split.train[:limit]
    settings = {
        "model": bert.info.name,
        "data": dataset.name,
        "model_digest": digest(bert),
        "digest": dataset.digest,
        "task": task,
        "epochs": epochs,
        "learning_rate": config.learning_rate,
        "batch_size": batch_size,
        "limit": limit,
        "seed": seed,
    }
    result = FinetuningResult.resume(folder / RESULT, settings, _command(settings | {"model": model, "data": data} | files))
    _describe(result, split)
    if "frozen" not in result.scores:
        yield clock.at(0.02, BASELINES["frozen"])
        result.scores |= {name: [accuracy] * 3 for name, accuracy in split.baselines().items()}
        result.scores["frozen"] = [*split.accuracy_with_interval(_predict_frozen(bert, split))]
        result.write(folder / RESULT)
    conditions = [name for name in CONDITIONS if name != "second_only" or result.pairs]
    for number, condition in enumerate(conditions):
        if condition not in result.scores:
            for fraction, stage in _finetune(folder, bert, split, config, condition, result, out):
                yield clock.at(0.1 + 0.9 * (number + fraction) / len(conditions), stage)
    result.finished = True
    result.write(folder / RESULT)
    yield clock.at(1.0, "Done")


def _describe(result: FinetuningResult, data: ProbingData) -> None:
    """Title, classes and sizes."""
    examples = data.examples
    result.unit, result.classes = examples.task.unit, data.classes
    result.pairs = bool(examples.inputs[0][0].second)
    own = examples.task.name in ("label", "tag") and len(data.classes) <= MAX_NAMED_CLASSES  # more telling than "label"
    result.title = " or ".join(data.classes) if own else examples.task.title
    result.sizes = {
        "train": len(data.train),
        "dev": len(data.dev),
        "test": len(data.test),
        "inputs": len(np.unique(examples.input_of[data.train])),
        "skipped": examples.skipped,
        "duplicates": examples.duplicates,
        "left_out": examples.left_out,
    }


def _finetune(
    folder: Path,
    bert: Bert,
    data: ProbingData,
    config: FinetuningConfig,
    condition: str,
    result: FinetuningResult,
    out: str,
) -> Iterator[tuple[float, str]]:
    """One condition: yield (fraction of it, stage), and add its learning curve and its score to the result."""
    examples = data.examples
    encodings = examples.encodings
    if condition == "second_only":
        encodings = [bert.tokenizer.encode_words(sentence.second) for sentence, _ in examples.inputs]
    train, test = (_labelled_inputs(examples, encodings, data.gold, indices) for indices in (data.train, data.test))
    start = baselines.random_init(bert, config.seed) if condition == "random_init" else bert
    training = _Training(finetune(start, data.classes, examples.task.unit, train, test, config))
    curve = result.learning_curves[condition] = []
    for progress in training:
        if progress.accuracy is not None:
            curve.append([progress.step, progress.accuracy])
            result.write(folder / RESULT)
        stage = f"{CONDITIONS[condition].capitalize()}: step {progress.step} of {progress.steps}"
        yield progress.step / progress.steps, stage
    tuned = training.tuned
    predicted = probabilities(tuned, test).argmax(-1)
    result.scores[condition] = [*data.accuracy_with_interval(predicted)]
    if condition == "finetuned":
        result.confusion, result.mistakes = data.confusion(predicted), data.mistakes(predicted)
        result.change = change.measure(bert, tuned.bert, test.encodings, config.seed).json()
        if out:
            tuned.bert.info = ModelInfo(Path(out).name, card(result, Path(out).name))
            tuned.save(out)
    result.write(folder / RESULT)


class _Training:
    """The progress of a fine-tuning, and at its end the model it returns."""

    def __init__(self, generator: Generator[Any, None, FinetunedBert]):
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        self.tuned = yield from self.generator


def _command(settings: dict[str, Any]) -> str:
    names = ("model", *source_options(settings), "task", "epochs", "learning_rate", "batch_size", "limit", "seed")
    return quote("finetune", *(word for name in names for word in (f"--{name.replace('_', '-')}", settings[name])))


def _labelled_inputs(
    examples: ProbingExamples, encodings: list[Encoding], gold: np.ndarray, indices: np.ndarray
) -> LabelledInputs:
    """Some examples: a word is read at its first wordpiece, a sentence at [CLS]."""
    inputs, input_of = np.unique(examples.input_of[indices], return_inverse=True)
    positions = np.stack([input_of, examples.spans[examples.span_indices[indices, 0], 1]], axis=1)
    return LabelledInputs([encodings[index] for index in inputs], positions, gold[indices])


def _predict_frozen(bert: Bert, data: ProbingData) -> np.ndarray:
    """Test labels predicted by a linear probe on the last layer, none of BERT's weights changed."""
    examples = data.examples
    last = dict(hidden_states(bert, examples.encodings, [bert.config.num_hidden_layers]))
    positions = examples.spans[examples.span_indices[:, 0], :2]
    states = torch.from_numpy(np.stack([last[row][0, position] for row, position in positions]))[None]
    gold = torch.from_numpy(data.gold)
    train, dev = data.train, data.dev
    probe = LinearProbe().fit(states[:, train], gold[train], states[:, dev], gold[dev], len(data.classes))
    return probe.predict(states[:, data.test])[0, 0].numpy()
