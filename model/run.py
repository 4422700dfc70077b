"""A training run between its steps: model, optimizer, position and history, and the files they are kept in."""

import contextlib
import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from torch import nn

from . import checkpoint, curve, resume, together
from .bert import About
from .history import History
from .objective import Objective, Scores, Task, evaluate
from .problem import InputProblem
from .recipe import Recipe
from .store import Store

# torch compiles a product in bfloat16 for its shape, and nearly every batch brings new ones: with room for all of them
# (1,024 by default) a small model learns a fifth sooner. Read when the first such product is made
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")


# of glibc's malloc: from which size on memory comes from the system, how much is kept, how much is taken at a time
HELD = {-3: 1 << 30, -1: (1 << 31) - 1, -2: 1 << 28}


def hold_memory() -> None:
    """Let glibc keep what one step frees for the next: to get it from the system again took a seventh of the time."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            for option, size in HELD.items():
                ctypes.CDLL("libc.so.6").mallopt(option, size)


def finished(folder: Path) -> bool:
    """Whether the run in a folder has come to its end."""
    return (folder / "config.json").is_file() and not (folder / "begin").is_dir()


class Run:
    """The run in a folder, as it begins or as it was last saved.

    begin/                  the model before the first step            } these two are gone
    training.safetensors    where the run is: weights, optimizer       } when the run has ended
    corpus/                 the texts as ids; may be deleted afterwards
    history.csv, .html      the course of the run
    snapshots/0000016/ ...  the model after so many steps
    """

    def __init__(self, folder: Path, recipe: Recipe, ids: Path):
        hold_memory()
        self.folder, self.recipe = folder, recipe
        self.bert = checkpoint.load(folder / "begin").to(together.device()).train().requires_grad_(True)
        if self.bert.config.position_embedding_type == "sinusoidal":
            self.bert.embeddings.position.requires_grad_(False)
        self.train, self.held = Store(ids / "train"), Store(ids / "held")
        for part in (self.train, self.held):
            part.check(self.bert.tokenizer)
        if together.agreed(self.train.tokens) != self.train.tokens:
            raise InputProblem("The machines do not read the same texts: each needs a copy of the same corpus.")
        learned = [parameter for parameter in self.bert.parameters() if parameter.requires_grad]
        # as in BERT's own optimizer, biases and normalisations do not decay
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in learned if p.dim() > 1], "weight_decay": recipe.decay},
             {"params": [p for p in learned if p.dim() <= 1], "weight_decay": 0.0}], betas=(0.9, 0.98), fused=True)
        self.position = resume.restored(folder / "training.safetensors", self.bert, self.optimizer)
        self.history = History.read(folder / "history.csv", self.position.step)
        self.objective = together.shared(Objective(self.bert, recipe.sight))

    def learn(self, given: Task, rate: float) -> tuple[list[float], list[float]]:
        """One step: mean losses and accuracies of words and pairs, over all processes."""
        given = given.to(together.device())
        counts = torch.tensor([len(given.words), len(given.labels)], dtype=torch.float32, device=given.words.device)
        counts = together.summed(counts)
        with torch.autocast(together.device().type, torch.bfloat16, self.recipe.precision == "bfloat16"):
            losses, right = self.objective(given)
        # DDP takes the mean of the processes' gradients; the loss is the mean over what was chosen in all of them
        ((losses / counts).sum() * together.size()).backward()
        nn.utils.clip_grad_norm_(self.bert.parameters(), self.recipe.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        told = together.summed(torch.stack([losses.detach(), right])) / counts
        return told[0].tolist(), told[1].tolist()

    def asked(self) -> Scores | None:
        """What the model says about the held-out documents, where there are enough; the first process asks."""
        if together.rank() or len(self.held) < (2 if self.recipe.negatives == "another" else 1):
            return None
        return evaluate(self.bert, self.held, self.recipe.mix, self.recipe.length, self.recipe.negatives,
                        self.recipe.held, sight=self.recipe.sight)

    def snapshot(self) -> str | None:
        """The model as it is now, kept, when one is due at this step."""
        if not self.recipe.snapshot_due(self.position.step):
            return None
        name = f"snapshots/{self.position.step:07d}"
        if together.rank() == 0:
            checkpoint.save(self.bert, self.folder / name, torch.float16)
        return name

    def write_down(self, row: dict) -> None:
        """Add a step to the history."""
        held = {f"held_{name}": value for name, value in (row["held"] or {}).items()}
        self.history.add(row | held)

    def save(self) -> None:
        """Keep everything that going on needs."""
        if together.rank() == 0:
            with resume.writing(self.folder / "history.csv") as made:
                self.history.write(made)
            resume.save(self.folder / "training.safetensors", self.position, self.bert, self.optimizer)

    def finish(self) -> None:
        """Put the trained model into the folder, its description last, and clear away what only training needed."""
        if together.rank() == 0:
            with resume.writing(self.folder / "history.html") as made:
                made.write_text(curve.page(self.folder.name, self.history, curve.baseline(self.train)),
                                encoding="utf-8")
            self.bert.about = About(self.folder.name, self._card())
            made = checkpoint.save(self.bert, self.folder / "finished")
            for file in sorted(made.iterdir(), key=lambda file: file.name == "config.json"):
                file.replace(self.folder / file.name)
            made.rmdir()
            # a run whose `begin` is gone has ended; only then may its state go
            (self.folder / "begin").rename(self.folder / "begun")
            shutil.rmtree(self.folder / "begun")
            (self.folder / "training.safetensors").unlink()
        together.wait()

    def _card(self) -> str:
        recipe, position, scores = self.recipe, self.position, self.asked()
        mix, config = recipe.mix, self.bert.config
        described = json.loads((self.folder / "recipe.json").read_text(encoding="utf-8"))
        lines = [
            f"# {self.folder.name}", "",
            f"A BERT of shape {config.shape} over {config.vocab_size:,} wordpieces, "
            + (f"trained on from {Path(recipe.init).name}" if recipe.init else "trained from random weights")
            + f": {position.step:,} steps, {position.tokens:,} wordpieces read in {position.elapsed / 60:.0f} minutes.",
            "", f"* learned from: {', '.join(described.get('learned_from', ['texts']))}; {len(self.train):,} documents, "
            f"{self.train.tokens:,} wordpieces",
            f"* masking: {mix.chosen:.0%} chosen, then {mix.mask:.0%} masked, {mix.random:.0%} random, "
            f"{mix.keep:.0%} kept{', whole words' if mix.whole_words else ''}; "
            f"NotNext spans from {'the same' if recipe.negatives == 'same' else 'another'} document",
            f"* AdamW, peak rate {recipe.rate:g}, batch {recipe.batch}, pairs up to {recipe.length} wordpieces, "
            f"dropout {recipe.dropout:g}, seed {recipe.seed}, products in {recipe.precision}"]
        if scores:
            lines.append(f"* {len(self.held):,} documents held out, {scores.pairs:,} pairs of them: masked words "
                         f"{scores.mlm_accuracy:.1%} right (loss {scores.mlm_loss:.3f}), next sentence "
                         f"{scores.nsp_accuracy:.1%} right")
        return "\n".join(lines) + "\n"
