"""Pre-training as a generator: `for progress in pretrain(texts, folder, recipe)` serves terminal, page and test."""

import json
import math
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch

from .. import checkpoint, tokenizer
from ..bert import About, Bert
from ..errors import InputProblem, Problem
from ..tokenizer import WordPiece
from . import corpus, distributed, resume, token_store
from .initialisation import quickened
from .keep_apart import keep_apart
from .mixture import Mixture
from .objective import Scores, task
from .run_folder import PLATEAU, STATE, Run, finished
from .settings import Recipe
from .single_inputs import LENGTHS, Single

SAVE_SECONDS = 240.0
VOCABULARY_TEXT = 200_000_000  # characters that a vocabulary is learned from


@dataclass(frozen=True)
class Progress:
    """Where a run is; `asdict` of it is plain numbers and words.

    stage is reading, vocabulary, training or done. Losses and accuracies are those of the step, on training data, those
    of pairs None on steps of single inputs; `held` is there on the steps after which the held-out documents were asked,
    over all of them, and `held_by_corpus` apart; `snapshot` where one was kept (inside `out`).
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
    held_by_corpus: dict[str, Scores] = field(default_factory=dict)
    snapshot: str | None = None


def pretrain(documents: corpus.Source | None, out: str | Path, recipe: Recipe | None = None, again: bool = False,
             save_seconds: float = SAVE_SECONDS, apart: corpus.Source = ()) -> Iterator[Progress]:
    """Train a BERT on documents and leave it in the folder `out`, a checkpoint that `model.load` reads.

    `documents` is a file, a folder, a list of paths, a list of texts or of lists of sentences, or a folder that an
    earlier run cut into ids. Where the recipe has weights, it is a list of as many of these, a corpus each. `apart` are
    documents that training must not have seen, beside those held out, where the recipe keeps them apart. `again` goes on
    with the run that broke off in `out`, or begins it; recipe and documents may then be left out. A run of constant rate
    goes on for as long as a recipe says that differs in nothing else. Closing the generator saves first.
    Devlin et al. (2019), 3.1.
    """
    folder = Path(out)
    if isinstance(documents, Sequence) and len(documents) == 1 and isinstance(documents[0], Path):
        documents = documents[0]
    recipe = _agreed_recipe(documents, folder, recipe, again)
    if distributed.agreed(finished(folder)):
        yield Progress("done", 1.0)
        return
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    sources = _sources(documents, recipe)
    ids = [_cut_before(source) or folder / "corpus" / str(number) if recipe.weights else
           _cut_before(source) or folder / "corpus" for number, source in enumerate(sources)]
    with resume.reporting_full_disk(folder):
        yield from _prepared(sources, folder, ids, recipe, apart)
        yield from _trained(Run(folder, recipe, ids, _names(folder, recipe)), save_seconds)


def _sources(documents: corpus.Source | None, recipe: Recipe) -> "list[corpus.Source | None]":
    """A source for each corpus of the recipe; None where it must be in the folder of the run."""
    if not recipe.weights:
        return [documents]
    if documents is None:
        return [None] * len(recipe.weights)
    if isinstance(documents, str | Path) or len(documents) != len(recipe.weights):
        raise InputProblem(f"There are {len(recipe.weights)} weights: name as many corpora.")
    return list(documents)


def _names(folder: Path, recipe: Recipe) -> list[str]:
    """What the corpora of a run are called, each by its own name."""
    names = json.loads((folder / "recipe.json").read_text(encoding="utf-8")).get("corpora") or ["all"]
    return [name if names.count(name) == 1 else f"{name} {number}" for number, name in enumerate(names, 1)]


def _agreed_recipe(documents: corpus.Source | None, folder: Path, recipe: Recipe | None, again: bool) -> Recipe:
    """The first process looks at the folder and decides for all."""
    settled: Recipe | Problem
    try:
        settled = _settled(documents, folder, recipe, again) if distributed.rank() == 0 else InputProblem()
    except Problem as problem:
        settled = problem
    settled = distributed.agreed(settled)
    if isinstance(settled, Problem):
        raise settled
    if settled.batch % distributed.size():
        raise InputProblem(f"A batch of {settled.batch} cannot be shared out to {distributed.size()} processes.")
    return settled


def _settled(documents: corpus.Source | None, folder: Path, recipe: Recipe | None, again: bool) -> Recipe:
    """The recipe of the run in this folder: the one written there, which a given one must agree with."""
    written = folder / "recipe.json"
    if not written.is_file():
        if recipe is None:
            raise InputProblem(f"There is no run in {folder} to go on with.")
        if folder.exists() and any(folder.iterdir()):
            raise InputProblem(f"{folder} holds other things already; name a new folder to train into.")
        learned_from, names = [], []
        for source in _sources(documents, recipe):
            ids = _cut_before(source)
            learned_from += [str(ids.name)] if ids else corpus.described(_need(source, folder))
            names.append(Path(source).name.split(".")[0] if isinstance(source, str | Path) else "texts")
        with resume.reporting_full_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with resume.writing(written) as made:
                recipe.write(made, learned_from=learned_from, corpora=names if recipe.weights else [])
        return recipe
    if not again:
        raise InputProblem(f"{folder} holds a run already; resume it, or name another folder.")
    there = Recipe.read(written)
    if recipe is None or recipe == there:
        return there
    longer = there.prolonged(recipe)
    if longer is None:
        raise InputProblem(f"The run in {folder} was begun with other settings; resume it without naming any, or "
                           "name another folder.")
    _prolong(folder, longer)
    return longer


def _prolong(folder: Path, recipe: Recipe) -> None:
    """Write down how long the run is now; one that had come to its decay, or to its end, goes on from its plateau."""
    if (folder / PLATEAU).is_file():
        (folder / PLATEAU).replace(folder / STATE)
    written = folder / "recipe.json"
    more = json.loads(written.read_text(encoding="utf-8"))
    with resume.writing(written) as made:
        recipe.write(made, learned_from=more["learned_from"], corpora=more["corpora"])
    if finished(folder):
        if not (folder / STATE).is_file():
            raise InputProblem(f"{folder} no longer holds the state before the decay, {PLATEAU}: the run cannot go on.")
        checkpoint.save(checkpoint.load(folder), folder / "begin")
        (folder / "config.json").unlink()


def _prepared(sources: "list[corpus.Source | None]", folder: Path, ids: list[Path], recipe: Recipe, apart: corpus.Source
              ) -> Iterator[Progress]:
    """The model as it begins, in `begin`, and the documents as ids."""
    begin = folder / "begin"
    if distributed.first_here() and not begin.is_dir():
        yield Progress("reading")
        bert = yield from _beginning(sources, folder, recipe)
        checkpoint.save(bert, begin)
    if distributed.first_here():
        pieces, read = tokenizer.read(begin), 0
        for source, place in zip(sources, ids, strict=True):
            count = 0
            if not token_store.complete(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                for count in token_store.build(corpus.documents(_need(source, folder)), pieces, place, recipe.hold_out):
                    yield Progress("reading", documents=read + count)
            read += count
        report = folder / "corpus" / "keep-apart.json"
        if recipe.keep_apart and not report.is_file():
            if any(folder not in place.parents for place in ids):
                raise InputProblem("Held-out text is kept apart when a corpus is cut into ids; name the texts themselves.")
            yield Progress("reading", documents=read)
            counts = keep_apart(ids, pieces, corpus.documents(apart))
            with resume.writing(report) as made:
                made.write_text(json.dumps(counts) + "\n", encoding="utf-8")
    distributed.wait()


def _cut_before(documents: corpus.Source | None) -> Path | None:
    """The folder of ids that the documents stand for, if they are one."""
    found = isinstance(documents, str | Path) and token_store.complete(Path(documents))
    return Path(documents) if found else None


def _need(documents: corpus.Source | None, folder: Path) -> corpus.Source:
    if documents is None:
        raise InputProblem(f"The texts of the run in {folder} are not all in it: name them again.")
    return documents


def _beginning(sources: "list[corpus.Source | None]", folder: Path, recipe: Recipe) -> Generator[Progress, None, Bert]:
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
            pieces = yield from _vocabulary([_need(source, folder) for source in sources], recipe)
        bert = Bert.random(recipe.shape(pieces.size), pieces, recipe.seed)
        if recipe.quick:
            quickened(bert, recipe.seed)
    if recipe.length > bert.config.max_position_embeddings:
        raise InputProblem(f"This model reads at most {bert.config.max_position_embeddings} wordpieces at once.")
    return bert


def _vocabulary(sources: list[corpus.Source], recipe: Recipe) -> Generator[Progress, None, WordPiece]:
    """Learned from the beginning of the texts; read twice, so that the same texts give the same vocabulary."""
    def first() -> Iterator[list[str]]:
        seen = 0
        for document in (document for source in sources for document in corpus.documents(source)):
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
    share = slice(distributed.rank(), None, distributed.size())
    saved, began = time.monotonic(), time.monotonic() - position.elapsed
    window = deque([(position.elapsed, position.tokens)], maxlen=50)
    progress = Progress("training", recipe.done(position.step, position.elapsed), position.step, position.tokens,
                        run.documents, position.elapsed)
    if position.step == 0:
        held = run.held_out()
        progress = replace(progress, held=_mean(held), held_by_corpus=held, snapshot=run.snapshot())
        run.write_down(asdict(progress))
        yield progress
    mixture = Mixture(run.corpora, recipe.length, recipe.batch, recipe.negatives, recipe.singles, recipe.seed)
    # in bfloat16 torch compiles a product for each shape: a few lengths are enough
    lengths = [recipe.length * part // 8 for part in range(1, 9)] + [recipe.length]
    for inputs in mixture.batches(position.step):
        before = progress.fraction
        if before >= 1:
            break
        if recipe.decays(position.step, position.elapsed):
            run.keep_plateau()
        rate = recipe.learning_rate(position.step, position.elapsed)
        generator = np.random.default_rng([recipe.seed, 3, position.step])
        with torch.random.fork_rng():
            torch.manual_seed(recipe.seed + position.step * distributed.size() + distributed.rank())  # for dropout
            few = () if recipe.precision == "float32" else LENGTHS if isinstance(inputs[0], Single) else lengths
            losses, accuracies = run.learn(task(inputs, pieces, recipe.mix, generator, share, few), rate)
        position.step += 1
        position.tokens += sum(map(len, inputs))
        position.elapsed = distributed.agreed(time.monotonic() - began)
        window.append((position.elapsed, position.tokens))
        done = recipe.done(position.step, position.elapsed)
        due = int(done * recipe.evaluations) > int(before * recipe.evaluations) or done >= 1
        held = run.held_out() if due else {}
        progress = Progress(
            "training", done, position.step, position.tokens, run.documents, position.elapsed,
            position.elapsed * (1 - done) / done, rate, _speed(window), losses[0], losses[1], accuracies[0],
            accuracies[1], _mean(held), held, run.snapshot())
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
    if recipe.schedule == "constant":
        run.keep_plateau()
    run.finish()
    yield replace(progress, stage="done")


def _mean(held: dict[str, Scores]) -> Scores | None:
    """The scores over all pairs, or over all single inputs where there are no pairs."""
    parts = [scores for scores in held.values() if scores.pairs] or list(held.values())
    if not parts:
        return None
    words, pairs = sum(part.words for part in parts), sum(part.pairs for part in parts)

    def mean(name: str, size: str) -> float:
        total = sum(getattr(part, size) for part in parts)
        return sum(getattr(part, name) * getattr(part, size) for part in parts) / total if total else math.nan

    return Scores(mean("mlm_loss", "words"), mean("mlm_accuracy", "words"), mean("nsp_loss", "pairs"),
                  mean("nsp_accuracy", "pairs"), words, pairs)


def _speed(window: deque[tuple[float, int]]) -> float:
    """Wordpieces a second over the last steps, padding not counted."""
    (first, few), (last, many) = window[0], window[-1]
    return (many - few) / max(1e-9, last - first)
