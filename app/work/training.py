"""The Train page's job: plain settings in, plain numbers out, everything else in one folder."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from model import kernels, smallworld
from model.config import SIZES
from model.files import atomic_write, write_text
from model.pretraining import corpus
from model.pretraining.loop import PretrainingProgress, pretrain
from model.pretraining.masking import MaskingStrategy
from model.pretraining.settings import TrainingConfig
from model.smallworld import ceilings
from probes.training_replay import QUESTION

SMALL_WORLD = "small world"
TEXT, UNTRAINED = "corpus.txt", "untrained"
STORIES, SEED = 12_000, 1
# the greatest learning rate of each size at which short trials still learned
LEARNING_RATE = {"tiny": 1.2e-3, "mini": 1e-3, "small": 5e-4}
SNAPSHOTS = 4  # while the steps grow tenfold


def config(folder: Path, source: str, preset: str, minutes: float, length: int, masking: dict[str, Any]) -> TrainingConfig:
    """The settings behind the few that a class chooses."""
    _, _, heads = SIZES[preset]
    is_small_world = source == SMALL_WORLD
    return TrainingConfig(
        preset=preset,
        config={} if is_small_world else {"num_attention_heads": max(heads, 4)},
        mimetic_init=not is_small_world,
        init=str(folder / UNTRAINED) if is_small_world else None,
        masking=MaskingStrategy(**masking),
        max_length=min(length, smallworld.LONGEST) if is_small_world else length,
        batch_size=16,
        minutes=minutes,
        learning_rate=LEARNING_RATE[preset],
        snapshots=SNAPSHOTS,
        heldout_every=20,
        evaluations=30,
        eval_pairs=256,
        precision=kernels.fastest_precision(),
    )


def train(
    folder: Path, out: str, source: str, preset: str, minutes: float, length: int, masking: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Train into `out`, on the small world or on the text in `folder`; called again, it goes on."""
    run = Path(out)
    text, settings = folder / TEXT, config(folder, source, preset, minutes, length, masking)
    if source == SMALL_WORLD and not text.is_file():
        smallworld.untrained_model(preset=preset).save(folder / UNTRAINED)
        yield from _write_stories(text)
    heldout: dict[str, Any] = {}
    for progress in pretrain(text, run, settings, resume=True):
        if progress.heldout:
            scores = asdict(progress.heldout) | {"step": progress.step}
            heldout = {f"heldout_{name}": value for name, value in scores.items() if value is not None}
        if not (run / "question.txt").is_file():
            _write_replay_files(run, text, settings.masking if source == SMALL_WORLD else None)
        yield _to_json(progress) | heldout


def _write_stories(text: Path) -> Iterator[dict[str, Any]]:
    with atomic_write(text) as temporary, temporary.open("w", encoding="utf-8") as file:
        for number, document in enumerate(smallworld.documents(SEED, STORIES), 1):
            file.write(document + "\n\n")
            if number % 500 == 0:
                yield {"fraction": 0.0, "stage": f"{number:,} stories written"}


def _write_replay_files(run: Path, text: Path, masking: MaskingStrategy | None) -> None:
    """What the replay needs: a sentence with a [MASK] and, for the small world (which has a masking), the ceiling."""
    if masking and (ceiling := ceilings.ceiling_of(masking)):
        write_text(run / "bound.json", json.dumps(ceiling, indent=2) + "\n")
    write_text(run / "question.txt", (QUESTION if masking else _cloze_example(text)) + "\n")


def _cloze_example(text: Path) -> str:
    """The first sentence of 6 to 20 words, with its longest lower-case word masked."""
    sentences = (sentence.split() for document in corpus.documents([text]) for sentence in document)
    words = next((words for words in sentences if 6 <= len(words) <= 20), None)
    if words is None:
        return "The [MASK] is here."
    bare = [word.strip(".,;:!?'\"()") if word.islower() else "" for word in words]
    longest = max(range(len(words)), key=lambda index: len(bare[index]))
    words[longest] = words[longest].replace(bare[longest], "[MASK]") if bare[longest] else "[MASK]"
    return " ".join(words)


def _to_json(progress: PretrainingProgress) -> dict[str, Any]:
    """The numbers there are, the stage in words, and the stage's own name as `phase`."""
    stages = {
        "reading": f"{progress.documents:,} documents read",
        "vocabulary": "Learning a vocabulary",
        "training": f"Step {progress.step:,}",
        "done": "Done",
    }
    numbers = {
        name: value
        for name, value in asdict(progress).items()
        if name not in ("heldout", "heldout_by_corpus") and value is not None
    }
    return numbers | {"stage": stages.get(progress.stage, progress.stage), "phase": progress.stage}
