"""Questions about heads that take long, as work for the queue: each yields its progress and leaves a result on disk."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import model
from model import InputProblem, smallworld

from . import ablation, experiment, relations, treebank
from .survey import survey

RESULT = "result.json"


def corpus(folder: Path, source: str, sentences: int) -> Iterator[dict]:
    """What heads do over the lines of corpus.txt: the summary of `heads` as a table."""
    bert = model.load(source, hub=True)
    lines = (folder / "corpus.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    encodings = [bert.tokenizer.encode(line) for line in lines if line.strip()][:sentences]
    if not encodings:
        raise InputProblem("The corpus holds no line of text.")
    started = time.monotonic()
    for done, table in survey(bert, encodings):
        _write(folder, {"read": done, "table": table.to_dict("list")})
        yield _progress(done, len(encodings), started, f"Read {done:,} of {len(encodings):,} sentences")


def corpus_found(folder: Path) -> tuple[int, pd.DataFrame]:
    """How many sentences were read, and the summary."""
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    return found["read"], pd.DataFrame(found["table"])


def grammar(folder: Path, source: str, sentences: int, least: int) -> Iterator[dict]:
    """Which head follows which relation in treebank.conllu, or in the small world where there is no such file."""
    bert = model.load(source, hub=True)
    path = folder / "treebank.conllu"
    bank = treebank.read(path) if path.is_file() else planted(sentences)
    kept, skipped = treebank.aligned(bert, bank.sentences[:sentences])
    started, found = time.monotonic(), None
    for found in relations.relations(bert, kept):
        yield _progress(found.sentences, len(kept), started, f"Read {found.sentences:,} of {len(kept):,} sentences")
    assert found is not None
    shown = []
    for row in found.table(least).to_dict("records"):
        right = relations.example(bert, kept, row["relation"], row["direction"], row["layer"], row["head"])
        shown.append({"relation": row["relation"], "direction": row["direction"],
                      "words": list(right[0].sentence.words), "dependent": right[1],
                      "head": right[0].sentence.heads[right[1]]} if right else None)
    _write(folder, {
        "layers": found.layers, "heads": found.heads, "sentences": found.sentences, "skipped": skipped,
        "count": dict(found.count), "offsets": {name: list(each.items()) for name, each in found.offsets.items()},
        "right": {name: each.tolist() for name, each in found.right.items()}, "examples": [e for e in shown if e]})


def grammar_found(folder: Path) -> tuple[relations.Relations, list[dict]]:
    """The counts, and for rows of the table a sentence in which the head is right: words, dependent, head."""
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    offsets = defaultdict(Counter, {name: Counter(dict(each)) for name, each in found["offsets"].items()})
    right = {name: np.array(each) for name, each in found["right"].items()}
    return relations.Relations(found["layers"], found["heads"], found["sentences"], Counter(found["count"]), offsets,
                               right), found["examples"]


def planted(sentences: int, seed: int = 0) -> treebank.Treebank:
    """At least so many sentences of the small world, whose trees are known."""
    return experiment.small_world(seed, stories=-(-sentences // len(smallworld.KINDS)))


def pruning(folder: Path, source: str, texts: list[str], words: int, points: int, orders: int, seed: int) -> Iterator[dict]:
    """Heads switched off one after the other on masked words of the texts: greedy, by gradient, at random."""
    bert = model.load(source, hub=True)
    questions = ablation.exam(bert, texts, words, seed)
    heads = len(ablation.every_head(bert))
    step, started, curve = max(1, round(heads / points)), time.monotonic(), []
    for point in ablation.pruned(bert, questions, step, orders, seed):
        curve.append({"gone": point.gone, "greedy": point.greedy, "gradient": point.gradient,
                      "random": point.random, "heads": point.heads})
        _write(folder, {"curve": curve, "words": len(questions)})
        # the first rounds try all heads, the last ones few: what is done grows with the square of what is gone
        done = 1 - ((heads - point.gone) / heads) ** 2
        yield _progress(done, 1, started, f"{point.gone} of {heads} heads off")


def pruning_found(folder: Path) -> tuple[pd.DataFrame, int]:
    """gone, greedy, gradient, low, middle, high, heads of each point; and how many masked words were asked."""
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    curve = pd.DataFrame(found["curve"])
    chance = np.array(curve.pop("random").tolist())
    return curve.assign(low=chance.min(1), middle=chance.mean(1), high=chance.max(1)), found["words"]


def _progress(done: float, total: float, started: float, stage: str) -> dict:
    fraction = done / total
    spent = time.monotonic() - started
    return {"fraction": fraction, "stage": stage, "eta": spent / fraction - spent if fraction > 0.02 else None}


def _write(folder: Path, found: dict) -> None:
    made = folder / f".{RESULT}"
    made.write_text(json.dumps(found), encoding="utf-8")
    made.replace(folder / RESULT)
