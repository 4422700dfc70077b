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

from .. import checkpoint, curve, files
from ..bert import About
from ..errors import InputProblem
from . import distributed, resume
from .history import History
from .mixture import Corpus
from .objective import Objective, Scores, Task, evaluate, evaluate_singles
from .sentence_pairs import holds_pairs
from .settings import Recipe

# torch compiles a product in bfloat16 for its shape, and nearly every batch brings new ones: with room for all of them
# (1,024 by default) a small model learns a fifth sooner. Read when the first such product is made
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "16384")


# of glibc's malloc: from which size on memory comes from the system, how much is kept, how much is taken at a time
HELD = {-3: 1 << 30, -1: (1 << 31) - 1, -2: 1 << 28}
STATE, PLATEAU = "training.safetensors", "plateau.safetensors"


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
    plateau.safetensors     the same at the end of a constant rate, before its decay: a longer run goes on from here
    corpus/                 the texts as ids; may be deleted afterwards
    history.csv, .html      the course of the run
    snapshots/0000016/ ...  the model after so many steps
    """

    def __init__(self, folder: Path, recipe: Recipe, ids: list[Path], names: list[str]):
        hold_memory()
        self.folder, self.recipe = folder, recipe
        self.bert = checkpoint.load(folder / "begin").to(distributed.device()).train().requires_grad_(True)
        if self.bert.config.position_embedding_type == "sinusoidal":
            self.bert.embeddings.position.requires_grad_(False)
        weights = recipe.weights or (1.0,)
        self.corpora = [Corpus.open(path, name, weight, self.bert.tokenizer)
                        for path, name, weight in zip(ids, names, weights, strict=True)]
        tokens = [corpus.train.tokens + corpus.train_single.tokens for corpus in self.corpora]
        if distributed.agreed(tokens) != tokens:
            raise InputProblem("The machines do not read the same texts: each needs a copy of the same corpus.")
        learned = [parameter for parameter in self.bert.parameters() if parameter.requires_grad]
        # as in BERT's own optimizer, biases and normalisations do not decay
        self.optimizer = torch.optim.AdamW(
            [{"params": [p for p in learned if p.dim() > 1], "weight_decay": recipe.decay},
             {"params": [p for p in learned if p.dim() <= 1], "weight_decay": 0.0}], betas=(0.9, 0.98), fused=True)
        self.position = resume.restored(folder / STATE, self.bert, self.optimizer)
        self.plateau = distributed.agreed((folder / PLATEAU).is_file())
        self.history = History.read(folder / "history.csv", self.position.step)
        self.objective = distributed.shared(Objective(self.bert, recipe.sight))

    def learn(self, given: Task, rate: float) -> tuple[list[float | None], list[float | None]]:
        """One step: mean losses and accuracies of words and pairs, over all processes; None where there are no pairs."""
        given = given.to(distributed.device())
        counts = torch.tensor([len(given.words), len(given.labels)], dtype=torch.float32, device=given.words.device)
        counts = distributed.summed(counts)
        means = counts.clamp_min(1)
        with torch.autocast(distributed.device().type, torch.bfloat16, self.recipe.precision == "bfloat16"):
            losses, right = self.objective(given)
        # DDP takes the mean of the processes' gradients; the loss is the mean over what was chosen in all of them
        ((losses / means).sum() * distributed.size()).backward()
        nn.utils.clip_grad_norm_(self.bert.parameters(), self.recipe.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        sums = (distributed.summed(torch.stack([losses.detach(), right])) / means).tolist()
        means_of = [[value if count else None for value, count in zip(row, counts.tolist(), strict=True)] for row in sums]
        return means_of[0], means_of[1]

    @property
    def documents(self) -> int:
        """How many documents there are to learn from."""
        return sum(len(corpus.train) + len(corpus.train_single) for corpus in self.corpora)

    def held_out(self) -> dict[str, Scores]:
        """The scores on the held-out documents of each corpus that has enough of them: pairs by its name and, where the
        run reads single inputs, those as `NAME, singles`. The first process asks."""
        recipe, scores = self.recipe, {}
        if distributed.rank():
            return scores
        pairs = [c for c in self.corpora if holds_pairs(c.held, recipe.negatives) and recipe.singles < 1]
        for corpus in pairs:
            scores[corpus.name] = evaluate(self.bert, corpus.held, recipe.mix, recipe.length, recipe.negatives,
                                           max(1, recipe.held // len(pairs)), sight=recipe.sight)
        singles = [c for c in self.corpora if recipe.singles and c.held.tokens + c.held_single.tokens]
        for corpus in singles:
            scores[f"{corpus.name}, singles"] = evaluate_singles(
                self.bert, [corpus.held, corpus.held_single], recipe.mix, max(1, 2 * recipe.held // len(singles)),
                sight=recipe.sight)
        return scores

    def snapshot(self) -> str | None:
        """The model as it is now, kept, when one is due at this step."""
        if not self.recipe.snapshot_due(self.position.step):
            return None
        name = f"snapshots/{self.position.step:07d}"
        if distributed.rank() == 0:
            checkpoint.save(self.bert, self.folder / name, torch.float16)
        return name

    def write_down(self, row: dict) -> None:
        """Add a step to the history."""
        held = {f"held_{name}": value for name, value in (row["held"] or {}).items()}
        self.history.add(row | held)

    def save(self) -> None:
        """Keep everything that going on needs."""
        if distributed.rank() == 0:
            with resume.writing(self.folder / "history.csv") as made:
                self.history.write(made)
            resume.save(self.folder / STATE, self.position, self.bert, self.optimizer)

    def keep_plateau(self) -> None:
        """Keep the state before the decay, from which a longer run can go on."""
        if not self.plateau and distributed.rank() == 0:
            resume.save(self.folder / PLATEAU, self.position, self.bert, self.optimizer)
        self.plateau = True

    def finish(self) -> None:
        """Put the trained model into the folder, its description last, and clear away what only training needed."""
        if distributed.rank() == 0:
            with resume.writing(self.folder / "history.html") as made:
                largest = max((store for c in self.corpora for store in (c.train, c.train_single)), key=lambda s: s.tokens)
                made.write_text(curve.page(self.folder.name, self.history, curve.baseline(largest)),
                                encoding="utf-8")
            self.bert.about = About(self.folder.name, self._card())
            made = checkpoint.save(self.bert, self.folder / "finished")
            for file in sorted(made.iterdir(), key=lambda file: file.name == "config.json"):
                files.replace(file, self.folder / file.name)
            made.rmdir()
            # a run whose `begin` is gone has ended; only then may its state go
            (self.folder / "begin").rename(self.folder / "begun")
            shutil.rmtree(self.folder / "begun")
            (self.folder / STATE).unlink()
        distributed.wait()

    def _card(self) -> str:
        recipe, position, held = self.recipe, self.position, self.held_out()
        mix, config = recipe.mix, self.bert.config
        described = json.loads((self.folder / "recipe.json").read_text(encoding="utf-8"))
        lines = [
            f"# {self.folder.name}", "",
            f"A BERT of shape {config.shape} over {config.vocab_size:,} wordpieces, "
            + (f"trained on from {Path(recipe.init).name}" if recipe.init else "trained from random weights")
            + f": {position.step:,} steps, {position.tokens:,} wordpieces read in {position.elapsed / 60:.0f} minutes.",
            "", f"* learned from: {', '.join(described.get('learned_from', ['texts']))}; {self.documents:,} documents, "
            f"{sum(c.train.tokens + c.train_single.tokens for c in self.corpora):,} wordpieces",
            f"* masking: {mix.chosen:.0%} chosen, then {mix.mask:.0%} masked, {mix.random:.0%} random, "
            f"{mix.keep:.0%} kept{', whole words' if mix.whole_words else ''}; "
            f"NotNext spans from {'the same' if recipe.negatives == 'same' else 'another'} document",
            f"* AdamW, peak rate {recipe.rate:g}, batch {recipe.batch}, pairs up to {recipe.length} wordpieces, "
            f"dropout {recipe.dropout:g}, seed {recipe.seed}, products in {recipe.precision}"]
        if recipe.singles:
            lines.append(f"* {recipe.singles:.0%} of the steps read single inputs of one to three sentences, without NSP")
        if recipe.weights:
            lines.append("* weights: " + ", ".join(f"{c.name} × {c.weight:g}" for c in self.corpora))
        for name, scores in held.items():
            pairs = f", next sentence {scores.nsp_accuracy:.1%} right" if scores.pairs else ""
            lines.append(f"* held out of {name}: masked words {scores.mlm_accuracy:.1%} right (loss "
                         f"{scores.mlm_loss:.3f}){pairs}")
        return "\n".join(lines) + "\n"
