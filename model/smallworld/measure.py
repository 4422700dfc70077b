"""Figures of the small world itself: its ceiling as a job, and how many different sentences it has."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..masking import Mix
from ..store import Store, build
from . import stories, tokenizer
from .bound import ceiling
from .grammar import KINDS
from .lexicon import PLACES
from .pen import derivations
from .phrases import PRIORS


def measured(folder: Path, seed: int = 1, count: int = 512, keep: float = 0.1, corpus: str | None = None
             ) -> Iterator[dict[str, Any]]:
    """The ceiling of new stories, or of a run's held-out ones, as a job: writes bound.json into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces, place = tokenizer(), Path(corpus) if corpus else folder / "corpus"
    if not corpus:
        sentences = ([sentence.text for sentence in story.sentences] for story in stories(seed, 2 * count))
        for told in build(sentences, pieces, place, hold_out=2):
            yield {"fraction": 0.0, "stage": f"{told:,} stories told"}
    reached = None
    for reached in ceiling(Store(place / "held"), pieces, Mix(0.9 - keep, 0.1, keep), count=count):
        yield {"fraction": reached.pairs / count, "stage": "Asking the best possible predictor", **asdict(reached)}
    if reached:
        (folder / "bound.json").write_text(json.dumps(asdict(reached) | {"keep": keep}, indent=2) + "\n",
                                           encoding="utf-8")


def distinct() -> dict[str, int]:
    """The number of different sentences of each kind, counted by writing all of them."""
    counts = {}
    for name, write in KINDS.items():
        found: set[int] = set()
        for place in PLACES:
            found.update(hash(way.words) for way in derivations(write, {"place": place.name}, PRIORS, None))
        counts[name] = len(found)
    return counts | {"together": sum(counts.values())}
