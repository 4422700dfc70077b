"""Long analyses of heads as work for the queue: each yields its progress and writes a result file."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

import model
from model import InputError, smallworld
from model.files import write_text
from model.pretraining.corpus import decode_utf8
from probes.heads import ablation, dependency_relations
from probes.heads.corpus_statistics import summarise, uniform_baseline
from probes.probing import experiment, treebank
from probes.probing.alignment import align
from probes.progress import StageClock

RESULT, CORPUS, TREEBANK = "result.json", "corpus.txt", "treebank.conllu"


def corpus(folder: Path, source: str, sentences: int) -> Iterator[dict]:
    """Statistics of all heads over the lines of the corpus in the folder, as a table."""
    bert = model.load(source)
    lines = decode_utf8((folder / CORPUS).read_bytes()).splitlines()
    encodings = [bert.tokenizer.encode(line) for line in lines if line.strip()][:sentences]
    if not encodings:
        raise InputError("The corpus has no line of text; at least one is needed.")
    clock, baseline = StageClock(), uniform_baseline(encodings)
    yield {**clock.at(0.0, "Reading the corpus")}
    for done, table in summarise(bert, encodings):
        _write(folder, {"read": done, "table": table.to_dict("list"), "even": baseline})
        yield {**clock.at(done / len(encodings), f"Read {done:,} of {len(encodings):,} sentences")}


def corpus_result(folder: Path) -> tuple[int, pd.DataFrame, dict[str, float]]:
    """How many sentences were read, the table, and the same numbers for a head of uniform attention."""
    result = _read(folder)
    return result["read"], pd.DataFrame(result["table"]), result["even"]


def grammar(folder: Path, source: str, sentences: int, data: str = experiment.READER) -> Iterator[dict]:
    """Which head follows which relation: in data that come with the project, or in the treebank of this name."""
    bert = model.load(source)
    if data in experiment.BUNDLED_DATA:
        dataset = planted(sentences) if data == experiment.SMALL_WORLD else experiment.BUNDLED_DATA[data]()
    else:
        dataset = treebank.parse((folder / TREEBANK).read_text(encoding="utf-8-sig"), data)
    alignment = align(bert, dataset.sentences[:sentences])
    total = len(alignment.sentences)
    clock = StageClock()
    yield {**clock.at(0.0, "Reading the treebank")}
    for counts in dependency_relations.count(bert, alignment.sentences):
        _write(
            folder,
            {
                "layers": counts.layers,
                "heads": counts.heads,
                "sentences": counts.sentences,
                "skipped": alignment.skipped,
                "count": dict(counts.count),
                "offsets": {relation: list(offsets.items()) for relation, offsets in counts.offsets.items()},
                "correct": {relation: table.tolist() for relation, table in counts.correct.items()},
                "first_example": {relation: table.tolist() for relation, table in counts.first_example.items()},
                "examples": [asdict(example) for example in counts.examples],
            },
        )
        yield {**clock.at(counts.sentences / total, f"Read {counts.sentences:,} of {total:,} sentences")}


def grammar_result(folder: Path) -> dependency_relations.RelationCounts:
    """The counts over the sentences read, with a sentence for every head that was ever correct."""
    result = _read(folder)
    correct, first_example = (
        {relation: np.array(table) for relation, table in result[name].items()} for name in ("correct", "first_example")
    )
    return dependency_relations.RelationCounts(
        result["layers"],
        result["heads"],
        result["sentences"],
        Counter(result["count"]),
        defaultdict(Counter, {relation: Counter(dict(offsets)) for relation, offsets in result["offsets"].items()}),
        correct,
        first_example,
        [
            dependency_relations.RelationExample(
                **example | {name: tuple(example[name]) for name in ("words", "heads", "relations")}
            )
            for example in result["examples"]
        ],
    )


def planted(sentences: int, seed: int = 0) -> treebank.Treebank:
    """At least this many sentences of the small world, whose trees are known."""
    return experiment.small_world(seed, stories=-(-sentences // len(smallworld.KINDS)))


def pruning(folder: Path, source: str, texts: list[str], words: int, points: int, orders: int, seed: int) -> Iterator[dict]:
    """Heads switched off one after the other on masked words of the texts: greedy, by gradient, at random."""
    bert = model.load(source)
    targets = ablation.sample_targets(bert, texts, words, seed)
    heads = len(ablation.all_heads(bert))
    step, clock, curve = max(1, round(heads / points)), StageClock(), []
    yield {**clock.at(0.0, "All heads on")}
    for point in ablation.prune(bert, targets, step, orders, seed):
        curve.append(
            {
                "gone": point.removed,
                "greedy": point.greedy,
                "gradient": point.gradient,
                "random": point.random,
                "heads": point.heads,
            }
        )
        _write(folder, {"curve": curve, "words": len(targets)})
        # the first rounds try all heads, the last ones few: the work that remains is the square of the heads that do
        done = 1 - ((heads - point.removed) / heads) ** 2
        yield {**clock.at(done, f"{point.removed} of {heads} heads off")}


def pruning_result(folder: Path) -> tuple[pd.DataFrame, int]:
    """gone, greedy, gradient, low, middle, high (of random orders), heads of each point; and the number of masked words."""
    result = _read(folder)
    curve = pd.DataFrame(result["curve"])
    random = np.array(curve.pop("random").tolist())  # (points, orders)
    return curve.assign(low=random.min(1), middle=random.mean(1), high=random.max(1)), result["words"]


def _write(folder: Path, result: dict) -> None:
    write_text(folder / RESULT, json.dumps(result))


def _read(folder: Path) -> dict:
    return json.loads((folder / RESULT).read_text(encoding="utf-8"))
