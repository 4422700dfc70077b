"""Questions about heads that take long, as work for the queue: each yields its progress and leaves a result on disk."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

import model
from model import InputProblem, smallworld
from model.pretraining.corpus import decoded
from probes.heads import ablation, dependency_relations
from probes.heads.corpus_statistics import even, survey
from probes.probing import experiment, treebank

RESULT, CORPUS, TREEBANK = "result.json", "corpus.txt", "treebank.conllu"


def corpus(folder: Path, source: str, sentences: int) -> Iterator[dict]:
    """What heads do over the lines of the corpus in the folder: the summary of `heads` as a table."""
    bert = model.load(source)
    lines = decoded((folder / CORPUS).read_bytes()).splitlines()
    encodings = [bert.tokenizer.encode(line) for line in lines if line.strip()][:sentences]
    if not encodings:
        raise InputProblem("The corpus holds no line of text.")
    started, baseline = time.monotonic(), even(encodings)
    for done, table in survey(bert, encodings):
        _write(folder, {"read": done, "table": table.to_dict("list"), "even": baseline})
        yield _progress(done, len(encodings), started, f"Read {done:,} of {len(encodings):,} sentences")


def corpus_found(folder: Path) -> tuple[int, pd.DataFrame, dict[str, float]]:
    """How many sentences were read, the summary, and the same numbers for a head that looks everywhere alike."""
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    return found["read"], pd.DataFrame(found["table"]), found["even"]


def grammar(folder: Path, source: str, sentences: int, name: str) -> Iterator[dict]:
    """Which head follows which relation in the treebank of this name in the folder, or in the small world without one."""
    bert = model.load(source)
    bank = treebank.parse((folder / TREEBANK).read_text(encoding="utf-8-sig"), name) if name else planted(sentences)
    kept, skipped = treebank.aligned(bert, bank.sentences[:sentences])
    started = time.monotonic()
    for found in dependency_relations.relations(bert, kept):
        _write(folder, {
            "layers": found.layers, "heads": found.heads, "sentences": found.sentences, "skipped": skipped,
            "count": dict(found.count), "offsets": {name: list(each.items()) for name, each in found.offsets.items()},
            "right": {name: each.tolist() for name, each in found.right.items()},
            "first": {name: each.tolist() for name, each in found.first.items()},
            "examples": [asdict(example) for example in found.examples]})
        yield _progress(found.sentences, len(kept), started, f"Read {found.sentences:,} of {len(kept):,} sentences")


def grammar_found(folder: Path) -> dependency_relations.Relations:
    """The counts over the sentences read, with a sentence for every head that was ever right."""
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    offsets = defaultdict(Counter, {name: Counter(dict(each)) for name, each in found["offsets"].items()})
    right, first = ({name: np.array(each) for name, each in found[part].items()} for part in ("right", "first"))
    examples = [dependency_relations.Example(**each | {"words": tuple(each["words"])}) for each in found["examples"]]
    return dependency_relations.Relations(found["layers"], found["heads"], found["sentences"], Counter(found["count"]),
                                          offsets,
                               right, first, examples)


def planted(sentences: int, seed: int = 0) -> treebank.Treebank:
    """At least so many sentences of the small world, whose trees are known."""
    return experiment.small_world(seed, stories=-(-sentences // len(smallworld.KINDS)))


def pruning(folder: Path, source: str, texts: list[str], words: int, points: int, orders: int, seed: int) -> Iterator[dict]:
    """Heads switched off one after the other on masked words of the texts: greedy, by gradient, at random."""
    bert = model.load(source)
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
