"""Numbers of the small world itself: its ceiling as a job, and how many different sentences it has."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..files import write_text
from ..pretraining.masking import MaskingStrategy
from ..pretraining.token_store import TokenStore, build
from . import stories, tokenizer
from .generator import derivations
from .grammar import KINDS
from .lexicon import PLACES
from .optimal import ceiling
from .phrases import PRIORS


def measure(
    folder: Path, seed: int = 1, count: int = 512, keep: float = 0.1, corpus: str | None = None
) -> Iterator[dict[str, Any]]:
    """The ceiling of new stories, or of a run's held-out ones, as a job: writes bound.json into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pieces, store = tokenizer(), Path(corpus) if corpus else folder / "corpus"
    if not corpus:
        sentences = ([sentence.text for sentence in story.sentences] for story in stories(seed, 2 * count))
        for stories_written in build(sentences, pieces, store, heldout_every=2):
            yield {"fraction": 0.0, "stage": f"{stories_written:,} stories written"}
    masking, best = MaskingStrategy(0.9 - keep, 0.1, keep), None
    for best in ceiling(TokenStore(store / "heldout"), pieces, masking, count=count):
        yield {"fraction": best.pairs / count, "stage": "Evaluating the best possible predictor", **asdict(best)}
    if best:
        write_text(folder / "bound.json", json.dumps(asdict(best) | {"keep": keep}, indent=2) + "\n")


def count_sentences(kind: str, place: str) -> int:
    """The number of different sentences of a kind at a place, counted by enumerating them."""
    return len({derivation.words for derivation in derivations(KINDS[kind], {"place": place}, PRIORS, None)})


def distinct() -> dict[str, int]:
    """The number of different sentences of each kind; those that name no place or thing are counted once."""
    counts = {}
    for kind, write in KINDS.items():
        hashes = {
            hash(derivation.words)
            for place in PLACES
            for derivation in derivations(write, {"place": place.name}, PRIORS, None)
        }
        counts[kind] = len(hashes)
    return counts | {"together": sum(counts.values())}


def ceiling_of(masking: MaskingStrategy) -> dict[str, float] | None:
    """The ceiling measured before for a strategy: that of the next larger `keep`, where the ceiling is higher."""
    measured = json.loads((Path(__file__).parent / "ceilings.json").read_text(encoding="utf-8"))
    at_least = [row for row in measured if row["keep"] >= masking.keep - 1e-9]
    if not at_least or masking.mlm_probability < MaskingStrategy().mlm_probability:  # fewer words hidden than measured
        return None
    return min(at_least, key=lambda row: row["keep"])
