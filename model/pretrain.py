"""Pre-training as a generator: `for progress in pretrain(texts, folder, recipe)` serves terminal, page and test."""

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from . import checkpoint, corpus, resume, store, together, tokenizer
from .bert import About, Bert
from .objective import Scores, task
from .pairs import Pairs, batches
from .problem import InputProblem, Problem
from .quickened import quickened
from .recipe import Recipe
from .run import Run, finished
from .tokenizer import WordPiece

SAVE_SECONDS = 240.0
VOCABULARY_TEXT = 200_000_000  # characters that a vocabulary is learned from


@dataclass(frozen=True)
class Progress:
    """Where a run is; `asdict` of it is plain numbers and words.

    stage is reading, vocabulary, training or done. Losses and accuracies are those of the step, on training data; `held`
    is there on the steps after which the held-out documents were asked, `snapshot` where one was kept (inside `out`).
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
    if isinstance(documents, Sequence) and len(documents) == 1 and isinstance(documents[0], Path):
        documents = documents[0]
    recipe = _agreed_recipe(documents, folder, recipe, again)
    if together.agreed(finished(folder)):
        yield Progress("done", 1.0)
        return
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    ids = _cut_before(documents) or folder / "corpus"
    with resume.reporting_full_disk(folder):
        yield from _prepared(documents, folder, ids, recipe)
        yield from _trained(Run(folder, recipe, ids), save_seconds)


def _agreed_recipe(documents: corpus.Source | None, folder: Path, recipe: Recipe | None, again: bool) -> Recipe:
    """The first process looks at the folder and decides for all."""
    settled: Recipe | Problem
    try:
        settled = _settled(documents, folder, recipe, again) if together.rank() == 0 else InputProblem()
    except Problem as problem:
        settled = problem
    settled = together.agreed(settled)
    if isinstance(settled, Problem):
        raise settled
    if settled.batch % together.size():
        raise InputProblem(f"A batch of {settled.batch} cannot be shared out to {together.size()} processes.")
    return settled


def _settled(documents: corpus.Source | None, folder: Path, recipe: Recipe | None, again: bool) -> Recipe:
    """The recipe of the run in this folder: the one written there, which a given one must agree with."""
    written = folder / "recipe.json"
    if not written.is_file():
        if recipe is None:
            raise InputProblem(f"There is no run in {folder} to go on with.")
        if folder.exists() and any(folder.iterdir()):
            raise InputProblem(f"{folder} holds other things already; name a new folder to train into.")
        ids = _cut_before(documents)
        learned_from = [str(ids.name)] if ids else corpus.described(_need(documents, folder))
        with resume.reporting_full_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with resume.writing(written) as made:
                recipe.write(made, learned_from=learned_from)
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
        bert = yield from _beginning(documents, folder, recipe)
        checkpoint.save(bert, begin)
    if together.first_here() and not store.complete(ids):
        texts, pieces = _need(documents, folder), tokenizer.read(begin)
        for count in store.build(corpus.documents(texts), pieces, ids, recipe.hold_out):
            yield Progress("reading", documents=count)
    together.wait()


def _cut_before(documents: corpus.Source | None) -> Path | None:
    """The folder of ids that the documents stand for, if they are one."""
    found = isinstance(documents, str | Path) and store.complete(Path(documents))
    return Path(documents) if found else None


def _need(documents: corpus.Source | None, folder: Path) -> corpus.Source:
    if documents is None:
        raise InputProblem(f"The texts of the run in {folder} are not all in it: name them again.")
    return documents


def _beginning(documents: corpus.Source | None, folder: Path, recipe: Recipe) -> Generator[Progress, None, Bert]:
    """The model before the first step: a checkpoint with both heads, or random weights over a vocabulary."""
    if recipe.init:
        bert = checkpoint.load(recipe.init)
        fresh = Bert.random(bert.config, bert.tokenizer, recipe.seed)
        bert.mlm, bert.nsp = bert.mlm or fresh.mlm, bert.nsp or fresh.nsp
        dropout = {"hidden_dropout_prob": recipe.dropout, "attention_probs_dropout_prob": recipe.dropout}
        bert.config = replace(bert.config, **dropout)
        bert.about = About()
    else:
        if recipe.tokenizer:
            pieces = checkpoint.load(recipe.tokenizer).tokenizer
        else:
            pieces = yield from _vocabulary(_need(documents, folder), recipe)
        bert = Bert.random(recipe.shape(pieces.size), pieces, recipe.seed)
        if recipe.quick:
            quickened(bert, recipe.seed)
    if recipe.length > bert.config.max_position_embeddings:
        raise InputProblem(f"This model reads at most {bert.config.max_position_embeddings} wordpieces at once.")
    return bert


def _vocabulary(documents: corpus.Source, recipe: Recipe) -> Generator[Progress, None, WordPiece]:
    """Learned from the beginning of the texts; read twice, so that the same texts give the same vocabulary."""
    def first() -> Iterator[list[str]]:
        seen = 0
        for document in corpus.documents(documents):
            yield document
            seen += sum(map(len, document))
            if seen > VOCABULARY_TEXT:
                return

    characters: set[str] = set()
    for count, document in enumerate(first(), 1):
        characters.update(*document)
        if count % 100 == 0:
            yield Progress("reading", documents=count)
    yield Progress("vocabulary")
    return tokenizer.train((text for document in first() for text in document), recipe.vocabulary,
                           characters=characters)


def _trained(run: Run, save_seconds: float) -> Iterator[Progress]:
    """Step after step until the recipe says it is over; every number drawn follows from the seed and the step."""
    recipe, position, pieces = run.recipe, run.position, run.bert.tokenizer
    share = slice(together.rank(), None, together.size())
    saved, began = time.monotonic(), time.monotonic() - position.elapsed
    window = deque([(position.elapsed, position.tokens)], maxlen=50)
    progress = Progress("training", recipe.done(position.step, position.elapsed), position.step, position.tokens,
                        len(run.train), position.elapsed)
    if position.step == 0:
        progress = replace(progress, held=run.asked(), snapshot=run.snapshot())
        run.write_down(asdict(progress))
        yield progress
    for drawn in batches(Pairs(run.train, recipe.length, recipe.negatives, recipe.seed), recipe.batch, position.step):
        before = progress.fraction
        if before >= 1:
            break
        rate = recipe.learning_rate(position.step, position.elapsed)
        generator = np.random.default_rng([recipe.seed, 3, position.step])
        torch.manual_seed(recipe.seed + position.step * together.size() + together.rank())  # for dropout
        losses, accuracies = run.learn(task(drawn, pieces, recipe.mix, generator, share), rate)
        position.step += 1
        position.tokens += sum(map(len, drawn))
        position.elapsed = together.agreed(time.monotonic() - began)
        window.append((position.elapsed, position.tokens))
        done = recipe.done(position.step, position.elapsed)
        due = int(done * recipe.evaluations) > int(before * recipe.evaluations) or done >= 1
        progress = Progress(
            "training", done, position.step, position.tokens, len(run.train), position.elapsed,
            position.elapsed * (1 - done) / done, rate, _speed(window), losses[0], losses[1], accuracies[0],
            accuracies[1], run.asked() if due else None, run.snapshot())
        run.write_down(asdict(progress))
        if time.monotonic() - saved >= save_seconds:
            run.save()
            saved = time.monotonic()
        try:
            yield progress
        except GeneratorExit:
            run.save()
            raise
    run.save()
    run.finish()
    yield replace(progress, stage="done")


def _speed(window: deque[tuple[float, int]]) -> float:
    """Wordpieces a second over the last steps, padding not counted."""
    (first, few), (last, many) = window[0], window[-1]
    return (many - few) / max(1e-9, last - first)
