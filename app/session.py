"""What all readers share, in caches bounded in bytes, and the inputs that stand in the address."""

import gc
import hashlib
import os
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import streamlit as st
import torch

import model
from app import folders, jobs, limits, ownership
from app.browser import handout as handout_file
from app.browser import rounding
from app.byte_cache import ByteCache
from app.samples.pairs import DEFAULT_A, DEFAULT_B
from model import Bert, CheckpointError, CheckpointInfo, Edits, InputError, Trace, checkpoint, finetuning
from model.pretraining import corpus
from probes import bundled, heads, lessons, nextsentence, training_replay
from probes.finetuning.results import FinetuningResult
from probes.heads import ablation
from probes.nextsentence import evidence
from probes.probing import experiment, results, splits, treebank
from probes.reader.sense_examples import sense_examples as sense_examples_of
from probes.states import corpus_index, neighbours
from probes.states import token_contexts as contexts

T = TypeVar("T")

READING = "Reading the pair again and again …"
DEFAULT_MODEL = "english"
CHOSEN = ("model", "left", "right", "run")  # inputs that name a model
OFFERED = "models offered"  # in the session: what the folders held when this run of the page began

# every model goes by its fingerprint here: a name can mean other weights tomorrow
MODELS = ByteCache(limits.MODELS_MEGABYTES, limits.MODELS_LEAST)
TRACES = ByteCache(limits.TRACES_MEGABYTES)
STATES = ByteCache(limits.STATES_MEGABYTES, min_entries=1)
DATASETS = ByteCache(limits.DATASETS_MEGABYTES, min_entries=1)
ANSWERS = ByteCache(limits.ANSWERS_MEGABYTES)
HANDOUTS = ByteCache(limits.HANDOUTS_MEGABYTES, min_entries=1)
_SNAPSHOTS: dict[str, Path] = {}  # Hub name -> its folder in the local cache, looked up once


def models_folder() -> Path:
    """Where the checkpoints of the reader are: BERTSCOPE_MODELS, or `checkpoints/`, see app/folders.py."""
    return Path(os.environ.get("BERTSCOPE_MODELS") or folders.HOME / "checkpoints").absolute()


def find_models() -> None:
    """Look what the folders hold, once for a run of a page: a model made in another browser only where a link names it."""
    named = {str(value).split("~")[0] for value in [*st.query_params.to_dict().values(), *map(st.session_state.get, CHOSEN)]}
    st.session_state[OFFERED] = [
        info
        for info in model.available([models_folder()])
        if info.name in named or ownership.model_owner(info.path) in ("", ownership.mark())
    ]


def models() -> list[CheckpointInfo]:
    """The shipped checkpoints and those in the models folder; one called like a shipped one has its folder behind it."""
    return st.session_state.get(OFFERED) or model.available([models_folder()])


def hub() -> bool:
    """Whether models may be loaded by their Hugging Face name."""
    return bool(os.environ.get("BERTSCOPE_HUB"))


def offered(name: str) -> bool:
    """Whether a model of this name can be chosen: one in the list, or a Hub name where those are allowed."""
    return any(info.name == name for info in models()) or (hub() and checkpoint.HUB_NAME.fullmatch(name) is not None)


def folder(name: str) -> Path:
    """Where a model that can be chosen is loaded from; of the Hub, its folder in the local cache."""
    path = next((info.path for info in models() if info.name == name), None)
    if path is not None:
        return path
    # the name may come from the address, that is from anybody: it must not reach into the folders of this machine
    if not offered(name):
        raise CheckpointError(
            f"There is no model called {name} here. There are: {', '.join(info.name for info in models())}."
        )
    if name not in _SNAPSHOTS or not _SNAPSHOTS[name].is_dir():
        _SNAPSHOTS[name] = _spinning(f"Looking for {name} on the Hub …", lambda: checkpoint.snapshot(name))()
    return _SNAPSHOTS[name]


def local_folder(name: str) -> Path | None:
    """Where a model is that needs no fetching: one that is offered, or one that a reader had from the Hub."""
    path = next((info.path for info in model.available([models_folder()]) if info.name == name), None)
    return path or _SNAPSHOTS.get(name)


def handout(path: Path) -> handout_file.CompressedHandout:
    """A model as one HTML file, made once for all readers until the model or a lesson is another."""

    def build() -> handout_file.CompressedHandout:
        chosen = MODELS.get(checkpoint.fingerprint(path), lambda: model.load(path))
        return handout_file.build(chosen, lesson_list()[0], rounding.cost(chosen, limits.ROUNDING_MASKS)).compressed()

    return HANDOUTS.get(_handout_key(path), build)


def has_handout(path: Path) -> bool:
    """Whether `handout` answers at once."""
    return _handout_key(path) in HANDOUTS


def _handout_key(path: Path) -> tuple[Hashable, ...]:
    lessons_written = tuple((str(file), file.stat().st_mtime_ns) for file in _lesson_files().values())
    return checkpoint.fingerprint(path), lessons_written


def load(source: str | Path) -> Bert:
    """A model by the name it is offered under, or by its folder; loaded once and shared by all readers."""
    path = next((info.path for info in models() if info.name == source), Path(source))
    return MODELS.get(checkpoint.fingerprint(path), _spinning("Loading the model …", lambda: model.load(path)))


def named(name: str) -> Bert:
    """A model by a name that anybody may have written: only one that can be chosen."""
    return load(folder(name))


def random_init_copy(chosen: Bert, seed: int = 0) -> Bert:
    """The same architecture with random weights."""
    return MODELS.get((chosen.info.fingerprint, "random", seed), lambda: chosen.random_init_copy(seed))


def finetuned(path: Path) -> finetuning.FinetunedBert:
    """A fine-tuned checkpoint with its output layer, loaded once and shared by all readers."""
    return MODELS.get(
        (checkpoint.fingerprint(path), "output layer"),
        _spinning("Loading the fine-tuned model …", lambda: finetuning.load(path)),
    )


def warm_up() -> None:
    """Load and read what the first page shows, before the first reader comes."""
    # readers are the parallelism: with two threads each, twelve readers cost half as much processor again per action
    torch.set_num_threads(1)
    path = checkpoint.BUNDLED / DEFAULT_MODEL
    trace_of(MODELS.get(checkpoint.fingerprint(path), lambda: model.load(path)), DEFAULT_A, DEFAULT_B)
    # what is imported by now is never freed, and looking through it again and again delays the pages
    gc.collect()
    gc.freeze()


def answer(chosen: Bert, question: str, arguments: tuple[Hashable, ...], compute: Callable[[], T]) -> T:
    """What a model answers to a question about these arguments, computed once; all readers see the same one."""
    return ANSWERS.get((chosen.info.fingerprint, question, arguments), compute)


def _spinning(message: str, compute: Callable[[], T]) -> Callable[[], T]:
    """The same, with a sign on the page that something is being done."""

    def compute_with_spinner() -> T:
        with st.spinner(message):
            return compute()

    return compute_with_spinner


def training_history(run: Path) -> pd.DataFrame:
    """The log of a run, read once for all readers until it is written again."""
    return _of_history(run, training_replay.history)


def training_snapshots(run: Path) -> list[training_replay.Snapshot]:
    """The snapshots of a run, looked for again when its log has grown."""
    return _of_history(run, training_replay.snapshots)


def _of_history(run: Path, read: Callable[[Path], T]) -> T:
    try:
        written = (run / "history.csv").stat()
    except OSError:
        return read(run)
    return ANSWERS.get((str(run), read.__name__, written.st_mtime_ns, written.st_size), lambda: read(run))


def snapshot_prediction(path: Path, text: str) -> training_replay.SnapshotPrediction:
    """What a snapshot of a training says about a text; the snapshot itself does not stay in memory."""
    return ANSWERS.get(
        (checkpoint.fingerprint(path), "replay", text),
        _spinning("Asking the snapshots …", lambda: training_replay.predict(path, text)),
    )


def dataset(name: str, content: bytes | None) -> treebank.Treebank:
    """The sentences of an uploaded file, or those of this name that come with the project."""
    if content is None:
        return DATASETS.get(name, _spinning("Reading the sentences …", experiment.BUNDLED_DATA[name]))
    return DATASETS.get(
        (name, hashlib.sha256(content).digest()),
        _spinning("Reading the sentences …", lambda: treebank.parse(corpus.decode_utf8(content, name), name)),
    )


def sense_examples() -> dict[str, dict[str, list[str]]]:
    """Ambiguous words of the reader, their senses and sentences."""
    return DATASETS.get("senses", lambda: sense_examples_of(dataset(experiment.READER, None).sentences))


def datasets(files: tuple[tuple[str, str, bytes], ...]) -> tuple[treebank.Treebank, int]:
    """Uploaded files as one data set, (split, name, content) each; and how many sentences stand in two of them."""

    def read() -> tuple[treebank.Treebank, int]:
        parts = [(split, treebank.parse(corpus.decode_utf8(content, name), name)) for split, name, content in files]
        joined = treebank.join(", ".join(name for _, name, _ in files), parts)
        return joined, splits.count_shared(joined.sentences)

    key = tuple((split, name, hashlib.sha256(content).digest()) for split, name, content in files)
    return DATASETS.get(key, _spinning("Reading the sentences …", read))


def file_content(path: Path, read: Callable[[Path], T]) -> T | None:
    """What a result file holds, read once for all readers until it is written again; None where there is no file."""

    def content() -> T:
        written = path.stat()
        return ANSWERS.get((str(path), written.st_mtime_ns, written.st_size), lambda: read(path))

    return jobs.patiently(content)


def probing_results() -> dict[str, results.ProbingResult]:
    """The probing experiments that come with the project, by slug: something true to show before the first order."""
    return ANSWERS.get("bundled probing results", bundled.probing)


def finetuning_results() -> dict[str, FinetuningResult]:
    """The fine-tunings that come with the project, for the same reason."""
    return ANSWERS.get("bundled fine-tuning", bundled.finetuning)


def _lesson_files() -> dict[str, Path]:
    """The lessons that come with the project and those of the teacher's folder, by their names."""
    own = Path(os.environ.get("BERTSCOPE_LESSONS") or folders.HOME / "lessons")
    return {file.stem: file for folder in (Path(__file__).parent / "lessons", own) for file in sorted(folder.glob("*.toml"))}


def lesson_list() -> tuple[dict[str, lessons.Lesson], list[str]]:
    """Every lesson that can be read, and a sentence for each that cannot."""
    readable: dict[str, lessons.Lesson] = {}
    unreadable: list[str] = []
    for name, file in _lesson_files().items():
        try:
            readable[name] = lessons.load(file)
        except InputError as error:
            unreadable.append(str(error))
    return readable, unreadable


def lesson_file(name: str) -> str:
    """The text of a lesson, to write another by."""
    return _lesson_files()[name].read_text(encoding="utf-8")


def lesson_answer(question: lessons.QuizItem) -> lessons.QuizAnswer:
    """What the current model says to a question of a lesson."""
    chosen = bert()
    return answer(chosen, "lesson", (repr(question),), lambda: lessons.answer(chosen, question))


def bert() -> Bert:
    """The model chosen above the page: one that is offered, or a Hub name where those are allowed."""
    return named(_chosen())


def checkpoint_path() -> str:
    """What `model.load` takes in another process or in copied code: the name of a shipped model, the folder of another."""
    path = folder(_chosen())
    return path.name if path.parent == checkpoint.BUNDLED else str(path)


def model_modified() -> float:
    """When the current model was last written: results from before that are about another model."""
    return checkpoint.modified_at(folder(_chosen()))


def _chosen() -> str:
    return st.session_state.get("model") or DEFAULT_MODEL


def texts() -> tuple[str, str | None]:
    """Sentence A and, where there is one, sentence B."""
    b = st.session_state.get("b", DEFAULT_B)
    return st.session_state.get("a", DEFAULT_A), b if b and b.strip() else None


def pair() -> tuple[str, str]:
    """Sentence A and sentence B, which may be empty."""
    a, b = texts()
    return a, b or ""


def nsp_evidence(chosen: Bert, a: str, b: str) -> evidence.NSPEvidence:
    """Everything the answer about a pair rests on, with a bar that says how far it is."""

    def compute() -> evidence.NSPEvidence:
        bar = st.progress(0.0, READING)
        steps = evidence.compute(chosen, nextsentence.encode_pair(chosen, a, b))
        while not isinstance(step := next(steps), evidence.NSPEvidence):
            bar.progress(min(1.0, step), READING)
        bar.empty()
        return step

    return answer(chosen, "nsp evidence", (a, b), compute)


def trace() -> Trace:
    """The current texts through the current model."""
    return trace_of(bert(), *texts())


def trace_of(chosen: Bert, a: str, b: str | None, heads_off: Iterable[tuple[int, int]] = ()) -> Trace:
    """Any texts through any loaded model, with all its heads or without some."""
    off = frozenset(heads_off)
    return TRACES.get(
        (chosen.info.fingerprint, a, b, off), lambda: chosen.trace(a, b, Edits(heads_off=off) if off else None)
    )


def head_summary(chosen: Bert, trace: Trace) -> pd.DataFrame:
    """What every head does on an input, `heads.summary`, computed once."""
    return answer(chosen, "summary", (trace.encoding, trace.gates.tobytes()), lambda: heads.summary(trace))


def head_effects(chosen: Bert, target: ablation.AblationTarget) -> np.ndarray:
    """What log P of a prediction loses without each head alone: (layers, heads)."""
    return answer(chosen, "ablation", (target,), lambda: ablation.effects(chosen, target))


def head_map(chosen: Bert, trace: Trace) -> tuple[heads.Divergence, np.ndarray]:
    """How far the heads lie apart on an input, and their places on a map: (layers × heads, 2)."""

    def compute() -> tuple[heads.Divergence, np.ndarray]:
        divergence = heads.js_divergence(trace.attention)
        return divergence, heads.classical_mds(divergence.bits)

    return answer(chosen, "map", (trace.encoding, trace.gates.tobytes()), compute)


def token_contexts(sentences: tuple[str, ...]) -> contexts.TokenContexts:
    """Every token of some sentences at every layer of the current model."""
    chosen = bert()
    return STATES.get(
        (chosen.info.fingerprint, "contexts", sentences),
        _spinning("Reading the text …", lambda: contexts.collect(chosen, sentences)),
    )


def index(folder: Path, layer: int) -> neighbours.NeighbourIndex:
    """One layer of a corpus that was indexed."""
    return STATES.get(
        (str(folder), "index", layer), _spinning("Opening the index …", lambda: corpus_index.load(folder, layer))
    )
