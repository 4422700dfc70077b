"""A training run replayed: what a model said about one sentence at each snapshot kept while it learned."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import model

from . import cloze

QUESTION = "Anna and her brother like the market and [MASK] there every Friday."  # of the small world
COURSE = ("step", "mlm_loss", "nsp_loss", "held_mlm_accuracy", "held_nsp_accuracy")


@dataclass(frozen=True)
class Snapshot:
    """A checkpoint kept after some steps of a run."""

    step: int
    path: Path


def snapshots(run: Path) -> list[Snapshot]:
    """The snapshots of a run, the first step first, and the finished model last; empty for a run without any."""
    kept = sorted((run / "snapshots").glob("[0-9]*"))
    found = [Snapshot(int(path.name), path) for path in kept if (path / "config.json").is_file()]
    steps = history(run)["step"]
    if found and (run / "config.json").is_file() and len(steps) and steps.iloc[-1] > found[-1].step:
        found.append(Snapshot(int(steps.iloc[-1]), run))
    return found


@dataclass(frozen=True)
class Answer:
    """What one snapshot makes of a sentence: its best words behind the first [MASK], and where each head looks."""

    words: dict[str, float]  # best first
    texts: list[str]
    place: int  # of the [MASK]
    attention: np.ndarray  # (layers, heads, query, key)


def answer(path: Path, text: str, k: int = 40) -> Answer:
    """Ask one snapshot."""
    bert = model.load(path)
    encoding = bert.tokenizer.encode(text)
    place = cloze.masks(bert, encoding)[0]
    best = cloze.best(bert, encoding, [place], k)
    trace = bert.trace(text)
    return Answer(dict(zip(best["word"], best["probability"], strict=True)), trace.texts, place,
                  trace.attention.astype(np.float16))


def followed(answers: dict[int, Answer], k: int = 5) -> pd.DataFrame:
    """step, word, probability of the words that were ever said first, then of those probable at the end; k of them."""
    final = list(answers.values())[-1].words if answers else {}
    wanted = list(dict.fromkeys([*list(final)[: k - 2], *(next(iter(a.words)) for a in reversed(answers.values())),
                                 *final]))[:k]
    return pd.DataFrame([(step, word, said.words.get(word, 0.0)) for step, said in answers.items() for word in wanted],
                        columns=["step", "word", "probability"])


def telling(said: Answer) -> int:
    """The head, counted through all layers, that looks from the hidden word most at one other word of the text."""
    row = said.attention[:, :, said.place].astype(np.float32).copy()  # (layers, heads, key)
    row[:, :, [0, said.place, *(at for at, text in enumerate(said.texts) if text in ("[SEP]", ".", ","))]] = 0
    return int(row.max(-1).argmax())


def question(run: Path) -> str:
    """A sentence with a hidden word to ask a run about: its own, or one of the small world."""
    path = run / "question.txt"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else QUESTION


def course(progress: list[dict]) -> pd.DataFrame:
    """The same table as `history` from what a run under way has said so far."""
    return pd.DataFrame([{name: said.get(name, np.nan) for name in COURSE} for said in progress if "mlm_loss" in said],
                        columns=list(COURSE))


def history(run: Path) -> pd.DataFrame:
    """The course of a run as it was written down: step, losses and accuracies, held-out ones where they were asked."""
    try:
        with (run / "history.csv").open(encoding="utf-8") as file:
            rows = [{name: float(value) if value else np.nan for name, value in row.items()}
                    for row in csv.DictReader(file)]
    except FileNotFoundError:
        rows = []
    return pd.DataFrame(rows, columns=list(rows[0]) if rows else ["step"])


def ceiling(run: Path) -> dict[str, float]:
    """The upper bound that was computed for this run's texts, or nothing."""
    path = run / "bound.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
