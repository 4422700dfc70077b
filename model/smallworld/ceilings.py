"""Figures of the small world itself: its ceiling as a job, and how many different sentences it has."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..pretraining.masking import Mix
from ..pretraining.token_store import Store, build
from . import stories, tokenizer
from .generator import derivations
from .grammar import KINDS
from .lexicon import PLACES
from .optimal import ceiling
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


def variety(kind: str, place: str) -> int:
    """The number of different sentences of a kind at a place, counted by writing all of them."""
    return len({way.words for way in derivations(KINDS[kind], {"place": place}, PRIORS, None)})


def distinct() -> dict[str, int]:
    """The number of different sentences of each kind; those that name no place or thing are counted once."""
    counts = {}
    for kind, write in KINDS.items():
        found = {hash(way.words) for place in PLACES
                 for way in derivations(write, {"place": place.name}, PRIORS, None)}
        counts[kind] = len(found)
    return counts | {"together": sum(counts.values())}


def ceiling_of(mix: Mix) -> dict[str, float] | None:
    """The ceiling measured before for a mix: for the kept share next above its own, where the ceiling is higher."""
    listed = json.loads((Path(__file__).parent / "ceilings.json").read_text(encoding="utf-8"))
    higher = [one for one in listed if one["keep"] >= mix.keep - 1e-9]
    # a share of chosen words other than the one measured hides more or fewer words
    return min(higher, key=lambda one: one["keep"]) if higher and mix.chosen >= Mix().chosen else None
