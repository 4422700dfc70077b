"""One fine-tuning from data to result, beside what it must beat: the frozen features, random weights, memory alone.

Every part is written to the result file as soon as it is done. Run again in the same folder, it goes on after the last.
"""

import contextlib
import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from model import About, Bert, Encoding, InputProblem, states
from model.finetuning import Labelled, Plan, Tuned, finetune, probabilities, usual_rate

from ..probing import baselines, experiment, tasks
from ..probing.linear import LinearProbe
from ..probing.tasks import Examples, Task

FORMAT = "bertscope fine-tuning 2"
RESULT = "tuning.json"  # in the folder of a run
FEW = 4  # labels that are named one by one
ROOM = 1000  # examples to learn from that the test is made for: who learns from fewer is asked no less
UNITS = ("token", "sentence")
NEEDED = {"model", "data", "digest", "task", "epochs", "rate", "batch", "limit", "seed"}
SIZES = {"train", "dev", "test", "inputs", "skipped", "duplicates", "left_out"}
# what learns with all its weights; that labels of pairs can often be told from one of the two: Poliak et al. (2018)
ARMS = {"tuned": "fine-tuned", "random": "fine-tuned from random weights", "alone": "fine-tuned, sentence B alone"}
BESIDE = {"frozen": "output layer alone, BERT frozen", "word_type": "word alone", "majority": "most frequent label"}


@dataclass
class Result:
    """What one run found; an arm is in `scores` when it has come to its end."""

    settings: dict[str, Any]  # NEEDED
    title: str = ""  # the task in words
    unit: str = "sentence"
    command: str = ""  # what to type to get the same numbers
    # train, dev, test: examples; inputs: those to learn from; skipped, duplicates, left_out: sentences
    sizes: dict[str, int] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    courses: dict[str, list[list[float]]] = field(default_factory=dict)  # arm -> step, accuracy on the test after it
    scores: dict[str, list[float]] = field(default_factory=dict)  # arm or baseline -> accuracy, low, high
    confusion: list[list[int]] = field(default_factory=list)  # (gold, said) of the fine-tuned model
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    pairs: bool = False  # the label is that of two sentences
    finished: bool = False
    format: str = FORMAT

    @property
    def name(self) -> str:
        """How a list calls it."""
        return f"{self.title} · {self.settings['model']} · {self.settings['data']}"

    def write(self, path: Path) -> None:
        """Whole or not at all: a page may read while a run writes."""
        made = path.with_name(f".{path.name}.{os.getpid()}")
        made.write_text(json.dumps(asdict(self)), encoding="utf-8")
        made.replace(path)


def read(path: Path) -> Result:
    """The result in a file, which may be of another version or cut off."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError
        result = Result(**content)
        empty, rows = Result({}), [row for rows in result.courses.values() for row in rows]
        if not (all(type(getattr(result, one.name)) is type(getattr(empty, one.name)) for one in fields(Result))
                and set(result.settings) >= NEEDED and set(result.sizes) >= SIZES
                and all(map(_numbers, [*rows, *result.scores.values(), *result.confusion]))
                and _numbers([result.settings[name] for name in ("epochs", "rate", "seed")])):
            raise ValueError
        table(result)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InputProblem(f"{path.name} is no fine-tuning result of this version, or it is damaged.") from None
    return result


def _numbers(row: Any) -> bool:
    return isinstance(row, list) and all(isinstance(value, int | float) for value in row)


def available(sentences) -> list[Task]:
    """The tasks these sentences have labels for that one output layer can learn."""
    return [task for task in tasks.available(sentences) if task.unit in UNITS]


def run(folder: Path, model: str, data: str = "", task: str = "label", out: str = "", epochs: int = 10,
        rate: float | None = None, batch: int = 16, limit: int = 2000, seed: int = 0, train: str = "", dev: str = "",
        test: str = "") -> Iterator[dict[str, Any]]:
    """Yield {"fraction", "stage", "eta"}; the result is in `folder`, the fine-tuned model in `out` where that is given.

    The sentences are `data`, or a file for each split.
    """
    clock = experiment.Clock()
    yield clock.at(0.0, "Reading the data")
    files = {"train": train, "dev": dev, "test": test}
    bank, bert, asked = experiment.opened(folder, data, files), experiment.loaded(model), tasks.find(task)
    rate = rate or usual_rate(bert)
    plan = Plan(epochs, rate, batch, seed)
    if asked.unit not in UNITS:
        raise InputProblem(f"“{asked.title}” asks about a {asked.unit}; one output layer looks at a sentence or a token.")
    examples = tasks.examples(bert, bank.sentences, asked, seed, max(limit, ROOM))
    parts = experiment.Parts(examples, seed)
    parts.train = parts.train[:limit]
    seen = {"tuned": [encoding for _, encoding in examples.inputs]}
    if examples.inputs[0][0].second:
        seen["alone"] = [bert.tokenizer.encode_words(sentence.second) for sentence, _ in examples.inputs]
    settings = {"model": bert.about.name, "data": bank.name, "digest": bank.digest,
                "task": task, "epochs": epochs, "rate": rate, "batch": batch, "limit": limit, "seed": seed}
    result = _begun(Path(folder) / RESULT, settings)
    result.command = _command(settings | {"model": model, "data": data} | files)
    result.unit, result.classes, result.pairs = asked.unit, parts.classes, "alone" in seen
    own = task in ("label", "tag") and len(parts.classes) <= FEW  # the labels say more than that they are the file's
    result.title = " or ".join(parts.classes) if own else asked.title
    result.sizes = {"train": len(parts.train), "dev": len(parts.dev), "test": len(parts.test),
                    "inputs": len(np.unique(examples.inputs_of[parts.train])), "skipped": examples.skipped,
                    "duplicates": examples.duplicates, "left_out": examples.left_out}
    if "frozen" not in result.scores:
        yield clock.at(0.02, BESIDE["frozen"])
        result.scores |= {name: [score] * 3 for name, score in parts.baselines().items()}
        result.scores["frozen"] = _scored(parts, _frozen(bert, parts))
        result.write(Path(folder) / RESULT)
    arms = [arm for arm in ARMS if arm != "alone" or result.pairs]
    for number, arm in enumerate(arms):
        if arm in result.scores:
            continue
        learned, unseen = (_labelled(examples, seen.get(arm, seen["tuned"]), parts.gold, rows)
                           for rows in (parts.train, parts.test))
        # other random weights than `NAME:random`, should that be the model
        began = bert.twin(seed + 1) if arm == "random" else bert
        learner = finetune(began, parts.classes, asked.unit, learned, unseen, plan)
        course = result.courses[arm] = []
        while True:
            try:
                progress = next(learner)
            except StopIteration as end:
                tuned: Tuned = end.value
                break
            if progress.accuracy is not None:
                course.append([progress.step, progress.accuracy])
                result.write(Path(folder) / RESULT)
            yield clock.at(0.1 + 0.9 * (number + progress.step / progress.steps) / len(arms),
                           f"{ARMS[arm].capitalize()}: step {progress.step} of {progress.steps}")
        said = probabilities(tuned, unseen).argmax(-1)
        result.scores[arm] = _scored(parts, said)
        if arm == "tuned":
            _looked_at(result, parts, said)
            if out:
                tuned.bert.about = About(Path(out).name, card(result, Path(out).name))
                tuned.save(out)
        result.write(Path(folder) / RESULT)
    result.finished = True
    result.write(Path(folder) / RESULT)
    yield clock.at(1.0, "Done")


def _command(settings: dict[str, Any]) -> str:
    names = ("model", *experiment.source(settings), "task", "epochs", "rate", "batch", "limit", "seed")
    words = ((name, str(settings[name])) for name in names)
    return " ".join(["python3 run.py finetune", *(f"--{name} {shlex.quote(value)}" for name, value in words)])


def _begun(path: Path, settings: dict[str, Any]) -> Result:
    """The result of an earlier, interrupted run with the same settings, or a new one."""
    with contextlib.suppress(InputProblem):  # of another version or cut off: what it lacks is computed again
        if path.is_file() and (earlier := read(path)).settings == settings:
            return earlier
    return Result(settings)


def _labelled(examples: Examples, seen: list[Encoding], gold: np.ndarray, rows: np.ndarray) -> Labelled:
    """Some examples with what is seen of their inputs: a word is read at its first piece, a sentence at [CLS]."""
    used, which = np.unique(examples.inputs_of[rows], return_inverse=True)
    return Labelled([seen[one] for one in used],
                    np.stack([which, examples.places[examples.rows[rows, 0], 1]], axis=1), gold[rows])


def _frozen(bert: Bert, parts: experiment.Parts) -> np.ndarray:
    """The labels of the test as a linear map from the last states reads them, none of BERT's weights changed."""
    examples = parts.examples
    last = dict(states(bert, [encoding for _, encoding in examples.inputs], [bert.config.num_hidden_layers]))
    places = examples.places[examples.rows[:, 0], :2]
    seen = torch.from_numpy(np.stack([last[row][0, place] for row, place in places]))[None]  # (1, examples, hidden)
    gold = torch.from_numpy(parts.gold)
    probe = LinearProbe().fit(seen[:, parts.train], gold[parts.train], seen[:, parts.dev], gold[parts.dev],
                              len(parts.classes))
    return probe.predict(seen[:, parts.test])[0, 0].numpy()


def _scored(parts: experiment.Parts, said: np.ndarray) -> list[float]:
    right = said == parts.gold[parts.test]
    return [float(right.mean()), *baselines.interval(right, parts.examples.inputs_of[parts.test], parts.seed)]


def _looked_at(result: Result, parts: experiment.Parts, said: np.ndarray) -> None:
    gold = parts.gold[parts.test]
    confusion = np.zeros((len(parts.classes),) * 2, dtype=int)
    np.add.at(confusion, (gold[gold >= 0], said[gold >= 0]), 1)
    result.confusion = confusion.tolist()
    result.mistakes = experiment.mistakes(parts, said, said == gold)


def table(result: Result) -> pd.DataFrame:
    """What was reached, the fine-tuned model first: who, accuracy, low, high."""
    names = ARMS | BESIDE
    return pd.DataFrame([[names[name], *result.scores[name]] for name in ("tuned", "alone", "frozen", "random",
                                                                          "word_type", "majority") if name in result.scores],
                        columns=["who", "accuracy", "low", "high"])


def card(result: Result, name: str) -> str:
    """What a fine-tuned checkpoint says of itself."""
    settings, sizes = result.settings, result.sizes
    looks = "every word's first piece" if result.unit == "token" else "[CLS] of a pair" if result.pairs else "[CLS]"
    lines = [f"# {name}", "", f"{settings['model']}, fine-tuned to tell {result.title} with one output layer on {looks}; "
             "its masked-word and next-sentence heads are gone.", "", f"* labels: {', '.join(result.classes)}",
             f"* learned from: {settings['data']}, {sizes['train']:,} examples in {sizes['inputs']:,} inputs, "
             f"{settings['epochs']} passes, peak rate {settings['rate']:g}, batch {settings['batch']}, "
             f"seed {settings['seed']}",
             f"* {sizes['test']:,} test examples: {result.scores['tuned'][0]:.1%} right; with BERT frozen "
             f"{result.scores['frozen'][0]:.1%}; always the most frequent label {result.scores['majority'][0]:.1%}", "",
             f"    {result.command}"]
    return "\n".join(lines) + "\n"


def said(tuned: Tuned, text: str, second: str | None = None) -> pd.DataFrame:
    """What a fine-tuned model says: a row a label for a sentence or a pair, a row a word with its best label for tokens."""
    encoding = tuned.bert.tokenizer.encode(text, second)
    firsts = [token for token in encoding.tokens if not token.special and not token.continues]
    positions = [0] if tuned.unit == "sentence" else [token.position for token in firsts]
    given = Labelled([encoding], np.array([(0, place) for place in positions]), np.zeros(len(positions), dtype=int))
    chances = probabilities(tuned, given)
    if tuned.unit == "sentence":
        rows = zip(tuned.names, chances[0].tolist(), strict=True)
        return pd.DataFrame(rows, columns=["label", "probability"]).sort_values("probability", ascending=False)
    best = [tuned.names[number] for number in chances.argmax(-1)]
    return pd.DataFrame({"word": [token.text for token in firsts], "label": best, "probability": chances.max(-1)})
