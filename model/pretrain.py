"""Pre-training as a generator: `for progress in pretrain(texts, folder, recipe)` serves terminal, page and test."""

import shutil
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from . import checkpoint, corpus, resume, store, together, tokenizer
from .bert import About, Bert
from .history import History
from .objective import Objective, Scores, Task, evaluate, task
from .pairs import Pairs, batches
from .problem import InputProblem
from .recipe import Recipe
from .store import Store
from .tokenizer import WordPiece

SAVE_SECONDS = 240.0
VOCABULARY_TEXT = 200_000_000  # characters that a vocabulary is learned from


@dataclass(frozen=True)
class Progress:
    """Where a run is; `asdict` of it is plain numbers and words.

    stage is reading, training, done or stopped. Losses and accuracies are those of the step on training data;
    `held` is there on the steps after which the held-out documents were asked, `snapshot` where one was kept.
    """

    stage: str
    fraction: float = 0.0
    step: int = 0
    tokens: int = 0
    documents: int = 0
    seconds: float = 0.0
    eta: float | None = None
    rate: float = 0.0
    tokens_per_second: float = 0.0
    mlm_loss: float | None = None
    nsp_loss: float | None = None
    mlm_accuracy: float | None = None
    nsp_accuracy: float | None = None
    held: Scores | None = None
    snapshot: str | None = None


def pretrain(documents: corpus.Source | None, out: str | Path, recipe: Recipe | None = None, again: bool = False,
             save_seconds: float = SAVE_SECONDS) -> Iterator[Progress]:
    """Train a BERT on documents and leave it in the folder `out`, a checkpoint that `model.load` reads.

    `documents` is a file, a folder, a list of paths, a list of texts or of lists of sentences, or a folder that an
    earlier run cut into ids. `again` goes on with the run that broke off in `out`, or begins it; recipe and documents
    may then be left out. Closing the generator saves first. Devlin et al. (2019), 3.1.
    """
    folder = Path(out)
    recipe = _settled(folder, recipe, again)
    if finished(folder):
        yield Progress("done", 1.0)
        return
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    cut_before = isinstance(documents, str | Path) and store.complete(Path(documents))
    ids = Path(documents) if cut_before else folder / "corpus"
    with resume.reporting_full_disk(folder):
        yield from _prepared(documents, folder, ids, recipe)
        yield from _trained(_Run(folder, recipe, ids), save_seconds)


def finished(folder: Path) -> bool:
    """Whether the run in a folder has come to its end."""
    return (folder / "config.json").is_file() and not (folder / "begin").is_dir()


def _settled(folder: Path, recipe: Recipe | None, again: bool) -> Recipe:
    """The recipe of the run in this folder: the one written there, which a given one must agree with."""
    written = folder / "recipe.json"
    if not written.is_file():
        if recipe is None:
            raise InputProblem(f"There is no run in {folder} to go on with.")
        if folder.exists() and any(folder.iterdir()):
            raise InputProblem(f"{folder} holds other things already; name a new folder to train into.")
        if together.rank() == 0:
            folder.mkdir(parents=True, exist_ok=True)
            with resume.reporting_full_disk(folder), resume.writing(written) as made:
                recipe.write(made)
        together.wait()
        return recipe
    if not again:
        raise InputProblem(f"{folder} holds a run already; resume it, or name another folder.")
    there = Recipe.read(written)
    if recipe is not None and recipe != there:
        raise InputProblem(f"The run in {folder} was begun with other settings; resume it without naming any, or "
                           "name another folder.")
    return there


def _prepared(documents: corpus.Source | None, folder: Path, ids: Path, recipe: Recipe) -> Iterator[Progress]:
    """The model as it begins, in `begin`, and the documents as ids."""
    begin = folder / "begin"
    if together.first_here() and not begin.is_dir():
        yield Progress("reading")
        checkpoint.save(_beginning(_need(documents, folder), recipe), begin)
    together.wait()
    if together.first_here() and not store.complete(ids):
        bert = checkpoint.load(begin)
        texts = _need(documents, folder)
        for count in store.build(corpus.documents(texts), bert.tokenizer, ids, recipe.hold_out):
            yield Progress("reading", documents=count)
    together.wait()


def _need(documents: corpus.Source | None, folder: Path) -> corpus.Source:
    if documents is None:
        raise InputProblem(f"The run in {folder} broke off before its texts were read: name them again.")
    return documents


def _beginning(documents: corpus.Source, recipe: Recipe) -> Bert:
    """The model before the first step: a checkpoint with both heads, or random weights over a vocabulary."""
    if recipe.init:
        bert = checkpoint.load(recipe.init)
        fresh = Bert.random(bert.config, bert.tokenizer, recipe.seed)
        bert.mlm, bert.nsp = bert.mlm or fresh.mlm, bert.nsp or fresh.nsp
        dropout = {"hidden_dropout_prob": recipe.dropout, "attention_probs_dropout_prob": recipe.dropout}
        bert.config = replace(bert.config, **dropout)
    else:
        pieces = checkpoint.load(recipe.tokenizer).tokenizer if recipe.tokenizer else _vocabulary(documents, recipe)
        bert = Bert.random(recipe.shape(pieces.size), pieces, recipe.seed)
    bert.about = About()
    if recipe.length > bert.config.max_position_embeddings:
        raise InputProblem(f"This model reads at most {bert.config.max_position_embeddings} wordpieces at once.")
    return bert


def _vocabulary(documents: corpus.Source, recipe: Recipe) -> WordPiece:
    def texts():
        seen = 0
        for document in corpus.documents(documents):
            yield from document
            seen += sum(map(len, document))
            if seen > VOCABULARY_TEXT:
                return
    return tokenizer.train(texts(), recipe.vocabulary, limit=max(512, recipe.length))


class _Run:
    """A run between its steps: model, optimizer, position and history, and the files they are kept in."""

    def __init__(self, folder: Path, recipe: Recipe, ids: Path):
        self.folder, self.recipe = folder, recipe
        self.bert = checkpoint.load(folder / "begin").requires_grad_(True).to(together.device())
        self.train, self.held = Store(ids / "train"), Store(ids / "held")
        matrices = [p for p in self.bert.parameters() if p.dim() > 1]
        others = [p for p in self.bert.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": recipe.decay},
                                            {"params": others, "weight_decay": 0.0}], betas=(0.9, 0.98), fused=True)
        self.position = resume.Position()
        if (folder / "training.safetensors").is_file():
            self.position = resume.load(folder / "training.safetensors", self.bert, self.optimizer)
        self.history = History.read(folder / "history.csv", self.position.step)
        self.objective = together.shared(Objective(self.bert))

    def learn(self, given: Task, rate: float) -> tuple[list[float], list[float]]:
        """One step: mean losses and accuracies of words and pairs, over all processes."""
        counts = together.summed(torch.tensor([len(given.words), len(given.labels)], dtype=torch.float32))
        losses, right = self.objective(given)
        # gradients are averaged over the processes; the loss is the mean over everything chosen in all of them
        (losses / counts).sum().mul(together.size()).backward()
        nn.utils.clip_grad_norm_(self.bert.parameters(), self.recipe.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        told = together.summed(torch.stack([losses.detach(), right])) / counts
        return told[0].tolist(), told[1].tolist()

    def save(self) -> None:
        if together.rank() == 0:
            with resume.writing(self.folder / "history.csv") as made:
                self.history.write(made)
            resume.save(self.folder / "training.safetensors", self.position, self.bert, self.optimizer)

    def asked(self) -> Scores | None:
        """What the model says about the held-out documents, where there are any."""
        if len(self.held) < (2 if self.recipe.negatives == "another" else 1):
            return None
        return evaluate(self.bert, self.held, self.recipe.mix, self.recipe.length, self.recipe.negatives,
                        self.recipe.held)

    def snapshot(self) -> str | None:
        if not self.recipe.snapshot_due(self.position.step):
            return None
        name = f"snapshots/{self.position.step:07d}"
        if together.rank() == 0:
            checkpoint.save(self.bert, self.folder / name, torch.float16)
        return name

    def told(self, progress: Progress) -> Progress:
        """The same progress, written down."""
        held = {f"held_{name}": value for name, value in asdict(progress.held).items()} if progress.held else {}
        self.history.add(asdict(progress) | held)
        return progress

    def finish(self) -> None:
        """Put the trained model into the folder, its description last, and clear away what only training needed."""
        if together.rank() == 0:
            made = checkpoint.save(self.bert, self.folder / "finished")
            for file in sorted(made.iterdir(), key=lambda file: file.name == "config.json"):
                file.replace(self.folder / file.name)
            made.rmdir()
            with resume.writing(self.folder / "history.csv") as path:
                self.history.write(path)
            (self.folder / "begin").rename(self.folder / "begun")
            shutil.rmtree(self.folder / "begun")
            (self.folder / "training.safetensors").unlink()
        together.wait()


def _trained(run: _Run, save_seconds: float) -> Iterator[Progress]:
    recipe, position, bert = run.recipe, run.position, run.bert
    pairs = Pairs(run.train, recipe.length, recipe.negatives, recipe.seed)
    share = slice(together.rank(), None, together.size())
    began = time.monotonic() - position.elapsed
    saved, window = time.monotonic(), deque([(position.elapsed, position.tokens)], maxlen=50)
    bert.train()
    if position.step == 0:
        yield run.told(Progress("training", held=run.asked(), snapshot=run.snapshot()))
    for drawn in batches(pairs, recipe.batch, position.step):
        done = recipe.done(position.step, position.elapsed)
        if done >= 1:
            break
        rate = recipe.learning_rate(recipe.done(position.step + 0.5, position.elapsed) if recipe.steps else done)
        generator = np.random.default_rng([recipe.seed, 3, position.step])
        if recipe.dropout:
            torch.manual_seed(recipe.seed + position.step * together.size() + together.rank())
        losses, accuracies = run.learn(task(drawn, bert.tokenizer, recipe.mix, generator, share), rate)
        position.step += 1
        position.tokens += sum(map(len, drawn))
        position.elapsed = together.agreed(time.monotonic() - began)
        window.append((position.elapsed, position.tokens))
        now = recipe.done(position.step, position.elapsed)
        due = int(now * recipe.evaluations) > int(done * recipe.evaluations) or now >= 1
        speed = (window[-1][1] - window[0][1]) / max(1e-9, window[-1][0] - window[0][0])
        left = position.elapsed * (1 - now) / now if recipe.steps else 60 * (recipe.minutes or 0) - position.elapsed
        progress = Progress(
            "training", now, position.step, position.tokens, len(run.train), position.elapsed, max(0.0, left), rate,
            speed, losses[0], losses[1], accuracies[0], accuracies[1], run.asked() if due else None, run.snapshot())
        if time.monotonic() - saved >= save_seconds:
            run.save()
            saved = time.monotonic()
        try:
            yield run.told(progress)
        except GeneratorExit:
            run.save()
            raise
    run.save()
    run.finish()
    yield replace(progress, stage="done")
