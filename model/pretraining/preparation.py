"""Before the first step: the config of the run folder, the corpora as ids, and the initial model."""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import checkpoint, files, tokenizer
from ..bert import Bert, ModelInfo
from ..errors import BertscopeError, InputError
from ..files import atomic_write, explain_full_disk
from ..tokenizer import WordPiece
from . import corpus, distributed, token_store
from .initialisation import mimetic
from .keep_apart import keep_apart
from .run_folder import CONFIG, PLATEAU, STATE, finished
from .settings import RunConfig, TrainingConfig

VOCABULARY_TEXT = 200_000_000  # characters that a vocabulary is learned from

Report = tuple[str, int]  # stage: reading or vocabulary; documents read so far


def agree_on_config(documents: corpus.Source | None, folder: Path, config: TrainingConfig | None, resume: bool) -> RunConfig:
    """The config of the run in this folder; the first process reads or writes it for all."""
    agreed: RunConfig | BertscopeError
    try:
        agreed = _load_or_write_config(documents, folder, config, resume) if distributed.rank() == 0 else InputError()
    except BertscopeError as error:
        agreed = error
    agreed = distributed.broadcast_object(agreed)
    if isinstance(agreed, BertscopeError):
        raise agreed
    batch_size, processes = agreed.training.batch_size, distributed.world_size()
    if batch_size % processes:
        raise InputError(f"A batch of {batch_size} cannot be divided among {processes} processes.")
    return agreed


def _load_or_write_config(
    documents: corpus.Source | None, folder: Path, config: TrainingConfig | None, resume: bool
) -> RunConfig:
    """The config in the folder, which the caller's must agree with; written now where the folder is new."""
    path = folder / CONFIG
    if not path.is_file():
        if config is None:
            raise InputError(f"There is no run in {folder} to go on with.")
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} holds other things already; name a new folder to train into.")
        run_config = _describe(documents, folder, config)
        with explain_full_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as temporary:
                run_config.write(temporary)
        return run_config
    if not resume:
        raise InputError(f"{folder} holds a run already; resume it, or name another folder.")
    run_config = RunConfig.read(path)
    if config is None or config == run_config.training:
        return run_config
    prolonged = run_config.training.prolonged(config)
    if prolonged is None:
        raise InputError(
            f"The run in {folder} was begun with other settings; resume it without naming any, or name another folder."
        )
    run_config = replace(run_config, training=prolonged)
    _prolong(folder, run_config)
    return run_config


def _describe(documents: corpus.Source | None, folder: Path, config: TrainingConfig) -> RunConfig:
    """The config with the names of what the run learns from."""
    learned_from, names = [], []
    for source in _sources(documents, config):
        ids = _existing_ids(source)
        learned_from += [ids.name] if ids else corpus.describe(_require(source, folder))
        names.append(Path(source).name.split(".")[0] if isinstance(source, str | Path) else "texts")
    return RunConfig(config, tuple(learned_from), tuple(names) if config.weights else ())


def _prolong(folder: Path, run_config: RunConfig) -> None:
    """Write down how long the run is now; one that had come to its decay, or to its end, goes on from its plateau."""
    if (folder / PLATEAU).is_file():
        files.replace(folder / PLATEAU, folder / STATE)
    with atomic_write(folder / CONFIG) as temporary:
        run_config.write(temporary)
    if finished(folder):
        if not (folder / STATE).is_file():
            raise InputError(f"{folder} no longer holds the state before the decay, {PLATEAU}: the run cannot go on.")
        checkpoint.save(checkpoint.load(folder), folder / "begin")
        (folder / "config.json").unlink()


@dataclass(frozen=True)
class CorpusSource:
    """One corpus of a run: its name, its texts (None where they must be in the run folder), and the folder of its ids."""

    name: str
    texts: corpus.Source | None
    folder: Path


def corpora(documents: corpus.Source | None, folder: Path, run_config: RunConfig) -> list[CorpusSource]:
    """The corpora of a run, each under its own name."""
    sources, names = _sources(documents, run_config.training), run_config.corpora or ("all",)
    several = bool(run_config.corpora)
    folders = [folder / "corpus" / str(number) if several else folder / "corpus" for number in range(len(sources))]
    return [
        CorpusSource(
            name=name if names.count(name) == 1 else f"{name} {number}",
            texts=source,
            folder=_existing_ids(source) or ids,
        )
        for number, (name, source, ids) in enumerate(zip(names, sources, folders, strict=True), 1)
    ]


def _sources(documents: corpus.Source | None, config: TrainingConfig) -> "list[corpus.Source | None]":
    """The texts of each corpus of the config; None where they must be in the run folder."""
    if not config.weights:
        return [documents]
    if documents is None:
        return [None] * len(config.weights)
    if isinstance(documents, str | Path) or len(documents) != len(config.weights):
        count = 1 if isinstance(documents, str | Path) else len(documents)
        raise InputError(f"There are {len(config.weights)} weights for {count} corpora; name as many corpora as weights.")
    return list(documents)


def _existing_ids(source: corpus.Source | None) -> Path | None:
    """The folder of ids that a source is, if it is one."""
    return Path(source) if isinstance(source, str | Path) and token_store.is_complete(Path(source)) else None


def _require(source: corpus.Source | None, folder: Path) -> corpus.Source:
    if source is None:
        raise InputError(f"The texts of the run in {folder} are not all in it: name them again.")
    return source


def prepare(corpora: Sequence[CorpusSource], folder: Path, config: TrainingConfig, apart: corpus.Source) -> Iterator[Report]:
    """The initial model in `begin`, and every corpus as ids; the first process of each machine does it."""
    begin = folder / "begin"
    if distributed.is_local_main() and not begin.is_dir():
        yield "reading", 0
        bert = yield from _initial_model(corpora, folder, config)
        checkpoint.save(bert, begin)
    if distributed.is_local_main():
        pieces, documents = tokenizer.load(begin), 0
        for source in corpora:
            count = 0
            if not token_store.is_complete(source.folder):
                source.folder.parent.mkdir(parents=True, exist_ok=True)
                texts = corpus.documents(_require(source.texts, folder))
                for count in token_store.build(texts, pieces, source.folder, config.heldout_every):
                    yield "reading", documents + count
            documents += count
        report = folder / "corpus" / "keep-apart.json"
        if config.keep_apart and not report.is_file():
            if any(folder not in source.folder.parents for source in corpora):
                raise InputError("Held-out text is kept apart when a corpus is cut into ids; name the texts themselves.")
            yield "reading", documents
            counts = keep_apart([source.folder for source in corpora], pieces, corpus.documents(apart))
            files.write_text(report, json.dumps(counts) + "\n")
    distributed.barrier()


def _initial_model(corpora: Sequence[CorpusSource], folder: Path, config: TrainingConfig) -> Generator[Report, None, Bert]:
    """The model before the first step: a checkpoint with both heads, or random weights over a vocabulary."""
    if config.init:
        bert = checkpoint.load(config.init)
        random_init = Bert.random_init(bert.config, bert.tokenizer, config.seed)
        bert.mlm, bert.nsp = bert.mlm or random_init.mlm, bert.nsp or random_init.nsp
        dropout = {"hidden_dropout_prob": config.dropout, "attention_probs_dropout_prob": config.dropout}
        bert.config = replace(bert.config, **dropout)
        bert.info = ModelInfo()
    else:
        if config.tokenizer:
            pieces = checkpoint.load(config.tokenizer).tokenizer
        else:
            pieces = yield from _vocabulary([_require(source.texts, folder) for source in corpora], config)
        bert = Bert.random_init(config.bert_config(pieces.vocab_size), pieces, config.seed)
        if config.mimetic_init:
            mimetic(bert, config.seed)
    if config.max_length > bert.config.max_position_embeddings:
        raise InputError(f"This model reads at most {bert.config.max_position_embeddings} wordpieces at once.")
    return bert


def _vocabulary(sources: Sequence[corpus.Source], config: TrainingConfig) -> Generator[Report, None, WordPiece]:
    """Learned from the beginning of the texts; read twice, so that the same texts give the same vocabulary."""

    def first_documents() -> Iterator[list[str]]:
        characters = 0
        for document in (document for source in sources for document in corpus.documents(source)):
            yield document
            characters += sum(map(len, document))
            if characters > VOCABULARY_TEXT:
                return

    alphabet: set[str] = set()
    for count, document in enumerate(first_documents(), 1):
        alphabet.update(*document)
        if count % 100 == 0:
            yield "reading", count
    yield "vocabulary", 0
    sentences = (sentence for document in first_documents() for sentence in document)
    return tokenizer.train(sentences, config.vocab_size, characters=alphabet)
