"""A training run between its steps: model, optimizer, state and history, and the files that hold them."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .. import checkpoint, files, kernels
from ..bert import ModelInfo
from ..errors import InputError
from ..files import atomic_write
from . import distributed, resume
from .card import card
from .evaluation import PretrainingScores, evaluate, evaluate_singles
from .history import TrainingHistory
from .mixture import Corpus
from .objective import PretrainingBatch, PretrainingLoss
from .sentence_pairs import holds_pairs
from .settings import RunConfig

kernels.cache_primitives()
CONFIG, STATE, PLATEAU = "training_config.json", "training.safetensors", "plateau.safetensors"


def finished(folder: Path) -> bool:
    """Whether the run in a folder has come to its end."""
    return (folder / "config.json").is_file() and not (folder / "begin").is_dir()


class TrainingRun:
    """The run in a folder, as it begins or as it was last saved.

    training_config.json    the settings, and what the run learns from
    begin/                  the model before the first step            } these two are gone
    training.safetensors    the state: weights, optimizer, step        } when the run has ended
    plateau.safetensors     the same at the end of a constant rate, before its decay: a longer run goes on from here
    corpus/                 the texts as ids; may be deleted afterwards
    history.csv             losses and accuracies over the steps
    snapshots/0000016/ ...  the model after so many steps
    """

    def __init__(self, folder: Path, run_config: RunConfig, stores: Sequence[tuple[str, Path]]):
        kernels.keep_freed_memory()
        self.folder, self.run_config, self.config = folder, run_config, run_config.training
        self.bert = checkpoint.load(folder / "begin").to(distributed.device()).train().requires_grad_(True)
        if self.bert.config.position_embedding_type == "sinusoidal":
            self.bert.embeddings.position.requires_grad_(False)
        weights = self.config.weights or (1.0,)
        self.corpora = [
            Corpus.open(path, name, weight, self.bert.tokenizer)
            for (name, path), weight in zip(stores, weights, strict=True)
        ]
        tokens = [corpus.train.tokens + corpus.train_single.tokens for corpus in self.corpora]
        if distributed.broadcast_object(tokens) != tokens:
            raise InputError("The machines do not read the same texts: each needs a copy of the same corpus.")
        trainable = [parameter for parameter in self.bert.parameters() if parameter.requires_grad]
        # as in BERT's own optimizer, biases and normalisations do not decay
        self.optimizer = torch.optim.AdamW(
            [
                {"params": [p for p in trainable if p.dim() > 1], "weight_decay": self.config.weight_decay},
                {"params": [p for p in trainable if p.dim() <= 1], "weight_decay": 0.0},
            ],
            betas=(0.9, 0.98),
            fused=True,
        )
        self.state = resume.restore(folder / STATE, self.bert, self.optimizer)
        self.plateau = distributed.broadcast_object((folder / PLATEAU).is_file())
        self.history = TrainingHistory.read(folder / "history.csv", self.state.step)
        self.objective = distributed.wrap_ddp(PretrainingLoss(self.bert, self.config.direction))

    def train_step(self, batch: PretrainingBatch, learning_rate: float) -> PretrainingScores:
        """One step of AdamW; mean losses and accuracies over the words and pairs of all processes."""
        device = distributed.device()
        batch = batch.to(device)
        counts = torch.tensor([len(batch.mlm_labels), len(batch.nsp_labels)], dtype=torch.float32, device=device)
        counts = distributed.all_reduce(counts)
        divisors = counts.clamp_min(1)  # a batch of single inputs has no pairs
        with torch.autocast(device.type, torch.bfloat16, self.config.precision == "bfloat16"):
            losses, correct = self.objective(batch)
        # DDP takes the mean of the processes' gradients; the loss is the mean over what was selected in all of them
        ((losses / divisors).sum() * distributed.world_size()).backward()
        nn.utils.clip_grad_norm_(self.bert.parameters(), self.config.max_grad_norm)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        means = distributed.all_reduce(torch.stack([losses.detach(), correct])) / divisors  # (loss and accuracy, 2)
        (mlm_loss, nsp_loss), (mlm_accuracy, nsp_accuracy) = means.tolist()
        words, pairs = map(int, counts.tolist())
        return PretrainingScores(
            mlm_loss=mlm_loss,
            mlm_accuracy=mlm_accuracy,
            nsp_loss=nsp_loss if pairs else None,
            nsp_accuracy=nsp_accuracy if pairs else None,
            words=words,
            pairs=pairs,
        )

    @property
    def documents(self) -> int:
        """How many documents there are to learn from."""
        return sum(len(corpus.train) + len(corpus.train_single) for corpus in self.corpora)

    def evaluate_heldout(self) -> dict[str, PretrainingScores]:
        """Scores on the held-out documents of each corpus that has enough of them: pairs by its name and, where the run
        reads single inputs, those as `NAME, singles`; in the first process, {} in the others."""
        config, scores = self.config, {}
        if distributed.rank():
            return scores
        with_pairs = [c for c in self.corpora if holds_pairs(c.heldout, config.negatives) and config.singles < 1]
        for corpus in with_pairs:
            scores[corpus.name] = evaluate(
                self.bert,
                corpus.heldout,
                config.masking,
                config.max_length,
                config.negatives,
                count=max(1, config.eval_pairs // len(with_pairs)),
                direction=config.direction,
            )
        with_singles = [c for c in self.corpora if config.singles and c.heldout.tokens + c.heldout_single.tokens]
        for corpus in with_singles:
            scores[f"{corpus.name}, singles"] = evaluate_singles(
                self.bert,
                [corpus.heldout, corpus.heldout_single],
                config.masking,
                count=max(1, 2 * config.eval_pairs // len(with_singles)),
                direction=config.direction,
            )
        return scores

    def snapshot_if_due(self) -> str | None:
        """Save the model as it is, when a snapshot belongs to this step; its folder inside the run."""
        if not self.config.snapshot_due(self.state.step):
            return None
        name = f"snapshots/{self.state.step:07d}"
        if distributed.rank() == 0:
            checkpoint.save(self.bert, self.folder / name, torch.float16)
        return name

    def log(self, row: dict[str, Any]) -> None:
        """Add a step to the history."""
        heldout = {f"heldout_{name}": value for name, value in (row["heldout"] or {}).items()}
        self.history.add(row | heldout)

    def save(self) -> None:
        """Write everything that going on needs."""
        if distributed.rank() == 0:
            with atomic_write(self.folder / "history.csv") as temporary:
                self.history.write(temporary)
            resume.save(self.folder / STATE, self.state, self.bert, self.optimizer)

    def keep_plateau(self) -> None:
        """Write the state before the decay, from which a longer run can go on; once."""
        if not self.plateau and distributed.rank() == 0:
            resume.save(self.folder / PLATEAU, self.state, self.bert, self.optimizer)
        self.plateau = True

    def finish(self) -> None:
        """Put the trained model into the folder, its config last, and clear away what only training needed."""
        if distributed.rank() == 0:
            scores = self.evaluate_heldout()
            text = card(self.folder.name, self.run_config, self.state, self.bert.config, self.corpora, scores)
            self.bert.info = ModelInfo(self.folder.name, text)
            complete = checkpoint.save(self.bert, self.folder / "finished")
            for file in sorted(complete.iterdir(), key=lambda file: file.name == "config.json"):
                files.replace(file, self.folder / file.name)
            complete.rmdir()
            # a run whose `begin` is gone has ended; only then may its state go
            (self.folder / "begin").rename(self.folder / "begun")
            shutil.rmtree(self.folder / "begun")
            (self.folder / STATE).unlink()
        distributed.barrier()
