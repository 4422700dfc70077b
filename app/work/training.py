"""A training run as the Train page orders it: plain settings in, plain numbers out, everything else in one folder."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from model import smallworld
from model.config import SIZES
from model.pretraining import corpus
from model.pretraining.loop import Progress, pretrain
from model.pretraining.masking import Mix
from model.pretraining.settings import Recipe, quickest
from model.smallworld import ceilings
from probes.training_replay import QUESTION

SMALL_WORLD = "small world"
TEXT, UNTRAINED = "corpus.txt", "untrained"
STORIES, SEED = 12_000, 1
# the greatest learning rate of each size, found by short trials
RATE = {"tiny": 1.2e-3, "mini": 1e-3, "small": 5e-4}
SNAPSHOTS = 4  # while the steps grow tenfold


def recipe(folder: Path, source: str, preset: str, minutes: float, length: int, mix: dict[str, Any]) -> Recipe:
    """The settings behind the few that a class chooses."""
    _, _, heads = SIZES[preset]
    world = source == SMALL_WORLD
    shape = {} if world else {"num_attention_heads": max(heads, 4)}
    return Recipe(preset=preset, config=shape, quick=not world, init=str(folder / UNTRAINED) if world else None,
                  mix=Mix(**mix), length=min(length, smallworld.LONGEST) if world else length, batch=16, minutes=minutes,
                  rate=RATE[preset], snapshots=SNAPSHOTS, hold_out=20, evaluations=30, held=256, precision=quickest())


def learn(folder: Path, out: str, source: str, preset: str, minutes: float, length: int, mix: dict[str, Any]
          ) -> Iterator[dict[str, Any]]:
    """Train into `out`, on the small world or on the text that stands in `folder`; run again, it goes on."""
    run = Path(out)
    text, settings = folder / TEXT, recipe(folder, source, preset, minutes, length, mix)
    if source == SMALL_WORLD and not text.is_file():
        smallworld.untrained(preset=preset).save(folder / UNTRAINED)
        yield from _stories(text)
    held: dict[str, Any] = {}
    for progress in pretrain(text, run, settings, again=True):
        if progress.held:
            held = {f"held_{name}": value for name, value in asdict(progress.held).items()} | {
                "held_step": progress.step}
        if not (run / "question.txt").is_file():
            _note(run, text, settings.mix if source == SMALL_WORLD else None)
        yield _said(progress) | held


def _stories(text: Path) -> Iterator[dict[str, Any]]:
    made = text.with_suffix(".new")
    with made.open("w", encoding="utf-8") as file:
        for number, document in enumerate(smallworld.documents(SEED, STORIES), 1):
            file.write(document + "\n\n")
            if number % 500 == 0:
                yield {"fraction": 0.0, "stage": f"{number:,} stories told"}
    made.replace(text)


def _note(run: Path, text: Path, mix: Mix | None) -> None:
    """Leave with the run what its replay needs: a sentence to ask it about and, for the small world, the ceiling."""
    if mix and (found := ceilings.ceiling_of(mix)):
        (run / "bound.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    (run / "question.txt").write_text((QUESTION if mix else _question(text)) + "\n", encoding="utf-8")


def _question(text: Path) -> str:
    """The first sentence of middling length, with its longest ordinary word hidden."""
    sentences = (sentence.split() for document in corpus.documents([text]) for sentence in document)
    words = next((words for words in sentences if 6 <= len(words) <= 20), None)
    if words is None:
        return "The [MASK] is here."
    bare = [word.strip(".,;:!?'\"()") if word.islower() else "" for word in words]
    hidden = max(range(len(words)), key=lambda place: len(bare[place]))
    words[hidden] = words[hidden].replace(bare[hidden], "[MASK]") if bare[hidden] else "[MASK]"
    return " ".join(words)


def _said(progress: Progress) -> dict[str, Any]:
    words = {"reading": f"{progress.documents:,} documents read", "vocabulary": "Learning a vocabulary",
             "training": f"Step {progress.step:,}", "done": "Done"}
    said = {name: value for name, value in asdict(progress).items()
            if name not in ("held", "held_by_corpus") and value is not None}
    return said | {"stage": words.get(progress.stage, progress.stage), "phase": progress.stage}
