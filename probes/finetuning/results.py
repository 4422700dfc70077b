"""The result of a fine-tuning: learning curves and scores of every condition, beside the baselines."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pandas as pd

from ..results import ExperimentResult

# what is trained with all its weights; labels of pairs can often be predicted from one of the two: Poliak et al. (2018)
CONDITIONS = {
    "finetuned": "fine-tuned",
    "random_init": "fine-tuned from random weights",
    "second_only": "fine-tuned, sentence B alone",
}
BASELINES = {
    "frozen": "output layer alone, BERT frozen",
    "word_type": "most frequent label of the word",
    "majority": "most frequent label",
}
ORDER = ("finetuned", "second_only", "frozen", "random_init", "word_type", "majority")


@dataclass(repr=False)
class FinetuningResult(ExperimentResult):
    """What one run of `probes.finetuning.experiment` measured; a condition is in `scores` when it has come to its end."""

    EXPERIMENT: ClassVar[str] = "fine-tuning"
    SETTINGS: ClassVar[dict[str, Any]] = {
        "model": str,
        "data": str,
        "model_digest": str,
        "digest": str,
        "task": str,
        "epochs": int,
        "learning_rate": int | float,
        "batch_size": int,
        "limit": int,
        "seed": int,
    }
    SIZES: ClassVar[frozenset[str]] = frozenset({"train", "dev", "test", "inputs", "skipped", "duplicates", "left_out"})

    learning_curves: dict[str, list[list[float]]] = field(default_factory=dict)  # condition -> step, test accuracy after it
    scores: dict[str, list[float]] = field(default_factory=dict)  # condition or baseline -> accuracy, low, high
    confusion: list[list[int]] = field(default_factory=list)  # (gold, predicted) of the fine-tuned model
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    pairs: bool = False  # the label is that of two sentences
    # what changed on test inputs: "cka" by layer, embeddings first, and "attention" by layer and head
    change: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How a list calls it."""
        return f"{self.title} · {self.settings['model']} · {self.settings['data']}"

    def check(self) -> None:
        points = [point for curve in self.learning_curves.values() for point in curve]
        if not all(map(_are_numbers, [*points, *self.scores.values(), *self.confusion])):
            raise TypeError
        if self.change and not (_are_numbers(self.change["cka"]) and all(map(_are_numbers, self.change["attention"]))):
            raise TypeError
        table(self)


def _are_numbers(row: Any) -> bool:
    return isinstance(row, list) and all(isinstance(value, int | float) for value in row)


def table(result: FinetuningResult) -> pd.DataFrame:
    """What was reached, the fine-tuned model first: who, accuracy, low, high."""
    names = CONDITIONS | BASELINES
    rows = [[names[name], *result.scores[name]] for name in ORDER if name in result.scores]
    return pd.DataFrame(rows, columns=["who", "accuracy", "low", "high"])


def card(result: FinetuningResult, name: str) -> str:
    """What a fine-tuned checkpoint says of itself."""
    settings, sizes, scores = result.settings, result.sizes, result.scores
    position = "every word's first wordpiece" if result.unit == "token" else "[CLS] of a pair" if result.pairs else "[CLS]"
    lines = [
        f"# {name}",
        "",
        f"{settings['model']}, fine-tuned to tell {result.title} with one output layer on {position}; "
        "its masked-word and next-sentence heads are gone.",
        "",
        f"* labels: {', '.join(result.classes)}",
        f"* trained on: {settings['data']}, {sizes['train']:,} examples in {sizes['inputs']:,} inputs, "
        f"{settings['epochs']} epochs, peak learning rate {settings['learning_rate']:g}, batch size "
        f"{settings['batch_size']}, seed {settings['seed']}",
        f"* {sizes['test']:,} test examples: accuracy {scores['finetuned'][0]:.1%}; with BERT frozen "
        f"{scores['frozen'][0]:.1%}; always the most frequent label {scores['majority'][0]:.1%}",
        "",
        f"    {result.command}",
    ]
    return "\n".join(lines) + "\n"
