"""Pre-training as a generator: `for progress in pretrain(texts, folder, config)` serves terminal, page and test."""

import time
from collections import deque
from collections.abc import Generator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from ..files import explain_full_disk
from ..progress import Clock
from . import corpus, distributed, preparation
from .evaluation import PretrainingScores, mean_scores
from .mixture import Mixture
from .objective import pretraining_batch
from .run_folder import TrainingRun, finished
from .settings import TrainingConfig
from .single_inputs import LENGTHS, SingleInput

SAVE_SECONDS = 240.0


@dataclass(frozen=True)
class PretrainingProgress:
    """Where a run is; `asdict` of it is plain numbers and words.

    stage is reading, vocabulary, training or done. Losses and accuracies are those of the step, on training data; those
    of NSP are None on steps of single inputs. `heldout` is there on the steps after which the held-out documents were
    evaluated, over all of them, and `heldout_by_corpus` for each; `snapshot` (inside `out`) where one was written.
    """

    stage: str
    fraction: float = 0.0
    step: int = 0
    tokens: int = 0
    documents: int = 0
    seconds: float = 0.0
    eta: float | None = None
    learning_rate: float = 0.0
    tokens_per_second: float = 0.0
    mlm_loss: float | None = None
    nsp_loss: float | None = None
    mlm_accuracy: float | None = None
    nsp_accuracy: float | None = None
    heldout: PretrainingScores | None = None
    heldout_by_corpus: dict[str, PretrainingScores] = field(default_factory=dict)
    snapshot: str | None = None


def pretrain(
    documents: corpus.Source | None,
    out: str | Path,
    config: TrainingConfig | None = None,
    resume: bool = False,
    save_seconds: float = SAVE_SECONDS,
    keep_apart: corpus.Source = (),
) -> Generator[PretrainingProgress]:
    """Train a BERT on documents and leave it in the folder `out`, a checkpoint that `model.load` reads.

    `documents` is a file, a folder, a list of paths, a list of texts or of lists of sentences, or a folder of ids that an
    earlier run left. Where the config has weights, it is a list of as many of these, a corpus each. `keep_apart` are
    documents that training must not see, beside those held out, where the config keeps them apart. `resume` goes on with
    the run that broke off in `out`, or begins it; config and documents may then be left out. A run of constant learning
    rate goes on for as long as a config says that differs in nothing else. Closing the generator saves first.
    Devlin et al. (2019), 3.1.
    """
    folder = Path(out)
    if not isinstance(documents, str | Path | None) and len(documents) == 1 and isinstance(documents[0], Path):
        documents = documents[0]
    run_config = preparation.agree_on_config(documents, folder, config, resume)
    if distributed.broadcast_object(finished(folder)):
        yield PretrainingProgress("done", fraction=1.0)
        return
    if run_config.training.threads:
        torch.set_num_threads(run_config.training.threads)
    corpora = preparation.corpora(documents, folder, run_config)
    with explain_full_disk(folder):
        for stage, count in preparation.prepare(corpora, folder, run_config.training, keep_apart):
            yield PretrainingProgress(stage, documents=count)
        run = TrainingRun(folder, run_config, [(source.name, source.folder) for source in corpora])
        yield from _train(run, save_seconds)


def _train(run: TrainingRun, save_seconds: float) -> Generator[PretrainingProgress]:
    """Optimise until the budget is spent; data, masking and dropout of a step follow from (seed, step) alone."""
    config, state = run.config, run.state
    rank_rows = slice(distributed.rank(), None, distributed.world_size())
    last_save, started = time.monotonic(), time.monotonic() - state.seconds
    recent, clock = deque([(state.seconds, state.tokens)], maxlen=50), Clock(lambda: state.seconds)
    progress = PretrainingProgress(
        stage="training",
        fraction=config.fraction_done(state.step, state.seconds),
        step=state.step,
        tokens=state.tokens,
        documents=run.documents,
        seconds=state.seconds,
    )
    if state.step == 0:
        heldout = run.evaluate_heldout()
        progress = replace(
            progress,
            heldout=mean_scores(heldout.values()),
            heldout_by_corpus=heldout,
            snapshot=run.snapshot_if_due(),
        )
        run.log(asdict(progress))
        yield progress
    clock.eta(progress.fraction)  # what is done already took its time in another process
    mixture = Mixture(run.corpora, config.max_length, config.batch_size, config.negatives, config.singles, config.seed)
    for inputs in mixture.batches(first=state.step):
        if progress.fraction >= 1:
            break
        if config.decays(state.step, state.seconds):
            run.keep_plateau()
        learning_rate = config.learning_rate_at(state.step, state.seconds)
        rng = np.random.default_rng([config.seed, 3, state.step])
        with torch.random.fork_rng():
            torch.manual_seed(config.seed + state.step * distributed.world_size() + distributed.rank())  # dropout
            lengths = _padded_lengths(config, single=isinstance(inputs[0], SingleInput))
            batch = pretraining_batch(inputs, run.bert.tokenizer, config.masking, rng, rank_rows, lengths)
            scores = run.train_step(batch, learning_rate)
        state.step += 1
        state.tokens += sum(map(len, inputs))
        state.seconds = distributed.broadcast_object(time.monotonic() - started)
        recent.append((state.seconds, state.tokens))
        fraction = config.fraction_done(state.step, state.seconds)
        evaluate = fraction >= 1 or int(fraction * config.evaluations) > int(progress.fraction * config.evaluations)
        heldout = run.evaluate_heldout() if evaluate else {}
        progress = PretrainingProgress(
            stage="training",
            fraction=fraction,
            step=state.step,
            tokens=state.tokens,
            documents=run.documents,
            seconds=state.seconds,
            eta=clock.eta(fraction),
            learning_rate=learning_rate,
            tokens_per_second=_speed(recent),
            mlm_loss=scores.mlm_loss,
            nsp_loss=scores.nsp_loss,
            mlm_accuracy=scores.mlm_accuracy,
            nsp_accuracy=scores.nsp_accuracy,
            heldout=mean_scores(heldout.values()),
            heldout_by_corpus=heldout,
            snapshot=run.snapshot_if_due(),
        )
        run.log(asdict(progress))
        if time.monotonic() - last_save >= save_seconds:
            run.save()
            last_save = time.monotonic()
        try:
            yield progress
        except GeneratorExit:
            run.save()
            raise
    run.save()
    if config.schedule == "constant":
        run.keep_plateau()
    run.finish()
    yield replace(progress, stage="done")


def _padded_lengths(config: TrainingConfig, single: bool) -> tuple[int, ...]:
    """The few lengths that inputs are padded to in bfloat16, because torch compiles a product for each shape there."""
    if config.precision == "float32":
        return ()
    return LENGTHS if single else (*(config.max_length * eighths // 8 for eighths in range(1, 9)), config.max_length)


def _speed(recent: deque[tuple[float, int]]) -> float:
    """Wordpieces a second over the last steps, padding not counted."""
    (first_seconds, first_tokens), (seconds, tokens) = recent[0], recent[-1]
    return (tokens - first_tokens) / max(1e-9, seconds - first_seconds)
