"""Fine-tuning: one added output layer, on [CLS] for a sentence or on T_i for a token, learned together with all of BERT.

Devlin et al. (2019), 3.2 and 4.
"""

import copy
import json
import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import checkpoint
from .bert import Bert, Linear
from .errors import CheckpointProblem, InputProblem
from .tokenizer import Encoding
from .trace import alike

# what the output layer looks at, and what transformers calls a model that has one
KINDS = {"sentence": "BertForSequenceClassification", "token": "BertForTokenClassification"}
CLIP, DECAY, WARMUP = 1.0, 0.01, 0.1


@dataclass(frozen=True)
class Labelled:
    """Inputs, and places in them with the number of the right label of each."""

    encodings: Sequence[Encoding]
    places: np.ndarray  # (examples, 2): which input, and which position in it; 0 is [CLS]
    labels: np.ndarray  # (examples,)


@dataclass(frozen=True)
class Plan:
    """How to learn: passes over the inputs, greatest learning rate, inputs of a step, and how often to ask the test."""

    epochs: int = 10
    rate: float = 2e-4
    batch: int = 16
    seed: int = 0
    evaluations: int = 12

    def __post_init__(self):
        if self.epochs < 1 or self.batch < 1 or not 0 < self.rate < 1:
            raise InputProblem("Epochs and batch are 1 or more, and the learning rate lies between 0 and 1.")


def usual_rate(bert: Bert) -> float:
    """A learning rate to begin with, the lower the wider the model; near the paper's 5e-5 for BERT-base."""
    return float(f"{1.5 / bert.config.hidden_size ** 1.5:.1g}")


@dataclass(frozen=True)
class Progress:
    """Where a fine-tuning is: the loss of the step, and the accuracy on the test where it was asked after it."""

    step: int
    steps: int
    loss: float | None
    accuracy: float | None
    eta: float | None


class Tuned(nn.Module):
    """A BERT whose heads gave way to one output layer; a sentence is read from the pooled [CLS], a token from its state."""

    def __init__(self, bert: Bert, names: Sequence[str], unit: str, seed: int = 0):
        super().__init__()
        if unit not in KINDS:
            raise InputProblem(f"An output layer looks at a {' or a '.join(KINDS)}, not at a {unit}.")
        self.names, self.unit, hidden = list(names), unit, bert.config.hidden_size
        self.bert = copy.deepcopy(bert)
        self.pooler = Linear(hidden, hidden) if unit == "sentence" else None
        self.output = Linear(hidden, len(self.names))
        self.dropout = nn.Dropout(bert.config.hidden_dropout_prob)
        generator, spread = torch.Generator().manual_seed(seed), bert.config.initializer_range
        for added in filter(None, (self.pooler, self.output)):
            nn.init.trunc_normal_(added.weight, 0.0, spread, -2 * spread, 2 * spread, generator=generator)
            nn.init.zeros_(added.bias)
        if self.pooler is not None and bert.nsp is not None:
            self.pooler.load_state_dict(bert.nsp.pooler.state_dict())
        self.bert.mlm = self.bert.nsp = None

    def forward(self, encodings: Sequence[Encoding], rows: Tensor, positions: Tensor) -> Tensor:
        """The score of every label at some places of some inputs: (places,) -> (places, labels)."""
        states = self.bert.at(rows, positions, encodings)
        if self.pooler is not None:
            states = torch.tanh(self.pooler(states))
        return self.output(self.dropout(states))

    def save(self, folder: str | Path) -> Path:
        """A folder that `load` reads, and `transformers` as one of KINDS with equal scores."""
        added = {"classifier.weight": self.output.weight, "classifier.bias": self.output.bias}
        if self.pooler is not None:
            added |= {"bert.pooler.dense.weight": self.pooler.weight, "bert.pooler.dense.bias": self.pooler.bias}
        return checkpoint.save(self.bert, Path(folder), added=added, architectures=[KINDS[self.unit]],
                               id2label={str(number): name for number, name in enumerate(self.names)},
                               label2id={name: number for number, name in enumerate(self.names)})


def load(folder: str | Path) -> Tuned:
    """A fine-tuned checkpoint, ours or of `transformers`."""
    folder = Path(folder)
    bert = checkpoint.load(folder)
    described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    unit = next((unit for unit, name in KINDS.items() if name in (described.get("architectures") or ())), None)
    found = checkpoint.tensors(folder)
    if unit is None or "classifier.weight" not in found:
        raise CheckpointProblem(f"{folder} has no output layer: it was not fine-tuned.")
    names = described.get("id2label") or {}
    count = len(found["classifier.weight"])
    tuned = Tuned(bert, [str(names.get(str(number), f"label {number}")) for number in range(count)], unit)
    wanted = [("classifier", tuned.output)] + ([("bert.pooler.dense", tuned.pooler)] if tuned.pooler else [])
    for name, layer in wanted:
        for leaf, parameter in layer.named_parameters():
            tensor = found.get(f"{name}.{leaf}")
            if tensor is None or tensor.shape != parameter.shape:
                raise CheckpointProblem(f"{folder}: the weights {name}.{leaf} are missing or of another shape.")
            parameter.data = tensor.to(torch.float32, copy=True)
    return tuned.eval().requires_grad_(False)


def finetune(bert: Bert, names: Sequence[str], unit: str, train: Labelled, test: Labelled, plan: Plan
             ) -> Generator[Progress, None, Tuned]:
    """Learn the labels with a copy of a BERT, and return the copy with its output layer; `bert` stays as it is."""
    tuned = Tuned(bert, names, unit, plan.seed).requires_grad_(True)
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in tuned.parameters() if p.dim() > 1], "weight_decay": DECAY},
         {"params": [p for p in tuned.parameters() if p.dim() <= 1], "weight_decay": 0.0}], plan.rate, fused=True)
    steps = plan.epochs * math.ceil(len(train.encodings) / plan.batch)
    due = {round(steps * part / plan.evaluations) for part in range(1, plan.evaluations + 1)}
    began = time.monotonic()
    yield Progress(0, steps, None, accuracy(tuned, test), None)
    for step, rows in enumerate(_batches(len(train.encodings), plan), 1):
        done = (step - 0.5) / steps
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * min(done / WARMUP, (1 - done) / (1 - WARMUP))
        with torch.random.fork_rng(range(torch.cuda.device_count())):  # the caller's numbers go on as they would have
            torch.manual_seed(plan.seed + step)  # for dropout
            loss = _learned(tuned, optimizer, train, rows)
        right = accuracy(tuned, test) if step in due else None
        yield Progress(step, steps, loss, right, (time.monotonic() - began) / step * (steps - step))
    return tuned.eval().requires_grad_(False)


def _learned(tuned: Tuned, optimizer: torch.optim.Optimizer, train: Labelled, rows: np.ndarray) -> float:
    """One step on some inputs, and its loss."""
    tuned.train()
    scores, asked = _scored(tuned, train, rows)
    loss = F.cross_entropy(scores, torch.from_numpy(train.labels[asked]).to(scores.device))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(tuned.parameters(), CLIP)
    optimizer.step()
    return float(loss.detach())


def _batches(inputs: int, plan: Plan):
    for epoch in range(plan.epochs):
        order = np.random.default_rng([plan.seed, epoch]).permutation(inputs)
        for start in range(0, inputs, plan.batch):
            yield order[start: start + plan.batch]


def _scored(tuned: Tuned, given: Labelled, rows: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """The scores of the examples that stand in some inputs, and which examples these are."""
    asked = np.flatnonzero(np.isin(given.places[:, 0], rows))
    where = {int(row): place for place, row in enumerate(rows)}
    batch = torch.tensor([where[int(row)] for row in given.places[asked, 0]])
    return tuned([given.encodings[row] for row in rows], batch, torch.from_numpy(given.places[asked, 1])), asked


def probabilities(tuned: Tuned, given: Labelled) -> np.ndarray:
    """How probable every label is for every example: (examples, labels)."""
    said = np.zeros((len(given.labels), len(tuned.names)), dtype=np.float32)
    tuned.eval()
    with torch.inference_mode():
        for rows in alike(given.encodings):
            scores, asked = _scored(tuned, given, np.array(rows))
            said[asked] = scores.softmax(-1).cpu().numpy()
    return said


def accuracy(tuned: Tuned, given: Labelled) -> float:
    """The share of examples whose most probable label is the right one."""
    return float((probabilities(tuned, given).argmax(-1) == given.labels).mean())
