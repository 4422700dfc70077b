"""Fine-tuning: one output layer, trained together with all of BERT, in the four shapes of the paper.

On the pooled [CLS] a class or a number, on the state of each token a class, and on the tokens of a passage where an answer
starts and ends. Devlin et al. (2019), 3.2 and 4.
"""

import copy
import json
import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import checkpoint
from .bert import Bert, Linear
from .errors import CheckpointError, InputError
from .short_repr import ShortRepr
from .tokenizer import Encoding
from .trace import batches_by_length

# what the output layer says something of, and what transformers calls a model that does it
KINDS = {
    "sentence": "BertForSequenceClassification",
    "number": "BertForSequenceClassification",  # one output, problem_type regression
    "token": "BertForTokenClassification",
    "span": "BertForQuestionAnswering",
}
POOLED = ("sentence", "number")
OUTSIDE, START, END, START_AND_END = range(4)  # labels of the tokens of a passage
MAX_SPAN = 20  # wordpieces of an answer
MAX_GRAD_NORM, WEIGHT_DECAY, WARMUP = 1.0, 0.01, 0.1


@dataclass(frozen=True, repr=False)
class LabelledInputs(ShortRepr):
    """Inputs, and positions in them with the index of the class of each; of numbers the value itself, and of spans the
    positions of the passage with OUTSIDE, START, END or START_AND_END."""

    encodings: Sequence[Encoding]
    positions: np.ndarray  # (examples, 2): which input, and which position in it; 0 is [CLS]
    labels: np.ndarray  # (examples,)


@dataclass(frozen=True)
class FinetuningConfig:
    """Epochs, peak learning rate, inputs of a step, and how often the test set is evaluated."""

    epochs: int = 10
    learning_rate: float = 2e-4
    batch_size: int = 16
    seed: int = 0
    evaluations: int = 12

    def __post_init__(self):
        if self.epochs < 1 or self.batch_size < 1 or not 0 < self.learning_rate < 1:
            raise InputError(
                f"epochs ({self.epochs}) and batch_size ({self.batch_size}) must be at least 1, "
                f"and the learning rate ({self.learning_rate:g}) between 0 and 1."
            )


def default_learning_rate(bert: Bert) -> float:
    """A learning rate to begin with: hidden_size^-1.5, near the paper's 5e-5 for BERT-base."""
    return float(f"{1.5 / bert.config.hidden_size**1.5:.1g}")


@dataclass(frozen=True)
class FinetuningProgress:
    """The loss of a step, and the test score after it where it was evaluated."""

    step: int
    steps: int
    loss: float | None
    accuracy: float | None


class FinetunedBert(nn.Module):
    """A BERT with one output layer instead of its heads: on the pooled [CLS], or on the states of tokens."""

    def __init__(self, bert: Bert, classes: Sequence[str], level: str, seed: int = 0):
        super().__init__()
        if level not in KINDS:
            raise InputError(f"level must be {', '.join(KINDS)}, not {level!r}.")
        self.classes, self.level, hidden = list(classes), level, bert.config.hidden_size
        self.bert = copy.deepcopy(bert)
        self.pooler = Linear(hidden, hidden) if level in POOLED else None
        self.output = Linear(hidden, len(self.classes))
        self.dropout = nn.Dropout(bert.config.hidden_dropout_prob)
        generator, std = torch.Generator().manual_seed(seed), bert.config.initializer_range
        for layer in filter(None, (self.pooler, self.output)):
            nn.init.trunc_normal_(layer.weight, 0.0, std, -2 * std, 2 * std, generator=generator)
            nn.init.zeros_(layer.bias)
        if self.pooler is not None and bert.nsp is not None:
            self.pooler.load_state_dict(bert.nsp.pooler.state_dict())
        self.bert.mlm = self.bert.nsp = None
        self.to(bert.device)

    def forward(self, encodings: Sequence[Encoding], rows: Tensor, positions: Tensor) -> Tensor:
        """Logits at (row, position) pairs: (places,), (places,) -> (places, classes)."""
        states = self.bert.states_at(rows, positions, encodings)
        if self.pooler is not None:
            states = torch.tanh(self.pooler(states))
        return self.output(self.dropout(states))

    def save(self, folder: str | Path) -> Path:
        """A folder that `load` reads, and `transformers` as one of KINDS with equal logits."""
        name = _output_name(self.level)
        tensors = {f"{name}.weight": self.output.weight, f"{name}.bias": self.output.bias}
        if self.pooler is not None:
            tensors |= {"bert.pooler.dense.weight": self.pooler.weight, "bert.pooler.dense.bias": self.pooler.bias}
        settings: dict[str, Any] = {"problem_type": "regression"} if self.level == "number" else {}
        return checkpoint.save(
            self.bert,
            Path(folder),
            extra_tensors=tensors,
            architectures=[KINDS[self.level]],
            **settings,
            id2label={str(index): name for index, name in enumerate(self.classes)},
            label2id={name: index for index, name in enumerate(self.classes)},
        )


def _output_name(level: str) -> str:
    """What transformers calls the output layer."""
    return "qa_outputs" if level == "span" else "classifier"


def load(folder: str | Path) -> FinetunedBert:
    """A fine-tuned checkpoint, ours or of `transformers`."""
    folder = Path(folder)
    bert = checkpoint.load(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    level = next((level for level, name in KINDS.items() if name in (config.get("architectures") or ())), None)
    weights = checkpoint.read_state_dict(folder)
    if level == "sentence" and config.get("problem_type") == "regression":
        level = "number"
    if level is None or f"{_output_name(level)}.weight" not in weights:
        raise CheckpointError(f"{folder} has no output layer: it was not fine-tuned.")
    names = config.get("id2label") or {}
    output = _output_name(level)
    count = len(weights[f"{output}.weight"])
    tuned = FinetunedBert(bert, [str(names.get(str(index), f"label {index}")) for index in range(count)], level)
    layers = [(output, tuned.output)] + ([("bert.pooler.dense", tuned.pooler)] if tuned.pooler else [])
    for name, layer in layers:
        for leaf, parameter in layer.named_parameters():
            tensor = weights.get(f"{name}.{leaf}")
            if tensor is None or tensor.shape != parameter.shape:
                raise CheckpointError(f"{folder}: the weights {name}.{leaf} are missing or of another shape.")
            parameter.data = tensor.to(torch.float32, copy=True)
    return tuned.eval().requires_grad_(False)


def finetune(
    bert: Bert, classes: Sequence[str], level: str, train: LabelledInputs, test: LabelledInputs, config: FinetuningConfig
) -> Generator[FinetuningProgress, None, FinetunedBert]:
    """Train a copy of a BERT and an output layer by AdamW with linear warm-up and decay; `bert` stays as it is."""
    tuned = FinetunedBert(bert, classes, level, config.seed).requires_grad_(True)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in tuned.parameters() if p.dim() > 1], "weight_decay": WEIGHT_DECAY},
            {"params": [p for p in tuned.parameters() if p.dim() <= 1], "weight_decay": 0.0},
        ],
        config.learning_rate,
        fused=True,
    )
    steps = config.epochs * math.ceil(len(train.encodings) / config.batch_size)
    evaluated = {round(steps * part / config.evaluations) for part in range(1, config.evaluations + 1)}
    yield FinetuningProgress(0, steps, None, score(tuned, test))
    for step, rows in enumerate(_batches(len(train.encodings), config), 1):
        done = (step - 0.5) / steps
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * min(done / WARMUP, (1 - done) / (1 - WARMUP))
        with torch.random.fork_rng(range(torch.cuda.device_count())):  # the caller's generator is left as it was
            torch.manual_seed(config.seed + step)  # for dropout
            loss = _train_step(tuned, optimizer, train, rows)
        yield FinetuningProgress(step, steps, loss, score(tuned, test) if step in evaluated else None)
    return tuned.eval().requires_grad_(False)


def _train_step(tuned: FinetunedBert, optimizer: torch.optim.Optimizer, train: LabelledInputs, rows: np.ndarray) -> float:
    """One step on some inputs, and its loss."""
    tuned.train()
    logits, examples = _logits(tuned, train, rows)
    loss = _loss(tuned.level, logits, torch.from_numpy(train.labels[examples]).to(logits.device), train, examples)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(tuned.parameters(), MAX_GRAD_NORM)
    optimizer.step()
    return float(loss.detach())


def _loss(level: str, logits: Tensor, labels: Tensor, train: LabelledInputs, examples: np.ndarray) -> Tensor:
    """Cross-entropy; of numbers the squared error; of spans the mean over inputs of that of start and end."""
    if level == "number":
        return F.mse_loss(logits[:, 0], labels.to(logits.dtype))
    if level != "span":
        return F.cross_entropy(logits, labels)
    losses = []
    for places in _by_input(train, examples):
        for column, marks in ((0, (START, START_AND_END)), (1, (END, START_AND_END))):
            target = torch.isin(labels[places], torch.tensor(marks, device=labels.device)).nonzero()[0]
            losses.append(F.cross_entropy(logits[places, column][None], target))
    return torch.stack(losses).mean()


def _by_input(inputs: LabelledInputs, examples: np.ndarray) -> list[np.ndarray]:
    """The places, among these examples, of each input."""
    rows = inputs.positions[examples, 0]
    return [np.flatnonzero(rows == row) for row in np.unique(rows)]


def _batches(inputs: int, config: FinetuningConfig) -> Iterator[np.ndarray]:
    for epoch in range(config.epochs):
        order = np.random.default_rng([config.seed, epoch]).permutation(inputs)
        for start in range(0, inputs, config.batch_size):
            yield order[start : start + config.batch_size]


def _logits(tuned: FinetunedBert, inputs: LabelledInputs, rows: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """Logits of the examples in some inputs, (examples, classes), and the indices of these examples."""
    examples = np.flatnonzero(np.isin(inputs.positions[:, 0], rows))
    batch_index = {int(row): index for index, row in enumerate(rows)}
    batch_rows = torch.tensor([batch_index[int(row)] for row in inputs.positions[examples, 0]])
    positions = torch.from_numpy(inputs.positions[examples, 1])
    return tuned([inputs.encodings[row] for row in rows], batch_rows, positions), examples


def probabilities(tuned: FinetunedBert, inputs: LabelledInputs) -> np.ndarray:
    """The probability of every class for every example: (examples, classes)."""
    return torch.from_numpy(outputs(tuned, inputs)).softmax(-1).numpy()


def outputs(tuned: FinetunedBert, inputs: LabelledInputs) -> np.ndarray:
    """What the output layer says of every example: (examples, classes), of numbers (examples, 1), of spans (places, 2)."""
    predicted = np.zeros((len(inputs.labels), len(tuned.classes)), dtype=np.float32)
    tuned.eval()
    with torch.inference_mode():
        for rows in batches_by_length(inputs.encodings):
            logits, examples = _logits(tuned, inputs, np.array(rows))
            predicted[examples] = logits.cpu().numpy()
    return predicted


def best_spans(logits: np.ndarray, inputs: LabelledInputs) -> dict[int, tuple[int, int]]:
    """Of each input the positions, first and last, with the largest sum of start and end: logits (places, 2)."""
    spans = {}
    for places in _by_input(inputs, np.arange(len(inputs.labels))):
        sums = logits[places, 0][:, None] + logits[places, 1][None]  # (start, end)
        length = np.arange(len(places))[None] - np.arange(len(places))[:, None]
        start, end = np.unravel_index(np.where((length >= 0) & (length < MAX_SPAN), sums, -np.inf).argmax(), sums.shape)
        row = int(inputs.positions[places[0], 0])
        spans[row] = (int(inputs.positions[places[start], 1]), int(inputs.positions[places[end], 1]))
    return spans


def gold_spans(inputs: LabelledInputs) -> dict[int, tuple[int, int]]:
    """The positions, first and last, of each input's answer."""
    ends = {
        marks[0]: {int(row): int(position) for row, position in inputs.positions[np.isin(inputs.labels, marks)]}
        for marks in ((START, START_AND_END), (END, START_AND_END))
    }
    return {row: (start, ends[END][row]) for row, start in ends[START].items()}


def score(tuned: FinetunedBert, inputs: LabelledInputs) -> float:
    """The fraction that is right; of spans those that match exactly; of numbers the correlation with the true ones."""
    if tuned.level == "number":
        predicted = outputs(tuned, inputs)[:, 0]
        return float(np.corrcoef(predicted, inputs.labels)[0, 1]) if predicted.std() > 0 else 0.0
    if tuned.level == "span":
        gold, predicted = gold_spans(inputs), best_spans(outputs(tuned, inputs), inputs)
        return float(np.mean([predicted[row] == span for row, span in gold.items()]))
    return accuracy(tuned, inputs)


def accuracy(tuned: FinetunedBert, inputs: LabelledInputs) -> float:
    """The fraction of examples whose most probable class is the true one."""
    return float((probabilities(tuned, inputs).argmax(-1) == inputs.labels).mean())
