"""A training run replayed: what a model predicts for one sentence at each snapshot of its training."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import model

from . import cloze, heads

QUESTION = "Anna and her brother like the market and [MASK] there every Friday."  # of the small world
COURSE = ("step", "mlm_loss", "nsp_loss", "heldout_mlm_accuracy", "heldout_nsp_accuracy")


@dataclass(frozen=True)
class Snapshot:
    """A checkpoint saved after some steps of a run."""

    step: int
    path: Path


def snapshots(run: Path) -> list[Snapshot]:
    """The snapshots of a run, the first step first, and the finished model last; empty for a run without any."""
    folders = sorted((run / "snapshots").glob("[0-9]*"))
    saved = [Snapshot(int(folder.name), folder) for folder in folders if (folder / "config.json").is_file()]
    steps = history(run)["step"]
    if saved and (run / "config.json").is_file() and len(steps) and steps.iloc[-1] > saved[-1].step:
        saved.append(Snapshot(int(steps.iloc[-1]), run))
    return saved


@dataclass(frozen=True)
class SnapshotPrediction:
    """What one snapshot predicts behind the first [MASK] of a sentence, and its attention."""

    words: dict[str, float]  # best first
    encoding: model.Encoding
    place: int  # of the [MASK]
    attention: np.ndarray  # (layers, heads, query, key)

    @property
    def texts(self) -> list[str]:
        """The wordpieces."""
        return [token.text for token in self.encoding.tokens]

    @property
    def head(self) -> tuple[int, int]:
        """The (layer, head) worth showing first for the [MASK]."""
        return heads.most_informative(self.attention.astype(np.float32), self.encoding, [self.place])

    def top(self, k: int) -> pd.DataFrame:
        """word, probability of the k most probable words behind the [MASK], best first."""
        return pd.DataFrame(list(self.words.items())[:k], columns=["word", "probability"])

    def strongest_target(self, layer: int, head: int) -> tuple[str, float]:
        """The wordpiece that this head attends to most from the [MASK], and its weight."""
        weights = self.attention[layer, head, self.place]
        return self.texts[int(weights.argmax())], float(weights.max())

    def __repr__(self) -> str:
        word, probability = next(iter(self.words.items()))
        return f"SnapshotPrediction({word!r} {probability:.2f}, {len(self.texts)} tokens)"


def predict(path: Path, text: str, k: int = 40) -> SnapshotPrediction:
    """The prediction of one snapshot: its k most probable words."""
    bert = model.load(path)
    encoding = bert.tokenizer.encode(text)
    place = cloze.mask_positions(bert, encoding)[0]
    best = cloze.predict(bert, encoding, [place], k)
    trace = bert.trace(text)
    return SnapshotPrediction(
        dict(zip(best["word"], best["probability"], strict=True)),
        trace.encoding,
        place,
        trace.attention.astype(np.float16),
    )


def followed(predictions: dict[int, SnapshotPrediction], k: int = 5) -> pd.DataFrame:
    """step, word, probability of k words: the most probable at the end, and those that were ever most probable."""
    final = list(predictions.values())[-1].words if predictions else {}
    ever_first = [next(iter(prediction.words)) for prediction in reversed(predictions.values())]
    words = list(dict.fromkeys([*list(final)[: k - 2], *ever_first, *final]))[:k]
    return pd.DataFrame(
        [(step, word, prediction.words.get(word, 0.0)) for step, prediction in predictions.items() for word in words],
        columns=["step", "word", "probability"],
    )


def question(run: Path) -> str:
    """A sentence with a [MASK] to follow through a run: its own, or one of the small world."""
    path = run / "question.txt"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else QUESTION


def course(progress: list[dict]) -> pd.DataFrame:
    """The same table as `history` from the progress of a run under way."""
    rows = [{name: step.get(name, np.nan) for name in COURSE} for step in progress if "mlm_loss" in step]
    return pd.DataFrame(rows, columns=list(COURSE))


def history(run: Path) -> pd.DataFrame:
    """The log of a run: step, losses and accuracies, held-out ones at the steps that evaluated them."""
    try:
        return pd.read_csv(run / "history.csv", dtype=float)
    except FileNotFoundError:
        return pd.DataFrame(columns=["step"])


def values_at(history: pd.DataFrame, step: int | None = None) -> dict[str, float]:
    """The last known value of each column of `history` up to a step, or to the end; columns without any are left out."""
    rows = history if step is None else history[history["step"] <= step]
    known = rows.ffill().tail(1).dropna(axis=1)
    return {} if known.empty else {str(name): float(value) for name, value in known.iloc[0].items()}


def ceiling(run: Path) -> dict[str, float]:
    """The upper bound that was computed for this run's texts, or nothing."""
    path = run / "bound.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
